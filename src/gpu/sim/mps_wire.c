/* SPDX-License-Identifier: Apache-2.0 */
/* mps_wire.c - how clients and commands reach the simulated MPS daemon. */
#include "gpu/sim/mps_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/scan.h"

const char *mps_directory(void)
{
    const char *given = getenv("CUDA_MPS_PIPE_DIRECTORY");

    return given != NULL && given[0] != '\0' ? given : "/tmp/nvidia-mps";
}

int mps_connect(int *out_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/control",
                         mps_directory()) >= sizeof address.sun_path ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -ENOENT;
    }
    *out_fd = fd;
    return 0;
}

/* "0=1G,1=512M": the simulation takes the first as that of all devices. */
static uint64_t asked_limit(void)
{
    const char *text = getenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT");
    const char *equals = text != NULL ? strchr(text, '=') : NULL;
    char word[32];
    int64_t bytes;
    size_t length;

    if (equals == NULL)
        return 0;
    length = strcspn(equals + 1, ",");
    if (length >= sizeof word)
        return 0;
    memcpy(word, equals + 1, length);
    word[length] = '\0';
    return scan_bytes(word, &bytes) == 0 ? (uint64_t)bytes : 0;
}

static uint32_t asked_percent(void)
{
    const char *text = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    uint32_t percent;

    return text != NULL && scan_u32(text, &percent) == 0 && percent >= 1 && percent <= 100 ? percent
                                                                                           : 100;
}

/* "welcome PERCENT BYTES" */
static int read_welcome(char *line, struct mps_welcome *out)
{
    char *percent = strchr(line, ' '), *bytes = NULL;

    if (strncmp(line, "welcome ", 8) != 0 || percent == NULL)
        return -EBUSY;
    bytes = strchr(percent + 1, ' ');
    if (bytes == NULL)
        return -EPROTO;
    *bytes++ = '\0';
    bytes[strcspn(bytes, "\n")] = '\0';
    if (scan_u32(percent + 1, &out->percent) < 0 || scan_u64(bytes, &out->memory_limit_bytes) < 0)
        return -EPROTO;
    return 0;
}

int mps_join(int *out_fd, struct mps_welcome *out, struct err *err)
{
    char line[128];
    ssize_t got;
    int fd, rc = mps_connect(&fd);

    if (rc < 0)
        return rc;
    snprintf(line, sizeof line, "client %u %llu\n", asked_percent(),
             (unsigned long long)asked_limit());
    got = send(fd, line, strlen(line), MSG_NOSIGNAL);
    if (got > 0)
        got = read(fd, line, sizeof line - 1);
    line[got > 0 ? got : 0] = '\0';
    rc = read_welcome(line, out);
    if (rc < 0) {
        close(fd);
        return err_set(err, rc, "MPS: %s", line);
    }
    *out_fd = fd;
    return 0;
}
