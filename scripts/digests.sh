#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# digests.sh BERTH... - the same history must give the same digest from every build and from replay.
#
# Runs each line of tests/digest/cases.txt, the arguments of one `berth sim`, with each program and
# reports one TAP line a case: all programs, and a replay of the events that the first one recorded,
# end with the same digests. Two programs run at a time.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# digests_of FILE - the digest of each run in what `berth sim --json` printed.
digests_of() {
    python3 -c 'import json, sys
for run in json.load(open(sys.argv[1]))["runs"]:
    print(run["policy"], run["order"], run["seed"], run["digest"])' "$1" 2>/dev/null
}

# run_case ARGUMENT... - prints what differs, and nothing when all agree.
run_case() {
    local i=0 program want got
    for program in "${programs[@]}"; do
        "$program" sim "$@" --json >"$out/$i.json" 2>"$out/$i.err" &
        i=$((i + 1))
        [ $((i % 2)) = 0 ] && wait
    done
    wait
    want=$(digests_of "$out/0.json")
    [ -n "$want" ] || echo "no digest from ${programs[0]}: $(head -n 1 "$out/0.err")"
    for ((i = 1; i < ${#programs[@]}; i++)); do
        got=$(digests_of "$out/$i.json")
        [ "$want" = "$got" ] || echo "${programs[0]}: $want; ${programs[i]}: $got"
    done
}

# run_replay ARGUMENT... - the same for events recorded by the first program and replayed by it.
run_replay() {
    local want got
    "${programs[0]}" sim "$@" --json --events "$out/events" \
        >"$out/sim.json" 2>"$out/sim.err" </dev/null || {
        echo "cannot record: $(head -n 1 "$out/sim.err")"
        return
    }
    want=$(digests_of "$out/sim.json" | awk 'END { print $NF }')
    got=$("${programs[0]}" replay "$out/events" 2>&1 </dev/null | tail -n 1)
    [[ -n $want && $got == *"$want"* ]] || echo "recorded $want, replayed: $got"
}

[ $# -gt 0 ] || {
    echo "usage: digests.sh BERTH..." >&2
    exit 2
}
programs=("$@")
for program in "${programs[@]}"; do
    [ -x "$program" ] || {
        echo "digests.sh: $program: is not there; 'make test' builds all" >&2
        exit 2
    }
done
count=0
rc=0
while read -r kind arguments || [ -n "$kind" ]; do
    [[ -z $kind || $kind == \#* ]] && continue
    read -ra list <<<"$arguments"
    case $kind in
    case) found=$(run_case "${list[@]}") ;;
    replay) found=$(run_replay "${list[@]}") ;;
    *) found="'$kind' is neither case nor replay" ;;
    esac
    count=$((count + 1))
    if [ -z "$found" ]; then
        echo "ok $count - $kind $arguments"
    else
        echo "not ok $count - $kind $arguments"
        while read -r line; do echo "# $line"; done <<<"$found"
        rc=1
    fi
done <tests/digest/cases.txt
if [ $count = 0 ]; then
    echo "not ok - tests/digest/cases.txt has no case"
    rc=1
fi
echo "1..$count"
exit $rc
