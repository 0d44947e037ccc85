# SPDX-License-Identifier: Apache-2.0
"""demo.py FOLDER - prints the two tables of demo.sh from the results in FOLDER."""

import csv
import sys

from tables import load, mean, number, show

GPUS = 6212
METRIC = "unallocated_gpu_pct@100%arrived.mean"
NAMES = {"berth": None, "fgd": "FGD", "bestfit": "BestFit"}


def published():
    with open("data/fgd/published.csv", encoding="utf-8") as file:
        return {row["policy"]: float(row["value"]) for row in csv.DictReader(file)
                if row["trace"] == "default" and row["metric"] == METRIC}


def show_placement(folder):
    known = published()
    rows = []
    for policy, name in NAMES.items():
        runs = load(folder, policy)["runs"]
        ours = mean(runs, "unallocated_pct")
        rows.append([policy, number(known[name], 2) if name else "-", number(ours, 2),
                     number(GPUS * ours / 100), number(mean(runs, "failed_jobs")),
                     number(mean(runs, "cpu_s"), 2)])
    print("Alibaba's openb cluster: 1,213 nodes, 6,212 GPUs, and pods that ask for a share of a GPU, one GPU or several.")
    print("They arrive in random order until they have asked for as much as all the GPUs (mean of 3 orders). What is")
    print("left unallocated is stranded: free, but in pieces that those who were refused cannot use.")
    print()
    show(["placement", "published %", "berth's run %", "GPUs left idle of 6,212", "pods failed (130 % asked)", "CPU s"],
         rows)
    print()
    print("fgd is told beforehand what will arrive, as its authors did; berth, our own and the default, is not.")


def show_orders(folder):
    rows = []
    for order in ("fifo", "tiresias", "gittins"):
        run = load(folder, f"week-{order}")["runs"][0]
        rows.append([order, number(run["jct_mean_s"]), number(run["jct_p99_s"]), number(run["wait_mean_s"]),
                     number(run["preemptions"]), number(run["cpu_s"], 2)])
    print()
    print(f"A week of Microsoft's Philly cluster: {run['jobs']:,} jobs submitted 9 to 15 October 2017, on 40 nodes of 8 GPUs,")
    print("which is less than they ask for, so jobs queue. A restart costs a job 60 s. Nobody knows run times beforehand.")
    print()
    show(["order", "mean completion s", "p99 s", "mean wait s", "preemptions", "CPU s"], rows)
    print()
    print("gittins learns from the jobs that ended; fifo and tiresias are the usual ones. Shorter is better.")


def main():
    show_placement(sys.argv[1])
    show_orders(sys.argv[1])
    print()
    print("Next:")
    print("  build/berth sim --help    schedule your own cluster and trace")
    print("  make test                 all tests")
    print("  make bench-fgd            all 9 traces and 7 policies; also bench-steady, bench-jct, bench-philly")


main()
