# SPDX-License-Identifier: Apache-2.0
"""bench_jct.py FOLDER - the tables of bench-jct.sh from the results in FOLDER."""

import csv
import sys

from tables import Bars, load, number, show

NAMES = {"srtf": "SRTF", "srsf": "SRSF", "tiresias": "Tiresias(2D-LAS)"}
METRICS = {"avg_jct": "jct_mean_s", "makespan": "makespan_s", "p99_jct": "jct_p99_s"}
WORKLOADS = range(1, 9)
GITTINS_MURI_S = {"trace1": 1_700_000, "trace3": 305_000}
GITTINS_POLLUX_S = {"0.5": 2000, "1.0": 3300}


def by_order(folder, name):
    return {run["order"]: run for run in load(folder, name)["runs"]}


def published_muri():
    with open("data/jct_published.csv", encoding="utf-8") as file:
        rows = [list(row) for row in csv.reader(file)]
    return {(row[1], row[3], row[4]): float(row[5]) for row in rows
            if row[0] == "Muri SIGCOMM22 simulator" and row[1] in GITTINS_MURI_S and row[4] in METRICS}


def published_pollux():
    times = {}
    with open("data/pollux/published_tiresias_job_jct.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            times.setdefault((row["load"], int(row["workload"])), []).append(float(row["jct_s"]))
    return {key: sum(values) / len(values) for key, values in times.items()}


def show_muri(folder, bars):
    known = published_muri()
    rows = []
    for trace in GITTINS_MURI_S:
        runs = by_order(folder, trace)
        for order, name in NAMES.items():
            for metric, field in METRICS.items():
                want, got = known[trace, name, metric], runs[order][field]
                off_pct = round(100 * (got / want - 1), 4) + 0.0
                holds = bars.check(abs(off_pct) <= 0.1, f"{trace} {order} {metric}: {off_pct:+.3f} % off")
                rows.append([trace, order, metric, number(want, 1), number(got, 1), f"{off_pct:+.4f} %", holds])
    print("Muri's simulator, 8 nodes of 8 GPUs, times in s. Bar: within 0.1 % of the published value.")
    print()
    show(["trace", "order", "metric", "published", "ours", "off by", "bars"], rows, left=3)


def show_muri_gittins(folder, bars):
    rows = []
    for trace, most_s in GITTINS_MURI_S.items():
        runs = by_order(folder, trace)
        got = runs["gittins"]["jct_mean_s"]
        holds = bars.check(got <= most_s, f"{trace} gittins: mean {got:,.0f} s, at most {most_s:,}")
        rows.append([trace, number(most_s), number(got), number(runs["tiresias"]["jct_mean_s"]),
                     number(runs["srtf"]["jct_mean_s"]), number(runs["gittins"]["preemptions"]), holds])
    print()
    print("The learned order under the same protocol, one configuration, nothing known beforehand: mean completion, s.")
    print()
    show(["trace", "gittins at most", "gittins", "tiresias", "srtf (oracle)", "preemptions", "bars"], rows)


def show_pollux(folder, bars):
    known = published_pollux()
    rows, off, gittins = [], {}, {load_: [] for load_ in GITTINS_POLLUX_S}
    for load_ in GITTINS_POLLUX_S:
        for workload in WORKLOADS:
            runs = by_order(folder, f"pollux-{load_}-{workload}")
            want, got = known[load_, workload], runs["tiresias"]["jct_mean_s"]
            off_pct = round(100 * (got / want - 1), 4) + 0.0
            off[load_, workload] = abs(off_pct)
            gittins[load_].append(runs["gittins"]["jct_mean_s"])
            holds = bars.check(abs(off_pct) <= 4, f"pollux {load_}/{workload} tiresias: {off_pct:+.3f} % off")
            if holds == "ok" and abs(off_pct) > 0.1:
                holds = "ok (within 4 %)"
            rows.append([f"{load_}/{workload}", number(want, 1), number(got, 1), f"{off_pct:+.4f} %",
                         number(gittins[load_][-1], 1), holds])
    close = sum(1 for value in off.values() if value <= 0.1)
    print()
    print("Pollux's simulator, 16 nodes of 4 GPUs: mean completion in s, of each load and workload.")
    print("Bar for tiresias: within 0.1 % of the published mean on 14 of 16, within 4 % on all.")
    print()
    show(["workload", "published", "tiresias", "off by", "gittins", "bars"], rows)
    print()
    print(f"tiresias is within 0.1 % on {close} of {len(off)}:",
          bars.check(close >= 14, f"tiresias within 0.1 % on {close} of {len(off)}, at least 14"))
    for load_, most_s in GITTINS_POLLUX_S.items():
        got = sum(gittins[load_]) / len(gittins[load_])
        print(f"gittins at load {load_}: mean of 8 workloads {got:,.1f} s, at most {most_s:,}:",
              bars.check(got <= most_s, f"gittins at load {load_}: {got:,.1f} s, at most {most_s:,}"))


def main():
    bars = Bars()
    show_muri(sys.argv[1], bars)
    show_muri_gittins(sys.argv[1], bars)
    show_pollux(sys.argv[1], bars)
    bars.finish()


main()
