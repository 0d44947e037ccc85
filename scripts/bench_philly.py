# SPDX-License-Identifier: Apache-2.0
"""bench_philly.py FOLDER - the tables of bench-philly.sh from the results in FOLDER."""

import sys

from tables import Bars, load, number, show

ORDERS = ("fifo", "fifo-strict", "las", "tiresias", "predicted", "srtf", "srsf", "gittins")
CLUSTERS = {"72x8": "72 nodes", "64x8": "64 nodes", "partition": "partition"}
GITTINS_S = {"72x8": 15_900, "64x8": 19_300, "partition": 37_500}
BUSY_GPU_S = 3_521_082_502


def show_orders(folder, bars):
    rows = []
    for cluster, name in CLUSTERS.items():
        for order in ORDERS:
            result = load(folder, f"{cluster}-{order}")
            run = result["runs"][0]
            got, most_s = run["jct_mean_s"], GITTINS_S[cluster]
            holds, most = "", ""
            if order == "gittins":
                most = number(most_s)
                holds = bars.check(got <= most_s, f"{name}: gittins {got:,.0f} s, at most {most_s:,}")
            rows.append([name, order, most, number(got), number(run["jct_p99_s"]), number(run["wait_mean_s"]),
                         number(run["preemptions"] / run["jobs"], 2), number(run["finished_jobs"]),
                         number(run["cpu_s"], 2), number(result["peak_rss_bytes"], scale=2**20), holds])
        rows.append(None)
    print("Philly, 82,247 jobs, on nodes of 8 GPUs: two pooled clusters, and a quarter of the published nodes of each virtual")
    print("cluster with its own queue. A restart costs 60 s; placement bestfit. srtf and srsf are oracles: they know run times.")
    print()
    show(["nodes", "order", "at most", "mean completion s", "p99 s", "mean wait s", "preemptions a job", "finished",
          "CPU s", "peak MiB", "bars"], rows[:-1], left=2)


def show_busy(folder, bars):
    rows = []
    for order in ORDERS:
        busy = load(folder, f"free-{order}")["runs"][0]["busy_gpu_s"]
        rows.append([order, number(BUSY_GPU_S), number(busy),
                     bars.check(busy == BUSY_GPU_S, f"{order}: busy for {busy:,.6f} GPU-s")])
    print()
    print("GPU-seconds in use on 72 nodes when a restart costs nothing: the work of the trace, whatever the order.")
    print()
    show(["order", "work of the trace", "GPUs busy", "bars"], rows)


def main():
    bars = Bars()
    show_orders(sys.argv[1], bars)
    show_busy(sys.argv[1], bars)
    bars.finish()


main()
