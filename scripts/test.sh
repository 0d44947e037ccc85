#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh - all tests: plain with gcc, sanitized with gcc, with clang, and equal digests of all.
#
# The last line is "N passed, N failed": TAP lines over all builds and suites. A build that fails
# counts as one failure. A build folder stays between runs, so that a second run is short.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

passed=0
failed=0
seconds=$SECONDS

say() {
    echo "== $* ($((SECONDS - seconds)) s)"
}

# add PASSED FAILED
add() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# configure FOLDER COMPILER OPTION... - makes the build folder, or brings it up to date.
configure() {
    local folder=$1 compiler=$2 log
    shift 2
    log=$folder/meson-logs/meson-log.txt
    if [ -f "$folder/build.ninja" ]; then
        meson setup --reconfigure "$folder" "$@" >/dev/null && return
        rm -rf "$folder"
    fi
    CC=$compiler meson setup "$folder" "$@" >/dev/null && return
    tail -n 20 "$log"
    return 1
}

# build NAME FOLDER COMPILER OPTION... - configures and builds; a failure is counted.
build() {
    local name=$1 folder=$2
    say "building: $name"
    if configure "${@:2}" && ninja -C "$folder" --quiet; then
        return 0
    fi
    echo "not ok - build with $name"
    add 0 1
    return 1
}

# run_suites NAME FOLDER MESON-ARGUMENT... - runs tests of a build and counts their TAP lines.
run_suites() {
    local name=$1 folder=$2 counts
    say "testing: $name"
    rm -f "$folder/meson-logs/testlog.json"
    meson test -C "$folder" --no-rebuild "${@:3}" >"$folder/test.out" 2>&1
    counts=$(python3 scripts/count_tests.py "$folder/meson-logs/testlog.json") || counts="0 1"
    # shellcheck disable=SC2086 # two numbers
    add $counts
    echo "   $counts (passed, failed)"
}

# The program built four ways must give the same digests; so must a replay of its events.
compare_digests() {
    local counts
    say "comparing digests: gcc -O2, gcc -O0, clang -O2, replay"
    counts=$(scripts/digests.sh build/berth build-O0/berth build-clang/berth) || true
    add "$(grep -c '^ok' <<<"$counts")" "$(grep -c '^not ok' <<<"$counts")"
    grep '^not ok\|^#' <<<"$counts"
}

sanitized=(-Doptimization=1 "-Db_sanitize=address,undefined" -Dtests=enabled)
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

build "gcc -O2" build gcc -Dtests=enabled && run_suites "gcc -O2" build
build "gcc, address and undefined sanitizers" build-asan gcc "${sanitized[@]}" &&
    run_suites "sanitized" build-asan --timeout-multiplier 5
build "clang -O2" build-clang clang -Dtests=enabled &&
    run_suites "clang -O2" build-clang --no-suite tidy
build "gcc -O0" build-O0 gcc -Dbuildtype=debug -Dtests=disabled && compare_digests

echo "took $((SECONDS - seconds)) s"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
