#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-philly.sh - the Philly trace on two pooled clusters and on its own partition, under all orders.
# Exits 1 when a bar does not hold.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

jobs=data/philly/philly_jobs.csv.gz
for order in gittins srsf srtf predicted tiresias las fifo-strict fifo; do
    sim partition-$order --partition data/philly/helios_philly_vc_nodes.csv --partition-share 25 \
        --trace $jobs --policy bestfit --order $order
    for cluster in 72x8 64x8; do
        sim $cluster-$order --cluster $cluster --trace $jobs --policy bestfit --order $order
    done
    sim free-$order --cluster 72x8 --trace $jobs --policy bestfit --order $order --restart-cost 0s
done
run_sims
python3 scripts/bench_philly.py "$out"
