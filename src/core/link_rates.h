/* SPDX-License-Identifier: Apache-2.0 */
/* link_rates.h - what one link of a kind carries: MB/s (10^6 bytes) in one direction.
 *
 * NVLink, a link and direction: NVIDIA's product pages give a GPU's total of both directions and
 * its number of links: P100 160 GB/s of 4, V100 300 of 6, A100 600 of 12, H100 900 of 18, B200
 * 1,800 of 18; bridges of A40, RTX A6000 and RTX 3090 112.5 of 4, A30 200 of 4, Titan RTX and
 * Quadro RTX 8000 100 of 2. Variants for export (A800, H800, H20) have fewer or equal links, each
 * as fast.
 *
 * PCIe, 16 lanes: the transfer rate with the coding taken off (PCI-SIG): 8, 16 and 32 GT/s, 128 of
 * 130 bits. What a way over several switches, a host bridge or a socket leaves of that depends on
 * the board and on who else is there; vendors state none. PATH_* are ours: sixteenths of the rate,
 * in the order in which nvidia-smi ranks the ways. Between two ways the order decides alone. */
#pragma once
#include <stdint.h>

#define NVLINK1_MBPS        20000u
#define NVLINK2_MBPS        25000u
#define NVLINK3_MBPS        25000u
#define NVLINK3_BRIDGE_MBPS 14062u /* GA102: A40, RTX A6000, RTX 3090 */
#define NVLINK4_MBPS        25000u
#define NVLINK5_MBPS        50000u

#define PCIE3_MBPS 15754u
#define PCIE4_MBPS 31508u
#define PCIE5_MBPS 63015u

/* Ways over PCIe, by the words of nvidia-smi. */
#define PATH_PIX  16u /* one switch at most */
#define PATH_PXB  14u /* several switches, no host bridge */
#define PATH_PHB  12u /* a host bridge */
#define PATH_NODE 10u /* host bridges of one NUMA node */
#define PATH_SYS  8u  /* between NUMA nodes */

#define PCIE_PATH_MBPS(pcie_mbps, path) ((pcie_mbps) * (path) / 16u)
