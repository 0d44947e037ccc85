#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# venv.sh [--check] - the Python packages that tests need, in build-venv, of the versions in
# tests/nvml/requirements.txt.
#
# Installs what is missing. With --check, and where it cannot be installed, it prints what to run
# and exits 1.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build-venv
list=tests/nvml/requirements.txt
stamp=$venv/requirements.txt

cmp -s "$list" "$stamp" && exit 0
if [ "${1:-}" != --check ]; then
    echo "installing Python packages into $venv"
    rm -rf "$venv"
    if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list"; then
        cp "$list" "$stamp"
        exit 0
    fi
fi
{
    echo "missing: the Python packages of $list (in $venv)"
    echo "install them, on a machine that reaches a package index, with:"
    echo "    scripts/venv.sh"
} >&2
exit 1
