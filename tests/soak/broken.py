#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""broken.py - makes the changed source file of a core that is broken on purpose (broken.txt).

    broken.py --list            "NAME FILE" of each, one a line
    broken.py NAME ROOT OUT     writes the changed file; fails if the old lines are not there once
"""
import os
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'broken.txt')


def read():
    """{name: (file, [(old, new)])} in the order of the list."""
    cores, hunks, old, new = {}, None, [], []

    def end_hunk():
        if old:
            hunks.append(('\n'.join(old) + '\n', '\n'.join(new) + '\n'))
        old.clear()
        new.clear()

    with open(LIST, encoding='utf-8') as lines:
        for line in lines.read().split('\n'):
            word, _, rest = line.partition(' ')
            if line.startswith('#'):
                continue
            if line.startswith('-'):
                if new:
                    end_hunk()
                old.append(line[1:])
            elif line.startswith('+'):
                new.append(line[1:])
            else:
                end_hunk()
                if word == 'broken':
                    name, hunks = rest, []
                elif word == 'in':
                    cores[name] = (rest, hunks)
                elif line:
                    sys.exit(f'broken.txt: not understood: {line}')
    return cores


def change(text, name, path, hunks):
    """text with each hunk put in. Old lines are whole lines, but the last may be cut short."""
    for old, new in hunks:
        if text.count(old) != 1:
            old, new = old[:-1], new[:-1]
        if text.count(old) != 1:
            sys.exit(f'broken.txt: {name}: {path} has these lines {text.count(old)} times:\n{old}')
        text = text.replace(old, new)
    return text


def main():
    cores = read()
    if sys.argv[1] == '--list':
        for name, (path, _) in cores.items():
            print(name, path)
        return
    name, root, out = sys.argv[1:]
    path, hunks = cores[name]
    with open(os.path.join(root, path), encoding='utf-8') as f:
        text = f.read()
    with open(out, 'w', encoding='utf-8') as f:
        f.write(change(text, name, path, hunks))


main()
