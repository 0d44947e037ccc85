/* SPDX-License-Identifier: Apache-2.0 */
/* mps_wire.h - how clients and commands reach the simulated MPS daemon: a socket "control" in
 * CUDA_MPS_PIPE_DIRECTORY, one line a request, an answer that ends with the connection.
 *
 * "client PERCENT BYTES" makes the connection that of a client of a server, for as long as it is
 * open; everything else is a command of nvidia-cuda-mps-control. */
#pragma once
#include <stdint.h>

struct err;

struct mps_welcome {
    uint32_t percent;            /* of the SMs; 100 is all */
    uint64_t memory_limit_bytes; /* of device memory; 0 is none */
};

/* CUDA_MPS_PIPE_DIRECTORY, or /tmp/nvidia-mps. Static. */
const char *mps_directory(void);

/* Connects to the daemon. 0 and a descriptor, or -ENOENT if none answers. */
int mps_connect(int *out_fd);

/* Becomes a client, within what CUDA_MPS_ACTIVE_THREAD_PERCENTAGE and
 * CUDA_MPS_PINNED_DEVICE_MEM_LIMIT ask for. When the descriptor becomes readable, the server has
 * failed. -ENOENT if there is no daemon, -EBUSY if it takes no more clients. */
int mps_join(int *out_fd, struct mps_welcome *out, struct err *err);
