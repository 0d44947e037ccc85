/* SPDX-License-Identifier: Apache-2.0 */
/* xid.h - what an Xid, an error number of the driver, says about a GPU and about who used it. */
#pragma once
#include <stdint.h>

/* From harmless to bad, so that of several the largest counts. */
enum xid_effect {
    XID_NOTE,  /* nothing happened to anybody */
    XID_JOB,   /* a program did wrong or was hit; it may fail, the device goes on */
    XID_DRAIN, /* the device finishes what runs, takes nothing new, and wants a reset when empty */
    XID_OUT,   /* the device is unusable at once; what runs on it is lost */
};

struct xid {
    uint32_t number;
    enum xid_effect effect;
    const char *text; /* for people: lower case, no full stop */
};

/* What is known of an Xid; never NULL. An unknown one drains the device: it may be a new name for
 * something bad, and a reset and a probe bring the device back. Static. */
const struct xid *xid_find(uint32_t number);
