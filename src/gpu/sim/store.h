/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - where a simulated machine lies, so that all programs see the same one.
 *
 * A file "machine" in a directory: two copies of struct sim_machine, and which of them counts. A
 * change is made in the other copy and comes true by one store, so a program that is killed in the
 * middle of a change has changed nothing; the kernel gives its lock back. */
#pragma once
#include "gpu/sim/machine.h"

struct store;

/* The directory: BERTH_SIM_DIR, or /tmp/berth-sim-UID. Static. */
const char *store_default_directory(void);

/* Opens the machine that lies in directory, and makes it from a description (describe.h) if there
 * is none yet. description may be NULL: -ENODATA then if there is none. The directory is made if
 * need be. -EINVAL: the description is wrong. -EPROTO: what lies there is of another version. */
int store_open(const char *directory, const char *description, struct store **out, struct err *err);
void store_close(struct store *store);

/* Locks it against all other programs and gives what counts; read only. */
const struct sim_machine *store_read(struct store *store);

/* After store_read: the copy that may be changed, equal to it. */
struct sim_machine *store_write(struct store *store);

/* Unlocks. keep: what was changed comes true; otherwise it never was. */
void store_end(struct store *store, bool keep);
