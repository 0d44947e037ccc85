/* SPDX-License-Identifier: Apache-2.0 */
/* mig.h - what a GPU that can be split (MIG) can be split into, and how one is split now.
 *
 * A type is a product family: its memory slices, and its profiles: what an instance may be. An
 * instance takes size memory slices from one of its profile's starts on. Nothing here assumes 8
 * slices. The table is made from data/mig_profiles.json when berth is built (src/tools).
 *
 * A split GPU is a small value: which profile stands at which start, and which slices are taken by
 * instances that we know nothing about. Instances never move, and nothing here takes one away but
 * mig_gpu_remove(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;

#define MIG_SLICES_MAX    12u  /* memory slices of a GPU; a start needs 4 bits of a layout */
#define MIG_PROFILES_MAX  15u  /* of a type; a layout has 0 for none */
#define MIG_COPIES_MAX    7u   /* instances of one profile on a GPU */
#define MIG_GIGABYTES_MAX 999u /* in a name */
#define MIG_NONE          UINT32_MAX
#define MIG_NO_LIMIT      UINT8_MAX

enum mig_attribute {
    MIG_ME = 1,     /* "+me": has the media engines that there is one set of */
    MIG_ME_ALL = 2, /* "+me.all": has all media engines */
    MIG_NO_ME = 4,  /* "-me": has none */
    MIG_GFX = 8,    /* "+gfx": can draw */
};

/* Engines that instances do not share. Copy engines are none of them: sources differ about these,
 * and they have never been seen to be what is missing. */
enum mig_engine { MIG_DECODERS, MIG_JPEG, MIG_FLOW, MIG_ENCODERS, MIG_ENGINES };

struct mig_profile {
    const char *name; /* as one driver prints it: "1g.10gb+me" */
    int64_t memory_bytes;
    uint32_t gigabytes;     /* the figure in the name */
    uint8_t compute_slices; /* the figure before the g */
    uint8_t memory_slices;  /* as shown; size is what counts */
    uint8_t attributes;     /* enum mig_attribute, or-ed */
    bool memory_estimated;  /* no source: a lower bound from the other profiles or the name */
    uint16_t nvml_index;    /* what nvmlDeviceGetGpuInstanceProfileInfo() takes */
    uint16_t nvml_id;       /* what nvmlDeviceCreateGpuInstance() takes: another number */
    uint8_t max_instances;  /* 1..MIG_COPIES_MAX */
    uint8_t size;           /* memory slices, 1..MIG_SLICES_MAX */
    uint16_t starts;        /* bit s: may start at slice s */
    uint8_t engines[MIG_ENGINES];
};

struct mig_type {
    const char *key;          /* "a100-80" */
    const char *const *names; /* [name_count] as NVML and nvidia-smi print the product */
    uint32_t name_count;
    int64_t memory_bytes; /* of the whole GPU, 0 if not known */
    uint8_t compute_slices;
    uint8_t memory_slices;
    uint8_t engines[MIG_ENGINES]; /* in all, MIG_NO_LIMIT if not known */
    uint32_t profile_count;
    struct mig_profile profiles[MIG_PROFILES_MAX];
};

extern const struct mig_type mig_types[];
extern const uint32_t mig_type_count;

/* The type of a product, or NULL if there is none or the name does not say which. Case, blanks,
 * '-' and '_' do not matter, nor a leading NVIDIA, nor what Kubernetes labels append. A short name
 * ("A100", "A100-80GB") is one too if its memory says which; memory_bytes may be 0, not known.
 * Cost: O(names). */
const struct mig_type *mig_type_find(const char *model, int64_t memory_bytes);

/* ---- what is asked for ---- */

/* A profile as somebody named it, of whatever type. */
struct mig_ask {
    uint32_t gigabytes;
    uint8_t compute_slices;
    uint8_t attributes;
};

/* "1g.10gb", "1g.10gb+me", "mig-1g.10gb.me", "nvidia.com/mig-1g.10gb". -EINVAL if text is none. */
int mig_ask_parse(const char *text, struct mig_ask *out, struct err *err);

/* What it is called: "1g.10gb+me". */
#define MIG_ASK_BYTES 24u
void mig_ask_text(const struct mig_ask *ask, char out[MIG_ASK_BYTES]);

/* The profile that is meant, or MIG_NONE. Compute slices and attributes must be equal. The figure
 * for memory tells profiles apart that differ in memory only; it moves with the driver (3g.39gb,
 * 3g.40gb), so it may be off by 1 or a sixteenth. The nearest is taken, then the lower. */
uint32_t mig_profile_match(const struct mig_type *type, const struct mig_ask *ask);

/* The same from a text. -EINVAL, or -ENOENT with the profiles that there are. */
int mig_profile_find(const struct mig_type *type, const char *text, uint32_t *out, struct err *err);

/* The smallest profile with at least that much memory, or MIG_NONE: fewest memory slices, then
 * fewest compute slices; only profiles without attributes. */
uint32_t mig_profile_for_memory(const struct mig_type *type, int64_t bytes);

/* ---- a GPU that is split ---- */

/* All zero: nothing on it. Equal GPUs have equal values. */
struct mig_gpu {
    uint64_t layout;  /* 4 bits for each start, from the lowest: profile + 1, or 0 */
    uint16_t blocked; /* slices taken by instances that are none of our profiles */
};

/* The profile of the instance that starts there, or MIG_NONE. start < MIG_SLICES_MAX. */
static inline uint32_t mig_gpu_at(const struct mig_gpu *gpu, uint32_t start)
{
    const uint32_t nibble = (uint32_t)(gpu->layout >> (4 * start)) & 15;

    return nibble == 0 ? MIG_NONE : nibble - 1;
}

/* The layout with one more instance, which nothing is checked of. */
static inline uint64_t mig_layout_with(uint64_t layout, uint32_t profile, uint32_t start)
{
    return layout | (uint64_t)(profile + 1) << (4 * start);
}

/* The slices that an instance there takes. */
static inline uint16_t mig_slices(const struct mig_profile *profile, uint32_t start)
{
    return (uint16_t)(((1u << profile->size) - 1) << start);
}

/* The slices that are taken. Cost: O(instances). */
uint16_t mig_gpu_used(const struct mig_type *type, const struct mig_gpu *gpu);

/* How many instances of each profile there are. */
void mig_gpu_counts(const struct mig_type *type, const struct mig_gpu *gpu,
                    uint8_t counts[MIG_PROFILES_MAX]);

/* How many more instances of a profile the GPU's limits allow, wherever they would be: compute
 * slices, engines, and instances of the profile. */
uint32_t mig_gpu_allowance(const struct mig_type *type, const struct mig_gpu *gpu,
                           uint32_t profile);

/* Where an instance of the profile may start: bit s. 0 is none. Cost: O(slices). */
uint16_t mig_gpu_starts(const struct mig_type *type, const struct mig_gpu *gpu, uint32_t profile);

/* How many more of the profile fit, if nothing else comes. */
uint32_t mig_gpu_fits(const struct mig_type *type, const struct mig_gpu *gpu, uint32_t profile);

/* start must be one of mig_gpu_starts(). */
void mig_gpu_add(const struct mig_type *type, struct mig_gpu *gpu, uint32_t profile,
                 uint32_t start);

/* There must be one. */
void mig_gpu_remove(struct mig_gpu *gpu, uint32_t start);

/* Whether a value from outside is a way in which the GPU can be split: every instance at a legal
 * start, none on another or on a blocked slice, and no limit passed. */
bool mig_gpu_valid(const struct mig_type *type, const struct mig_gpu *gpu);
