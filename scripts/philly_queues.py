# SPDX-License-Identifier: Apache-2.0
"""philly_queues.py SHARE_PCT [GUARANTEE_PCT] - the virtual clusters of the Philly trace as queues of one pool, as YAML.

Each queue gets the nodes that `berth sim --partition FILE --partition-share SHARE_PCT` gives it: a part of the published ones,
rounded to the nearest, enough for its largest gang, and at least one. GUARANTEE_PCT of these (default 100) are its guarantee.
`--count` prints how many nodes there are in all."""

import csv
import gzip
import sys

NODE_GPUS = 8


def read_nodes(share_pct):
    with open("data/philly/helios_philly_vc_nodes.csv", encoding="utf-8") as file:
        published = {row["vc"]: int(row["nodes_8gpu"]) for row in csv.DictReader(file)}
    largest = {}
    with gzip.open("data/philly/philly_jobs.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            largest[row["vc"]] = max(largest.get(row["vc"], 0), int(row["num_gpus"]))
    nodes = {}
    for vc, gpus in largest.items():
        part = (published.get(vc, 0) * share_pct + 50) // 100
        nodes[vc] = max(part, (gpus + NODE_GPUS - 1) // NODE_GPUS, 1)
    return nodes


def main():
    nodes = read_nodes(int(sys.argv[1]))
    if "--count" in sys.argv:
        print(sum(nodes.values()))
        return
    guarantee_pct = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    print("queues:")
    for vc, count in nodes.items():
        print(f"  - {{name: {vc}, guarantee: {{gpus: {count * NODE_GPUS * guarantee_pct // 100}}}}}")


main()
