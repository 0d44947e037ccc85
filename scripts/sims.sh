#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sims.sh - sourced by demo.sh and the benches: runs `berth sim` into a folder, two at a time.
#
# After sourcing, we are in the root of the repository; $out is a folder that goes when the script ends.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PYTHONDONTWRITEBYTECODE=1

berth=${BERTH:-build/berth}
command -v "$berth" >/dev/null || {
    echo "$0: no program '$berth': run make first, or set BERTH" >&2
    exit 1
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sims=()

# The cluster of the openb traces, and where these traces are.
# shellcheck disable=SC2034 # read by those who source this
openb=data/fgd/openb_node_list_gpu_node.csv specs=data/fgd/openb_pod_specs.csv

# sim NAME ARGUMENT... - notes a run of `berth sim ARGUMENT...`; its JSON will be $out/NAME.json.
sim() {
    sims+=("$(printf '%q ' "$@")")
}

# run_sim NAME ARGUMENT... - one noted run; silent unless it fails.
run_sim() {
    "$berth" sim "${@:2}" --json >"$out/$1.json" 2>"$out/$1.err" </dev/null || {
        echo "failed: berth sim ${*:2}"
        cat "$out/$1.err"
    } >&2
}

# run_sims - runs all that was noted, two at a time, counting on a terminal. A run that failed has
# said so and left no result, which whoever reads the results reports.
run_sims() {
    local i
    for ((i = 0; i < ${#sims[@]}; i++)); do
        [ "$i" -lt 2 ] || wait -n || true
        [ ! -t 2 ] || printf '\rrunning %d of %d' $((i + 1)) ${#sims[@]} >&2
        eval "run_sim ${sims[i]}" &
    done
    wait
    [ ! -t 2 ] || printf '\r%40s\r' '' >&2
    sims=()
}
