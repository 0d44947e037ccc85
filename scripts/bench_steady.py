# SPDX-License-Identifier: Apache-2.0
"""bench_steady.py FOLDER - the table of bench-steady.sh from the results in FOLDER."""

import sys

from tables import Bars, load, mean, number, show

TRACES = ("default", "gpushare40", "gpuspec25", "multigpu40")
LOADS_PCT = (90, 95, 100, 110)
POLICIES = ("berth", "fgd", "bestfit")
CLASSES = ("multi", "whole", "shared", "cpu_only")
LIFETIME_S = 3600
NOISE_POINTS = 0.05  # of allocation, between seeds


def means(folder, trace, load_pct):
    """policy -> field -> mean over the seeds; waits in mean lifetimes, 0 for a class that no job is in."""
    runs = load(folder, f"{trace}-{load_pct}")["runs"]
    table = {}
    for policy in POLICIES:
        own = [run for run in runs if run["policy"] == policy]
        table[policy] = {name: (mean(own, f"wait_{name}_s") or 0) / LIFETIME_S for name in CLASSES}
        table[policy]["allocated"] = mean(own, "allocated_pct")
        table[policy]["waiting"] = mean(own, "waiting_jobs")
    return table


def show_load(trace, load_pct, table, bars):
    """The rows of one trace and load; the bars are in the row of berth."""
    best = max(table[policy]["allocated"] for policy in POLICIES[1:])
    ours = table["berth"]["allocated"]
    allocates = bars.check(ours >= best - NOISE_POINTS,
                           f"{trace} at {load_pct} %: berth allocates {ours:.3f} %, the better of the others {best:.3f}")
    late = []
    for name in CLASSES:
        wait, other = table["berth"][name], min(table[policy][name] for policy in POLICIES[1:])
        much = wait > 1.5 * other and wait > 0.01
        if bars.check(not much, f"{trace} at {load_pct} %: {name} jobs wait {wait:.4f} lifetimes, "
                                f"with the better of the others {other:.4f}") != "ok":
            late.append(name)
    rows = []
    for policy in POLICIES:
        row = [trace, load_pct, policy, number(table[policy]["allocated"], 3)]
        for name in CLASSES:
            mark = "!" if policy == "berth" and name in late else " "
            row.append(number(table[policy][name], 4) + mark)
        row.append(number(table[policy]["waiting"]))
        row.append("" if policy != "berth" else "ok" if allocates == "ok" and not late else "FAILS")
        rows.append(row)
    return rows + [None]


def main():
    bars = Bars()
    rows = []
    for trace in TRACES:
        for load_pct in LOADS_PCT:
            rows += show_load(trace, load_pct, means(sys.argv[1], trace, load_pct), bars)
    print("Jobs come and go on the openb cluster: shapes of the trace, Poisson arrivals, lognormal lifetimes, 5 mean lifetimes")
    print("after the warm-up, mean of 3 seeds, fifo. Nobody is told the mix. Allocation of GPU compute in %; mean wait by")
    print("class of job in mean lifetimes; jobs that wait at the end. Bars: berth allocates as much as the better of the")
    print(f"others (less {NOISE_POINTS} points for noise between seeds), and no class waits much longer: '!' marks more than")
    print("1.5 times the better of the others and more than 0.01 lifetimes.")
    print()
    show(["trace", "load %", "policy", "allocated %", "multi-GPU ", "whole ", "shared ", "CPU-only ", "waiting", "bars"],
         rows[:-1])
    bars.finish()


main()
