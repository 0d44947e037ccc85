/* SPDX-License-Identifier: Apache-2.0 */
/* extra.h - what the simulated library exports beside the functions that berth itself calls: those
 * that other programs want (NVIDIA's Python bindings, nvitop). Same form as gpu/nvml_calls.h. */
#pragma once
#include "gpu/nvml_calls.h"

struct nvml_bar1 {
    uint64_t total, free, used;
};
_Static_assert(sizeof(struct nvml_bar1) == 24, "layout");

struct nvml_gi_profile_v3 {
    uint32_t version;
    uint32_t id, slices, instances, sm_count, copy_engines, decoders, encoders, jpegs, ofas;
    uint64_t memory_mib;
    char name[NVML_NAME_SIZE];
    uint32_t capabilities;
};
_Static_assert(sizeof(struct nvml_gi_profile_v3) == 152, "layout");
_Static_assert(offsetof(struct nvml_gi_profile_v3, name) == 48, "layout");

#define SIM_SYSTEM_EXTRAS(CALL)                                                                    \
    CALL(nvmlInit, none, (void))                                                                   \
    CALL(nvmlInitWithFlags, none, (unsigned flags))                                                \
    CALL(nvmlSystemGetProcessName, none, (unsigned pid, char *name, unsigned length))              \
    CALL(nvmlSystemGetCudaDriverVersion, none, (int *version))                                     \
    CALL(nvmlDeviceGetCount, none, (unsigned *count))                                              \
    CALL(nvmlDeviceGetHandleByIndex, none, (unsigned index, nvml_device *out))                     \
    CALL(nvmlDeviceGetHandleByPciBusId_v2, none, (const char *bus_id, nvml_device *out))           \
    CALL(nvmlDeviceGetHandleBySerial, none, (const char *serial, nvml_device *out))

#define SIM_DEVICE_EXTRAS(CALL)                                                                    \
    CALL(nvmlDeviceGetBrand, none, (nvml_device device, int *brand))                               \
    CALL(nvmlDeviceGetPciInfo, none, (nvml_device device, struct nvml_pci_info * out))             \
    CALL(nvmlDeviceGetPciInfo_v2, none, (nvml_device device, struct nvml_pci_info * out))          \
    CALL(nvmlDeviceGetVbiosVersion, none, (nvml_device device, char *version, unsigned length))    \
    CALL(nvmlDeviceGetNumaNodeId, none, (nvml_device device, unsigned *node))                      \
    CALL(nvmlDeviceGetNumGpuCores, none, (nvml_device device, unsigned *count))                    \
    CALL(nvmlDeviceGetDisplayMode, none, (nvml_device device, int *on))                            \
    CALL(nvmlDeviceGetDisplayActive, none, (nvml_device device, int *on))                          \
    CALL(nvmlDeviceSetPersistenceMode, none, (nvml_device device, int on))                         \
    CALL(nvmlDeviceGetAccountingMode, none, (nvml_device device, int *on))                         \
    CALL(nvmlDeviceGetAccountingBufferSize, none, (nvml_device device, unsigned *size))            \
    CALL(nvmlDeviceGetPerformanceState, none, (nvml_device device, int *state))                    \
    CALL(nvmlDeviceGetFanSpeed, none, (nvml_device device, unsigned *percent))                     \
    CALL(nvmlDeviceGetCurrPcieLinkGeneration, none, (nvml_device device, unsigned *generation))    \
    CALL(nvmlDeviceGetCurrPcieLinkWidth, none, (nvml_device device, unsigned *width))              \
    CALL(nvmlDeviceGetMaxPcieLinkGeneration, none, (nvml_device device, unsigned *generation))     \
    CALL(nvmlDeviceGetMaxPcieLinkWidth, none, (nvml_device device, unsigned *width))

#define SIM_LOAD_EXTRAS(CALL)                                                                      \
    CALL(nvmlDeviceGetBAR1MemoryInfo, none, (nvml_device device, struct nvml_bar1 * out))          \
    CALL(nvmlDeviceGetPowerManagementLimit, none, (nvml_device device, unsigned *milliwatts))      \
    CALL(nvmlDeviceGetPowerManagementDefaultLimit, none,                                           \
         (nvml_device device, unsigned *milliwatts))                                               \
    CALL(nvmlDeviceGetPowerManagementLimitConstraints, none,                                       \
         (nvml_device device, unsigned *least, unsigned *most))                                    \
    CALL(nvmlDeviceSetPowerManagementLimit, none, (nvml_device device, unsigned milliwatts))       \
    CALL(nvmlDeviceGetTemperatureV, none, (nvml_device device, struct nvml_temperature * out))     \
    CALL(nvmlDeviceGetMaxClockInfo, none, (nvml_device device, int type, unsigned *mhz))           \
    CALL(nvmlDeviceGetCurrentClocksEventReasons, none,                                             \
         (nvml_device device, unsigned long long *reasons))                                        \
    CALL(nvmlDeviceGetCurrentClocksThrottleReasons, none,                                          \
         (nvml_device device, unsigned long long *reasons))                                        \
    CALL(nvmlDeviceGetPcieThroughput, none, (nvml_device device, int counter, unsigned *kbps))     \
    CALL(nvmlDeviceGetMemoryErrorCounter, none,                                                    \
         (nvml_device device, int type, int counter, int location, unsigned long long *count))

#define SIM_PROCESS_EXTRAS(CALL)                                                                   \
    CALL(nvmlDeviceGetComputeRunningProcesses_v2, none,                                            \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetGraphicsRunningProcesses_v2, none,                                           \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetMPSComputeRunningProcesses_v2, none,                                         \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetRunningProcessDetailList, none,                                              \
         (nvml_device device, struct nvml_process_list * list))                                    \
    CALL(nvmlDeviceGetProcessesUtilizationInfo, none,                                              \
         (nvml_device device, struct nvml_process_uses * uses))

#define SIM_TOPOLOGY_EXTRAS(CALL)                                                                  \
    CALL(nvmlDeviceGetTopologyNearestGpus, none,                                                   \
         (nvml_device device, int level, unsigned *count, nvml_device *out))                       \
    CALL(nvmlDeviceGetNvLinkVersion, none, (nvml_device device, unsigned link, unsigned *version)) \
    CALL(nvmlDeviceGetNvLinkCapability, none,                                                      \
         (nvml_device device, unsigned link, int capability, unsigned *out))                       \
    CALL(nvmlDeviceGetNvLinkErrorCounter, none,                                                    \
         (nvml_device device, unsigned link, int counter, unsigned long long *out))

#define SIM_MIG_EXTRAS(CALL)                                                                       \
    CALL(nvmlDeviceIsMigDeviceHandle, none, (nvml_device device, unsigned *is))                    \
    CALL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, none,                                       \
         (nvml_device device, nvml_device * out))                                                  \
    CALL(nvmlDeviceGetGpuInstanceProfileInfoByIdV, none,                                           \
         (nvml_device device, unsigned id, struct nvml_gi_profile_v2 *out))                        \
    CALL(nvmlDeviceGetGpuInstancePossiblePlacements, none,                                         \
         (nvml_device device, unsigned profile_id, struct nvml_placement *out, unsigned *count))   \
    CALL(nvmlDeviceGetGpuInstanceRemainingCapacity, none,                                          \
         (nvml_device device, unsigned profile_id, unsigned *count))                               \
    CALL(nvmlGpuInstanceGetComputeInstanceProfileInfoV, none,                                      \
         (nvml_gi gi, unsigned index, unsigned engines, struct nvml_ci_profile_v2 *out))           \
    CALL(nvmlGpuInstanceGetComputeInstancePossiblePlacements, none,                                \
         (nvml_gi gi, unsigned profile_id, struct nvml_placement *out, unsigned *count))           \
    CALL(nvmlGpuInstanceGetComputeInstanceRemainingCapacity, none,                                 \
         (nvml_gi gi, unsigned profile_id, unsigned *count))                                       \
    CALL(nvmlGpuInstanceCreateComputeInstanceWithPlacement, none,                                  \
         (nvml_gi gi, unsigned profile_id, const struct nvml_placement *placement, nvml_ci *out))  \
    CALL(nvmlGpuInstanceGetComputeInstanceById, none, (nvml_gi gi, unsigned id, nvml_ci *out))     \
    CALL(nvmlComputeInstanceGetInfo, none, (nvml_ci ci, struct nvml_ci * out))

#define SIM_PROTOTYPE(symbol, older, arguments)                                                    \
    __attribute__((visibility("default"))) nvml_return symbol arguments;
NVML_CALLS(SIM_PROTOTYPE)
SIM_SYSTEM_EXTRAS(SIM_PROTOTYPE)
SIM_DEVICE_EXTRAS(SIM_PROTOTYPE)
SIM_LOAD_EXTRAS(SIM_PROTOTYPE)
SIM_PROCESS_EXTRAS(SIM_PROTOTYPE)
SIM_TOPOLOGY_EXTRAS(SIM_PROTOTYPE)
SIM_MIG_EXTRAS(SIM_PROTOTYPE)
#undef SIM_PROTOTYPE

__attribute__((visibility("default"))) const char *nvmlErrorString(nvml_return rc);
