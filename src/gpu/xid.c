/* SPDX-License-Identifier: Apache-2.0 */
/* xid.c - what an Xid says.
 *
 * Two sources. The Xid catalog of NVIDIA's GPU deployment documents (docs.nvidia.com/deploy/
 * xid-errors) names for each number an action: restart the application, reset the GPU, restart the
 * machine, follow a workflow. And NVIDIA's Kubernetes device plugin (internal/rm/health.go) keeps
 * a list of those that it takes for faults of applications: 13, 31, 43, 45, 68 and 109. Where they
 * disagree (109: the catalog resets the GPU), the list of the plugin is followed: it is what
 * clusters live with, and a device that is really stuck is found by starts that fail on it. */
#include "gpu/xid.h"

#include <stddef.h>

static const struct xid xids[] = {
    {8, XID_JOB, "GPU stopped processing for one program"},
    {11, XID_JOB, "invalid or corrupted push buffer stream"},
    {13, XID_JOB, "graphics engine exception: an illegal access of a program"},
    {31, XID_JOB, "memory page fault: an illegal address of a program"},
    {32, XID_JOB, "invalid or corrupted push buffer stream"},
    {43, XID_JOB, "a program's channel was reset"},
    {45, XID_JOB, "a program's work was removed"},
    {48, XID_OUT, "double bit ECC error"},
    {63, XID_DRAIN, "a memory row is to be remapped at the next reset"},
    {64, XID_OUT, "a memory row could not be remapped"},
    {68, XID_JOB, "video decoder exception"},
    {74, XID_OUT, "NVLink error"},
    {79, XID_OUT, "GPU has fallen off the bus"},
    {92, XID_NOTE, "high rate of single bit ECC errors"},
    {94, XID_DRAIN, "contained ECC error: one program was hit"},
    {95, XID_OUT, "uncontained ECC error"},
    {109, XID_JOB, "context switch timeout"},
    {119, XID_OUT, "no answer from the GPU's system processor"},
    {120, XID_OUT, "error in the GPU's system processor"},
    {140, XID_OUT, "unrecovered ECC error"},
    {154, XID_NOTE, "the recommended recovery action has changed"},
};

const struct xid *xid_find(uint32_t number)
{
    static const struct xid unknown = {0, XID_DRAIN, "unknown Xid"};

    for (size_t i = 0; i < sizeof xids / sizeof xids[0]; i++)
        if (xids[i].number == number)
            return &xids[i];
    return &unknown;
}
