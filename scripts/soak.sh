#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# soak.sh SEED STEPS - random worlds until so many steps are taken (docs/testing.md).
#
# Uses the build folder of `make test`. What breaks is shrunk and left in build/soak-SEED.scn.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -f build/build.ninja ] || meson setup build -Dtests=enabled >/dev/null
ninja -C build --quiet tests/soak/soak
build/tests/soak/soak --seed "$1" --steps "$2" --quiet --shrink --out "build/soak-$1.scn"
