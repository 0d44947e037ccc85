# SPDX-License-Identifier: Apache-2.0
"""bench_backfill.py FOLDER - the tables of bench-backfill.sh from the results in FOLDER."""

import sys

from tables import Bars, load, number, show

ORDERS = ("fifo", "predicted")
DEPTHS = (0, 1)
MEAN_S = {("predicted", 1): 25_000}


def checks(order, depth, run, bars):
    name = f"{order}, depth {depth}"
    held = []
    if (order, depth) in MEAN_S:
        most_s = MEAN_S[order, depth]
        held.append(bars.check(run["jct_mean_s"] <= most_s,
                               f"{name}: {run['jct_mean_s']:,.0f} s, at most {most_s:,}"))
    if run["preemptions"] > 0:
        held.append(bars.check(False, f"{name}: {run['preemptions']:,} preemptions"))
    if order == "fifo" and depth > 0:
        slips, charged = run["slips"], run["slips_charged"]
        held.append(bars.check(slips == charged, f"{name}: {slips:,} starts moved later, {charged:,} by an overrun"))
    return " ".join(held)


def show_orders(folder, bars):
    rows = []
    for order in ORDERS:
        for depth in DEPTHS:
            run = load(folder, f"{order}-{depth}")["runs"][0]
            most_s = MEAN_S.get((order, depth))
            rows.append([order, number(depth), number(most_s) if most_s else "", number(run["jct_mean_s"]),
                         number(run["jct_p99_s"]), number(run["wait_mean_s"]), number(run.get("reserved_jobs", 0)),
                         number(run.get("late_jobs", 0)), number(run.get("slips", 0)),
                         number(run.get("slips_charged", 0)), number(run["cpu_s"], 2),
                         checks(order, depth, run, bars)])
        rows.append(None)
    print("Philly, 82,247 jobs, on 72 nodes of 8 GPUs; nothing is preempted, and nobody knows run times: they are predicted from")
    print("jobs that finished. Depth: jobs that have a reservation. Late: started after the time they were told first.")
    print()
    show(["order", "depth", "at most", "mean completion s", "p99 s", "mean wait s", "reserved", "late", "moved later",
          "by an overrun", "CPU s", "bars"], rows[:-1], left=1)


def show_largest(folder):
    rows = []
    for order in ORDERS:
        for gang in load(folder, f"{order}-1")["runs"][0]["largest"]:
            rows.append([order, number(gang["gpus"]), number(gang["wait_s"]), number(gang["promised_s"]),
                         number(gang["bound_s"]), number(gang["slips"])])
        rows.append(None)
    print()
    print("The largest gangs that had to wait, with depth 1: how long, and how long at most as they were told first and last.")
    print()
    show(["order", "GPUs", "waited s", "told first", "told last", "moved later"], rows[:-1], left=1)


def main():
    bars = Bars()
    show_orders(sys.argv[1], bars)
    show_largest(sys.argv[1])
    bars.finish()


main()
