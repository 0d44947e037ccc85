#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-backfill.sh - the Philly trace without preemption: first fit, and behind reservations.
# Exits 1 when a bar does not hold.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

jobs=data/philly/philly_jobs.csv.gz
for depth in 0 1; do
    for order in fifo predicted; do
        sim $order-$depth --cluster 72x8 --trace $jobs --policy bestfit --order $order --reservation-depth $depth
    done
done
run_sims
python3 scripts/bench_backfill.py "$out"
