#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-queues.sh - the virtual clusters of the Philly trace as queues of one pool, beside the same nodes cut into parts. Exits 1
# when a bar does not hold.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

jobs=data/philly/philly_jobs.csv.gz share=25 seeds=1-5
common=(--trace "$jobs" --policy bestfit --order gittins --jitter 3s --seeds "$seeds" --queues)

python3 scripts/philly_queues.py $share >"$out/queues.yaml"
nodes=$(python3 scripts/philly_queues.py $share --count)
"$berth" sim --cluster "${nodes}x8" --config "$out/queues.yaml" "${common[@]}" >"$out/pooled.csv" </dev/null &
"$berth" sim --partition data/philly/helios_philly_vc_nodes.csv --partition-share $share "${common[@]}" \
    >"$out/cut.csv" </dev/null
wait $!
python3 scripts/bench_queues.py "$out" "$nodes"
