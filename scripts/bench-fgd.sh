#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-fgd.sh - the nine openb traces under the six published policies, beside the published results,
# and under berth, which knows nothing beforehand. Ten seeds. Exits 1 when a bar does not hold.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

for trace in default cpu050 cpu200 gpushare40 gpushare80 gpuspec10 gpuspec25 multigpu20 multigpu40; do
    for policy in random dotprod clustering packing bestfit fgd berth; do
        mix=learned
        [ $policy != fgd ] || mix=trace
        sim $trace-$policy --cluster $openb --trace $specs:$trace --policy $policy --mix $mix \
            --seeds 42-51
    done
done
run_sims
python3 scripts/bench_fgd.py "$out"
