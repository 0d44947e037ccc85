#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh - the openb trace under three placement policies beside the published numbers, then a week
# of Philly under three queue orders. Under a minute.
set -euo pipefail
# shellcheck source=scripts/sims.sh
. "$(dirname "$0")/sims.sh"

seeds=42-44
pods=data/fgd/openb_pod_list_default.csv
sim berth --cluster $openb --trace $pods --policy berth --seeds $seeds
sim fgd --cluster $openb --trace $pods --policy fgd --mix trace --seeds $seeds
sim bestfit --cluster $openb --trace $pods --policy bestfit --seeds $seeds

# A week of the trace, on fewer GPUs than it asks for, so that the order matters.
first=2017-10-09 after=2017-10-16 cluster=40x8
gzip -dc data/philly/philly_jobs.csv.gz |
    awk -F, -v first=$first -v after=$after 'NR == 1 || ($1 >= first && $1 < after)' \
        >"$out/philly_week.csv"
for order in fifo tiresias gittins; do
    sim "week-$order" --cluster $cluster --trace "$out/philly_week.csv" --order $order \
        --policy bestfit
done

run_sims
python3 scripts/demo.py "$out"
