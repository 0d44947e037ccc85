#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-jct.sh - completion times under the protocols of Muri and Pollux beside the published ones.
# Exits 1 when a bar does not hold.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

for trace in trace1 trace3; do
    sim $trace --cluster data/muri/cluster_n8g8.csv --trace data/muri/$trace.csv --protocol muri \
        --order srtf,srsf,tiresias,gittins
done
for load in 0.5 1.0; do
    for workload in 1 2 3 4 5 6 7 8; do
        sim pollux-$load-$workload --cluster 16x4 --protocol pollux \
            --trace data/pollux/workloads.csv:$load/$workload --order tiresias,gittins
    done
done
run_sims
python3 scripts/bench_jct.py "$out"
