/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - small files that are there whole or not at all. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum file_safety {
    FILE_FAST,   /* survives the end of any process */
    FILE_DURABLE /* survives the end of the power as well: costs a sync of the file and the folder
                  */
};

/* Replaces the file at once; mode 0600. 0 or a negative errno, and then the old one is there. */
int file_replace(int folder_fd, const char *name, const void *bytes, size_t count,
                 enum file_safety safety);

/* The whole file, the caller's to mem_free(); one zero byte follows. -EFBIG above max. */
int file_load(int folder_fd, const char *name, size_t max, char **out, size_t *out_count);

/* Removes the folder and all in it. 0 also if there is none; a negative errno. */
int file_remove_tree(int folder_fd, const char *name);
