# SPDX-License-Identifier: Apache-2.0
"""bench_queues.py FOLDER NODES - the tables of bench-queues.sh from the results in FOLDER."""

import csv
import sys

from tables import Bars, number, show

COUNTED_JOBS = 300
WORSE_MOST = 1.05


def read(path):
    queues = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            queues.setdefault(row["queue"], []).append(row)
    return queues


def mean(rows, column):
    return sum(float(row[column]) for row in rows) / len(rows)


def mean_of_all(queues):
    jobs = sum(int(rows[0]["jobs"]) for rows in queues.values())
    return sum(mean(rows, "jct_mean_s") * int(rows[0]["jobs"]) for rows in queues.values()) / jobs


def show_queues(pooled, cut, bars):
    rows = []
    for queue, of_cut in sorted(cut.items(), key=lambda item: -int(item[1][0]["jobs"])):
        of_pool, jobs = pooled[queue], int(of_cut[0]["jobs"])
        got, most = mean(of_pool, "jct_mean_s"), mean(of_cut, "jct_mean_s")
        holds = ""
        if jobs >= COUNTED_JOBS:
            holds = bars.check(got <= WORSE_MOST * most, f"queue {queue}: {got:,.0f} s pooled, {most:,.0f} s alone")
        owed = max(float(row["owed_longest_s"]) for row in of_pool)
        could = max(float(row["owed_could_s"]) for row in of_pool)
        bars.check(could == 0, f"queue {queue}: owed for {could:,.0f} s what could have been given back")
        p99 = [number(mean(rows_of, "jct_p99_s")) for rows_of in (of_cut, of_pool)]
        means = [number(most), number(got), number(got / most, 2)]
        rows.append([queue, number(jobs), *means, *p99, number(owed), number(could), holds])
    columns = ["queue", "jobs", "alone: mean s", "pooled: mean s", "ratio", "alone: p99 s", "pooled: p99 s"]
    show([*columns, "owed for s at most", "could have", "bars"], rows, left=1)


def main():
    bars = Bars()
    folder, nodes = sys.argv[1], sys.argv[2]
    pooled, cut = read(f"{folder}/pooled.csv"), read(f"{folder}/cut.csv")
    print(f"Philly, 82,247 jobs, on {nodes} nodes of 8 GPUs, order gittins inside each queue; mean of 5 runs in which each")
    print("job comes up to 3 s later. Alone: each virtual cluster on its own part of the nodes. Pooled: one pool, each queue's")
    print("part is its guarantee, and it may borrow what others do not use. A queue is owed while a job waits that its guarantee")
    print("has room for. Stops take no time here, so that only lasts where nothing can be done: 'could have' is the seconds in")
    print("which such a job would have fit had all left that it may take from. In the rest, the nodes held what others are")
    print("entitled to and jobs of its own queue that go before it, too scattered to make the room.")
    print()
    show_queues(pooled, cut, bars)
    print()
    alone_s, pooled_s = mean_of_all(cut), mean_of_all(pooled)
    print(f"Mean completion over all jobs: {alone_s:,.0f} s alone, {pooled_s:,.0f} s pooled.")
    bars.check(pooled_s < alone_s / 2, f"pooled {pooled_s:,.0f} s, less than half of {alone_s:,.0f} s")
    bars.finish()


main()
