# SPDX-License-Identifier: Apache-2.0
"""What demo and the benches share: results of `berth sim --json`, tables as text, and bars."""

import json
import sys


def load(folder, name):
    """The result of one `berth sim`; ends the program when there is none."""
    try:
        with open(f"{folder}/{name}.json", encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        sys.exit(f"no result of the run {name}")


def mean(runs, field):
    """The mean of a field, or None when no run has it."""
    values = [run[field] for run in runs if run[field] is not None]
    return sum(values) / len(values) if values else None


def number(value, digits=0, scale=1):
    """A number with thousands apart, '-' for None."""
    return "-" if value is None else f"{value / scale:,.{digits}f}"


def show(columns, rows, left=1):
    """Prints a table of texts; the first `left` columns and the last one, if it is 'bars', are left-aligned."""
    cells = [list(columns)] + [[str(cell) for cell in row] for row in rows if row]
    width = [max(len(row[i]) for row in cells) for i in range(len(columns))]

    def line(row):
        texts = []
        for i, cell in enumerate(row):
            flush = i < left or columns[i] == "bars"
            texts.append(str(cell).ljust(width[i]) if flush else str(cell).rjust(width[i]))
        return "  ".join(texts).rstrip()

    print(line(columns))
    print("  ".join("-" * w for w in width))
    for row in rows:
        print(line(row) if row else "")


class Bars:
    """The bars of one bench: which were held, and the exit status that follows."""

    def __init__(self):
        self.failed = []
        self.count = 0

    def check(self, holds, what):
        """Counts a bar and returns 'ok' or 'FAILS' for the table."""
        self.count += 1
        if holds:
            return "ok"
        self.failed.append(what)
        return "FAILS"

    def finish(self):
        """Prints which bars fail and ends the program: 0 when all hold, otherwise 1."""
        print()
        for what in self.failed:
            print(f"fails: {what}")
        print(f"{self.count - len(self.failed)} of {self.count} bars hold.")
        sys.exit(1 if self.failed else 0)
