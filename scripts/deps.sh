#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh [--check] build|test|lint... - what has to be installed to build, test or lint berth.
#
# Installs the Debian packages that are missing, as root or through sudo. With --check, and where it
# may not install, it prints the one line to run and exits 1.
set -euo pipefail

build=(gcc libc6-dev make meson ninja-build pkg-config python3
    libyaml-dev zlib1g-dev libsmartcols-dev libsqlite3-dev)
test=(clang libcmocka-dev python3-venv)
lint=(clang-format shellcheck codespell pmccabe)

usage() {
    echo "usage: deps.sh [--check] build|test|lint..." >&2
    exit 2
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# apt-get "$@" as root, through sudo when needed and allowed without a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive apt-get "$@"
    fi
}

may_install() {
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

# A machine that never ran update, or ran it long ago, does not find the packages: then update.
install() {
    as_root install -y -q --no-install-recommends "$@" && return
    as_root update -q
    as_root install -y -q --no-install-recommends "$@"
}

check_only=no
if [ "${1:-}" = --check ]; then
    check_only=yes
    shift
fi
[ $# -gt 0 ] || usage
wanted=()
for group in "$@"; do
    case $group in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    lint) wanted+=("${lint[@]}") ;;
    *) usage ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "deps.sh: not a Debian system; wanted are what Debian calls: ${wanted[*]}" >&2
    exit 0
fi
missing=()
for package in "${wanted[@]}"; do
    installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ $check_only = no ] && may_install; then
    echo "installing: ${missing[*]}"
    install "${missing[@]}"
    exit 0
fi
sudo=
[ "$(id -u)" = 0 ] || sudo="sudo "
{
    echo "missing: ${missing[*]}"
    echo "install them with:"
    echo "    ${sudo}apt-get update && ${sudo}apt-get install -y ${missing[*]}"
} >&2
exit 1
