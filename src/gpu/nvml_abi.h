/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_abi.h - what libnvidia-ml.so.1 looks like in memory: constants, structs and their sizes.
 *
 * berth's own declarations: no header of NVIDIA is used, so nothing but a C compiler is needed to
 * build for machines with GPUs. Names of functions are those that the library exports; all else is
 * named by us. Every struct has its size asserted, and its offsets where padding stands between
 * fields: the layouts are those of x86-64 and aarch64.
 *
 * A versioned struct carries its size and version in its first word (NVML_VERSION_OF); the library
 * answers NVML_BAD_VERSION to a word that it does not know. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int nvml_return;

enum {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3, /* this device does not have it: absent, and no use to ask again */
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7, /* and the count that is needed is written */
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13, /* this library does not have it: absent as well */
    NVML_GPU_IS_LOST = 15,        /* off the bus */
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17, /* the caller's control group hides the device */
    NVML_DRIVER_MISMATCH = 18,  /* the driver was exchanged under a running program */
    NVML_IN_USE = 19,
    NVML_MEMORY = 20,
    NVML_NO_DATA = 21,
    NVML_INSUFFICIENT_RESOURCES = 23,
    NVML_BAD_VERSION = 25,
    NVML_NOT_READY = 27,
    NVML_GPU_NOT_FOUND = 28,
    NVML_INVALID_STATE = 29,
    NVML_UNKNOWN = 999,
};

#define NVML_UUID_SIZE    96 /* with the final NUL; libraries before 510 take 80 as enough */
#define NVML_NAME_SIZE    96
#define NVML_SERIAL_SIZE  30
#define NVML_BUS_ID_SIZE  32
#define NVML_VERSION_SIZE 80
#define NVML_LINKS_MAX    36
#define NVML_NO_ID        UINT32_MAX /* instance ids of what is not in an instance */
#define NVML_NO_VALUE     UINT64_MAX /* memory of a process that the driver does not know */

/* The word in front of a versioned struct. */
#define NVML_VERSION_OF(type, version) ((uint32_t)(sizeof(type) | ((version) << 24)))

/* Handles are opaque, and valid until the library is shut down - but that of a MIG device dies with
 * its compute instance and may then mean another one. */
typedef struct nvml_device_object *nvml_device;
typedef struct nvml_gi_object *nvml_gi;
typedef struct nvml_ci_object *nvml_ci;
typedef struct nvml_events_object *nvml_events;

enum { NVML_ARCH_AMPERE = 7, NVML_ARCH_ADA = 8, NVML_ARCH_HOPPER = 9, NVML_ARCH_BLACKWELL = 10 };

enum { NVML_COMPUTE_DEFAULT = 0, NVML_COMPUTE_PROHIBITED = 2, NVML_COMPUTE_EXCLUSIVE = 3 };

enum { NVML_ECC_CORRECTED = 0, NVML_ECC_UNCORRECTED = 1 };

enum { NVML_ECC_VOLATILE = 0, NVML_ECC_AGGREGATE = 1 }; /* since the driver was loaded; ever */

enum { NVML_MEMORY_LOCATION_DRAM = 2, NVML_MEMORY_LOCATIONS = 8 };

enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_CLOCK_VIDEO = 3 };

/* How near two devices are: where the paths from them to the root of the machine meet. */
enum {
    NVML_LEVEL_BOARD = 0,
    NVML_LEVEL_ONE_SWITCH = 10,
    NVML_LEVEL_SWITCHES = 20,
    NVML_LEVEL_HOST_BRIDGE = 30,
    NVML_LEVEL_NUMA_NODE = 40,
    NVML_LEVEL_SYSTEM = 50,
};

enum { NVML_P2P_READ = 0, NVML_P2P_WRITE = 1, NVML_P2P_NVLINK = 2, NVML_P2P_ATOMICS = 3 };

enum { NVML_P2P_OK = 0, NVML_P2P_NOT_SUPPORTED = 5 };

enum { NVML_REMOTE_GPU = 0, NVML_REMOTE_SWITCH = 2, NVML_REMOTE_UNKNOWN = 0xff };

enum {
    NVML_FIELD_MEMORY_TEMPERATURE = 82,
    NVML_FIELD_ENERGY = 83,     /* mJ since the driver was loaded */
    NVML_FIELD_LINK_SPEED = 90, /* MB/s of one NVLink */
    NVML_FIELD_LINK_COUNT = 91, /* NVLinks of the device */
    NVML_FIELD_LINK_SENT = 138, /* KiB, of link scope_id; UINT32_MAX: of all */
    NVML_FIELD_LINK_RECEIVED = 139,
};

enum { NVML_VALUE_DOUBLE = 0, NVML_VALUE_U32 = 1, NVML_VALUE_ULONG = 2, NVML_VALUE_U64 = 3 };

#define NVML_EVENT_SINGLE_BIT 0x1ull
#define NVML_EVENT_DOUBLE_BIT 0x2ull
#define NVML_EVENT_XID        0x8ull
#define NVML_EVENT_MIG        0x100ull

enum { NVML_GI_PROFILES = 18, NVML_CI_PROFILES = 9 }; /* by index, in the libraries known so far */

struct nvml_pci_info {
    char legacy_bus_id[16];
    uint32_t domain, bus, device;
    uint32_t device_id; /* device << 16 | vendor */
    uint32_t subsystem_id;
    char bus_id[NVML_BUS_ID_SIZE]; /* "00000000:41:00.0" */
};
_Static_assert(sizeof(struct nvml_pci_info) == 68, "layout");
_Static_assert(offsetof(struct nvml_pci_info, bus_id) == 36, "layout");

struct nvml_memory {
    uint64_t total, free, used; /* bytes; used has the reserved part in it */
};
_Static_assert(sizeof(struct nvml_memory) == 24, "layout");

struct nvml_memory_v2 {
    uint32_t version;
    uint64_t total, reserved, free, used; /* bytes; used is without reserved */
};
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "layout");
_Static_assert(offsetof(struct nvml_memory_v2, total) == 8, "layout");

struct nvml_utilization {
    uint32_t gpu, memory; /* percent */
};
_Static_assert(sizeof(struct nvml_utilization) == 8, "layout");

struct nvml_process_v1 {
    uint32_t pid;
    uint64_t used; /* bytes */
};
_Static_assert(sizeof(struct nvml_process_v1) == 16, "layout");

struct nvml_process {
    uint32_t pid;
    uint64_t used;
    uint32_t gi_id, ci_id;
};
_Static_assert(sizeof(struct nvml_process) == 24, "layout");
_Static_assert(offsetof(struct nvml_process, gi_id) == 16, "layout");

/* The record that some 530 and 535 drivers use under the name of the one above. */
struct nvml_process_long {
    uint32_t pid;
    uint64_t used;
    uint32_t gi_id, ci_id;
    uint64_t used_protected;
};
_Static_assert(sizeof(struct nvml_process_long) == 32, "layout");

struct nvml_process_list {
    uint32_t version, mode; /* mode 0 compute, 1 graphics, 2 MPS */
    uint32_t count;
    struct nvml_process_long *items;
};
_Static_assert(sizeof(struct nvml_process_list) == 24, "layout");
_Static_assert(offsetof(struct nvml_process_list, items) == 16, "layout");

struct nvml_process_sample {
    uint32_t pid;
    uint64_t at_us;
    uint32_t sm, memory, encoder, decoder; /* percent */
};
_Static_assert(sizeof(struct nvml_process_sample) == 32, "layout");
_Static_assert(offsetof(struct nvml_process_sample, sm) == 16, "layout");

struct nvml_process_use {
    uint64_t at_us;
    uint32_t pid, sm, memory, encoder, decoder, jpeg, ofa;
};
_Static_assert(sizeof(struct nvml_process_use) == 40, "layout");

struct nvml_process_uses {
    uint32_t version, count;
    uint64_t last_us;
    struct nvml_process_use *items;
};
_Static_assert(sizeof(struct nvml_process_uses) == 24, "layout");

struct nvml_field {
    uint32_t id, scope_id;
    int64_t at_us, latency_us;
    uint32_t type; /* NVML_VALUE_... */
    nvml_return rc;
    union {
        double d;
        uint32_t u32;
        uint64_t u64;
    } value;
};
_Static_assert(sizeof(struct nvml_field) == 40, "layout");
_Static_assert(offsetof(struct nvml_field, value) == 32, "layout");

struct nvml_event {
    nvml_device device;
    uint64_t type, data;   /* one NVML_EVENT_ bit; of an Xid event the Xid */
    uint32_t gi_id, ci_id; /* NVML_NO_ID: the whole device */
};
_Static_assert(sizeof(struct nvml_event) == 32, "layout");

struct nvml_attributes {
    uint32_t sm_count, copy_engines, decoders, encoders, jpegs, ofas, gi_slices, ci_slices;
    uint64_t memory_mib;
};
_Static_assert(sizeof(struct nvml_attributes) == 40, "layout");

struct nvml_placement {
    uint32_t start, size; /* slices of memory in a GPU; slices of SMs in a GPU instance */
};
_Static_assert(sizeof(struct nvml_placement) == 8, "layout");

struct nvml_gi_profile {
    uint32_t id, is_p2p, slices, instances, sm_count, copy_engines, decoders, encoders, jpegs, ofas;
    uint64_t memory_mib;
};
_Static_assert(sizeof(struct nvml_gi_profile) == 48, "layout");

struct nvml_gi_profile_v2 {
    uint32_t version;
    uint32_t id, is_p2p, slices, instances, sm_count, copy_engines, decoders, encoders, jpegs, ofas;
    uint64_t memory_mib;
    char name[NVML_NAME_SIZE];
};
_Static_assert(sizeof(struct nvml_gi_profile_v2) == 152, "layout");
_Static_assert(offsetof(struct nvml_gi_profile_v2, memory_mib) == 48, "layout");

struct nvml_gi {
    nvml_device device;
    uint32_t id, profile_id;
    struct nvml_placement placement;
};
_Static_assert(sizeof(struct nvml_gi) == 24, "layout");

struct nvml_ci_profile {
    uint32_t id, slices, instances, sm_count, copy_engines, decoders, encoders, jpegs, ofas;
};
_Static_assert(sizeof(struct nvml_ci_profile) == 36, "layout");

struct nvml_ci_profile_v2 {
    uint32_t version;
    uint32_t id, slices, instances, sm_count, copy_engines, decoders, encoders, jpegs, ofas;
    char name[NVML_NAME_SIZE];
};
_Static_assert(sizeof(struct nvml_ci_profile_v2) == 136, "layout");

struct nvml_ci {
    nvml_device device;
    nvml_gi gi;
    uint32_t id, profile_id;
    struct nvml_placement placement;
};
_Static_assert(sizeof(struct nvml_ci) == 32, "layout");
_Static_assert(offsetof(struct nvml_ci, placement) == 24, "layout");

struct nvml_temperature {
    uint32_t version, sensor;
    int32_t celsius;
};
_Static_assert(sizeof(struct nvml_temperature) == 12, "layout");

struct nvml_fabric {
    uint32_t version;
    uint8_t cluster_uuid[16];
    nvml_return status;
    uint32_t clique_id;
    uint8_t state; /* 0 not supported, 3 done */
    uint32_t health_mask;
};
_Static_assert(sizeof(struct nvml_fabric) == 36, "layout");
_Static_assert(offsetof(struct nvml_fabric, health_mask) == 32, "layout");
