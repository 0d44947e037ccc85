#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [--format] - format, shell, spelling and sizes. --format rewrites the C files instead.
# shellcheck disable=SC2317 # check runs the functions below by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

rc=0
mapfile -t c_files < <(find src tests -name '*.[ch]' -not -path 'tests/tidy/bad/*' | sort)
mapfile -t shell_files < <(find scripts tests -name '*.sh' | sort)

if [ "${1:-}" = --format ]; then
    exec clang-format -i "${c_files[@]}"
fi

# check NAME COMMAND... - runs a command that fails or stays silent.
check() {
    local name=$1
    shift
    if "$@"; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        rc=1
    fi
}

function_lengths() {
    # What it says of a struct whose members a macro makes (gpu/nvml.h) is of no interest.
    pmccabe "${c_files[@]}" 2>/dev/null | awk '$5 > 70 { print $6, $7, $5 " lines, at most 70"; bad = 1 }
        END { exit bad }'
}

file_lengths() {
    local file lines most bad=0
    for file in "${c_files[@]}"; do
        lines=$(wc -l <"$file")
        most=800
        [[ $file == tests/* ]] && most=1500
        [ "$lines" -le "$most" ] || {
            echo "$file: $lines lines, at most $most"
            bad=1
        }
    done
    return "$bad"
}

spelling() {
    codespell --skip '*/corpus/*,*/bad/*,*.csv,*.gz,build*' -L statics,te \
        src tests scripts .ci docs ./*.md Makefile meson.build data/README.md
}

check "C files have the house format" clang-format --dry-run -Werror "${c_files[@]}"
check "shell scripts are clean" shellcheck "${shell_files[@]}" .ci/run
check "spelling" spelling
check "no function is longer than 70 lines" function_lengths
check "no file is longer than 800 lines" file_lengths
exit $rc
