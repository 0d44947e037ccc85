/* SPDX-License-Identifier: Apache-2.0 */
/* explain_amounts.c - times and amounts as people write them. */
#include <inttypes.h>

#include "base/text.h"
#include "wire/explain_impl.h"

#define SECOND_US INT64_C(1000000)

void explain_add_time(struct text *out, int64_t us)
{
    static const struct {
        int64_t us;
        const char *unit;
    } units[] = {
        {86400 * SECOND_US, "d"}, {3600 * SECOND_US, "h"}, {60 * SECOND_US, "m"}, {SECOND_US, "s"}};
    size_t i = 0;

    while (i < 3 && us < units[i].us)
        i++;
    if (i == 3 && us % SECOND_US > 0)
        text_addf(out, "%" PRId64 ".%03" PRId64 "s", us / SECOND_US, us % SECOND_US / 1000);
    else
        text_addf(out, "%" PRId64 "%s", us / units[i].us, units[i].unit);
    us %= units[i].us;
    if (i < 3 && us >= units[i + 1].us)
        text_addf(out, " %" PRId64 "%s", us / units[i + 1].us, units[i + 1].unit);
}

void explain_add_milli(struct text *out, int64_t milli)
{
    char digits[8];
    int n = 3;

    text_addf(out, "%" PRId64, milli / 1000);
    if (milli % 1000 == 0)
        return;
    for (int64_t rest = milli % 1000; n-- > 0; rest /= 10)
        digits[n] = (char)('0' + rest % 10);
    for (n = 3; digits[n - 1] == '0'; n--)
        ;
    text_addf(out, ".%.*s", n, digits);
}

/* Rounded down, but exact for whole MiB. */
static void add_bytes(struct text *out, int64_t bytes)
{
    const int64_t mib = bytes >> 20;

    if (bytes % (INT64_C(1) << 30) == 0 && bytes > 0)
        text_addf(out, "%" PRId64 " GiB", bytes >> 30);
    else if (mib >= 10 * 1024 && bytes % (INT64_C(1) << 20) != 0)
        text_addf(out, "%" PRId64 ".%" PRId64 " GiB", mib >> 10, (mib & 1023) * 10 >> 10);
    else if (mib > 0)
        text_addf(out, "%" PRId64 " MiB", mib);
    else
        text_addf(out, "%" PRId64 " bytes", bytes);
}

void explain_add_shortage(struct text *out, enum shortage what, int64_t amount, bool named)
{
    switch (what) {
    case SHORT_GPUS:
        text_addf(out, named ? amount == 1 ? "%" PRId64 " GPU" : "%" PRId64 " GPUs" : "%" PRId64,
                  amount);
        return;
    case SHORT_SHARED:
        text_addf(out,
                  named ? amount == 1 ? "%" PRId64 " GPU beside tasks that it may share with"
                                      : "%" PRId64 " GPUs beside tasks that it may share with"
                        : "%" PRId64,
                  amount);
        return;
    case SHORT_GPU_MGPU:
        explain_add_milli(out, amount);
        text_add(out, named ? " of a GPU" : "");
        return;
    case SHORT_GPU_BYTES:
        add_bytes(out, amount);
        text_add(out, named ? " of GPU memory" : "");
        return;
    case SHORT_CPU_MCPU:
        explain_add_milli(out, amount);
        text_add(out, named ? amount == 1000 ? " CPU" : " CPUs" : "");
        return;
    case SHORT_MEMORY_BYTES:
        add_bytes(out, amount);
        text_add(out, named ? " of memory" : "");
        return;
    case SHORT_MIG:
        text_addf(out, named ? "%" PRId64 " start for its MIG instance" : "%" PRId64, amount);
        return;
    case SHORT_COUNT:
        return;
    }
}

void explain_add_resource(struct text *out, enum resource r, int64_t amount, bool named)
{
    if (r == RES_GPU_MGPU || r == RES_CPU_MCPU) {
        explain_add_milli(out, amount);
        if (named)
            text_addf(out, " %s%s", r == RES_GPU_MGPU ? "GPU" : "CPU", amount == 1000 ? "" : "s");
    } else {
        add_bytes(out, amount);
        if (named)
            text_add(out, r == RES_GPU_BYTES ? " of GPU memory" : " of memory");
    }
}
