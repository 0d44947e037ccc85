#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-steady.sh - a cluster where jobs come and go: berth, fgd and bestfit on the same arrivals, at
# four loads. Exits 1 when a bar does not hold.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

for trace in default gpushare40 gpuspec25 multigpu40; do
    for load in 90 95 100 110; do
        sim $trace-$load --cluster $openb --trace $specs:$trace --policy berth,fgd,bestfit \
            --steady $load --lifetimes 5 --seeds 42-44
    done
done
run_sims
python3 scripts/bench_steady.py "$out"
