#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_tests.py TESTLOG.JSON - prints "PASSED FAILED" for what meson test has run.

A test that reports TAP counts once a line; one that does not, or that ended badly without a
"not ok" line (a crash, a time-out), counts once. What failed is written to standard error: each
"not ok" line with the remarks behind it, and the end of the test's own standard error.
"""
import json
import re
import sys

STDERR_LINES = 20


def tell(test, lines):
    print(f"{test['name']}: {test['result']}", file=sys.stderr)
    failing = False
    for line in lines:
        if not line.startswith('#'):
            failing = line.startswith('not ok')
        if failing:
            print(f'    {line}', file=sys.stderr)
    for line in (test.get('stderr') or '').splitlines()[-STDERR_LINES:]:
        print(f'    {line}', file=sys.stderr)


def count(test):
    lines = (test.get('stdout') or '').splitlines()
    good = sum(bool(re.match(r'ok\b', line)) for line in lines)
    bad = sum(bool(re.match(r'not ok\b', line)) for line in lines)
    if test['result'] in ('OK', 'EXPECTEDFAIL'):
        return max(good, 1), bad
    if test['result'] == 'SKIP':
        return 0, 0
    tell(test, lines)
    return good, max(bad, 1)


def main():
    passed = failed = 0
    with open(sys.argv[1], encoding='utf-8') as log:
        for line in log:
            good, bad = count(json.loads(line))
            passed += good
            failed += bad
    print(passed, failed)


if __name__ == '__main__':
    main()
