/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_calls.h - the functions of libnvidia-ml.so.1 that berth calls.
 *
 * CALL(symbol, older, arguments): the name that is looked up first, the name with the same
 * arguments that older libraries have (or none), and the arguments. A library may lack any of them;
 * where an older name takes other arguments, it is a line of its own. The one list makes both the
 * pointers of the client (struct nvml_calls) and the prototypes of the simulated library. */
#pragma once
#include "gpu/nvml_abi.h"

#define NVML_SYSTEM_CALLS(CALL)                                                                    \
    CALL(nvmlInit_v2, nvmlInit, (void))                                                            \
    CALL(nvmlShutdown, none, (void))                                                               \
    CALL(nvmlSystemGetDriverVersion, none, (char *version, unsigned length))                       \
    CALL(nvmlSystemGetNVMLVersion, none, (char *version, unsigned length))                         \
    CALL(nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetCudaDriverVersion, (int *version))        \
    CALL(nvmlDeviceGetCount_v2, nvmlDeviceGetCount, (unsigned *count))                             \
    CALL(nvmlDeviceGetHandleByIndex_v2, nvmlDeviceGetHandleByIndex,                                \
         (unsigned index, nvml_device *out))                                                       \
    CALL(nvmlDeviceGetHandleByUUID, none, (const char *uuid, nvml_device *out))

#define NVML_DEVICE_CALLS(CALL)                                                                    \
    CALL(nvmlDeviceGetName, none, (nvml_device device, char *name, unsigned length))               \
    CALL(nvmlDeviceGetUUID, none, (nvml_device device, char *uuid, unsigned length))               \
    CALL(nvmlDeviceGetSerial, none, (nvml_device device, char *serial, unsigned length))           \
    CALL(nvmlDeviceGetIndex, none, (nvml_device device, unsigned *index))                          \
    CALL(nvmlDeviceGetMinorNumber, none, (nvml_device device, unsigned *minor))                    \
    CALL(nvmlDeviceGetPciInfo_v3, nvmlDeviceGetPciInfo_v2,                                         \
         (nvml_device device, struct nvml_pci_info * out))                                         \
    CALL(nvmlDeviceGetArchitecture, none, (nvml_device device, unsigned *architecture))            \
    CALL(nvmlDeviceGetCudaComputeCapability, none, (nvml_device device, int *major, int *minor))   \
    CALL(nvmlDeviceGetCpuAffinity, none,                                                           \
         (nvml_device device, unsigned count, unsigned long *words))                               \
    CALL(nvmlDeviceGetMemoryAffinity, none,                                                        \
         (nvml_device device, unsigned count, unsigned long *words, unsigned scope))               \
    CALL(nvmlDeviceGetComputeMode, none, (nvml_device device, int *mode))                          \
    CALL(nvmlDeviceSetComputeMode, none, (nvml_device device, int mode))                           \
    CALL(nvmlDeviceGetPersistenceMode, none, (nvml_device device, int *on))

#define NVML_LOAD_CALLS(CALL)                                                                      \
    CALL(nvmlDeviceGetMemoryInfo, none, (nvml_device device, struct nvml_memory * out))            \
    CALL(nvmlDeviceGetMemoryInfo_v2, none, (nvml_device device, struct nvml_memory_v2 * out))      \
    CALL(nvmlDeviceGetUtilizationRates, none, (nvml_device device, struct nvml_utilization * out)) \
    CALL(nvmlDeviceGetEncoderUtilization, none,                                                    \
         (nvml_device device, unsigned *percent, unsigned *period_us))                             \
    CALL(nvmlDeviceGetDecoderUtilization, none,                                                    \
         (nvml_device device, unsigned *percent, unsigned *period_us))                             \
    CALL(nvmlDeviceGetPowerUsage, none, (nvml_device device, unsigned *milliwatts))                \
    CALL(nvmlDeviceGetEnforcedPowerLimit, none, (nvml_device device, unsigned *milliwatts))        \
    CALL(nvmlDeviceGetTotalEnergyConsumption, none,                                                \
         (nvml_device device, unsigned long long *millijoules))                                    \
    CALL(nvmlDeviceGetTemperature, none, (nvml_device device, int sensor, unsigned *celsius))      \
    CALL(nvmlDeviceGetClockInfo, none, (nvml_device device, int type, unsigned *mhz))              \
    CALL(nvmlDeviceGetPcieReplayCounter, none, (nvml_device device, unsigned *count))              \
    CALL(nvmlDeviceGetFieldValues, none, (nvml_device device, int count, struct nvml_field *fields))

#define NVML_PROCESS_CALLS(CALL)                                                                   \
    CALL(nvmlDeviceGetComputeRunningProcesses_v3, nvmlDeviceGetComputeRunningProcesses_v2,         \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlDeviceGetGraphicsRunningProcesses_v2,       \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlDeviceGetMPSComputeRunningProcesses_v2,   \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetComputeRunningProcesses, none,                                               \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetGraphicsRunningProcesses, none,                                              \
         (nvml_device device, unsigned *count, void *records))                                     \
    CALL(nvmlDeviceGetProcessUtilization, none,                                                    \
         (nvml_device device, struct nvml_process_sample * samples, unsigned *count,               \
          unsigned long long last_us))

#define NVML_TOPOLOGY_CALLS(CALL)                                                                  \
    CALL(nvmlDeviceGetTopologyCommonAncestor, none, (nvml_device a, nvml_device b, int *level))    \
    CALL(nvmlDeviceGetP2PStatus, none, (nvml_device a, nvml_device b, int index, int *status))     \
    CALL(nvmlDeviceGetNvLinkState, none, (nvml_device device, unsigned link, int *active))         \
    CALL(nvmlDeviceGetNvLinkRemotePciInfo_v2, none,                                                \
         (nvml_device device, unsigned link, struct nvml_pci_info *out))                           \
    CALL(nvmlDeviceGetNvLinkRemoteDeviceType, none,                                                \
         (nvml_device device, unsigned link, int *type))                                           \
    CALL(nvmlDeviceGetGpuFabricInfoV, none, (nvml_device device, struct nvml_fabric * out))

#define NVML_MIG_CALLS(CALL)                                                                       \
    CALL(nvmlDeviceGetMigMode, none, (nvml_device device, unsigned *current, unsigned *pending))   \
    CALL(nvmlDeviceSetMigMode, none, (nvml_device device, unsigned mode, nvml_return *status))     \
    CALL(nvmlDeviceGetGpuInstanceProfileInfo, none,                                                \
         (nvml_device device, unsigned index, struct nvml_gi_profile *out))                        \
    CALL(nvmlDeviceGetGpuInstanceProfileInfoV, none,                                               \
         (nvml_device device, unsigned index, struct nvml_gi_profile_v2 *out))                     \
    CALL(nvmlDeviceGetGpuInstancePossiblePlacements_v2,                                            \
         nvmlDeviceGetGpuInstancePossiblePlacements,                                               \
         (nvml_device device, unsigned profile_id, struct nvml_placement *out, unsigned *count))   \
    CALL(nvmlDeviceCreateGpuInstanceWithPlacement, none,                                           \
         (nvml_device device, unsigned profile_id, const struct nvml_placement *placement,         \
          nvml_gi *out))                                                                           \
    CALL(nvmlDeviceCreateGpuInstance, none,                                                        \
         (nvml_device device, unsigned profile_id, nvml_gi *out))                                  \
    CALL(nvmlGpuInstanceDestroy, none, (nvml_gi gi))                                               \
    CALL(nvmlDeviceGetGpuInstances, none,                                                          \
         (nvml_device device, unsigned profile_id, nvml_gi *out, unsigned *count))                 \
    CALL(nvmlDeviceGetGpuInstanceById, none, (nvml_device device, unsigned id, nvml_gi *out))      \
    CALL(nvmlGpuInstanceGetInfo, none, (nvml_gi gi, struct nvml_gi * out))                         \
    CALL(nvmlGpuInstanceGetComputeInstanceProfileInfo, none,                                       \
         (nvml_gi gi, unsigned index, unsigned engines, struct nvml_ci_profile *out))              \
    CALL(nvmlGpuInstanceCreateComputeInstance, none,                                               \
         (nvml_gi gi, unsigned profile_id, nvml_ci *out))                                          \
    CALL(nvmlComputeInstanceDestroy, none, (nvml_ci ci))                                           \
    CALL(nvmlGpuInstanceGetComputeInstances, none,                                                 \
         (nvml_gi gi, unsigned profile_id, nvml_ci *out, unsigned *count))                         \
    CALL(nvmlComputeInstanceGetInfo_v2, nvmlComputeInstanceGetInfo,                                \
         (nvml_ci ci, struct nvml_ci * out))                                                       \
    CALL(nvmlDeviceGetMaxMigDeviceCount, none, (nvml_device device, unsigned *count))              \
    CALL(nvmlDeviceGetMigDeviceHandleByIndex, none,                                                \
         (nvml_device device, unsigned index, nvml_device *out))                                   \
    CALL(nvmlDeviceGetGpuInstanceId, none, (nvml_device device, unsigned *id))                     \
    CALL(nvmlDeviceGetComputeInstanceId, none, (nvml_device device, unsigned *id))                 \
    CALL(nvmlDeviceGetAttributes_v2, nvmlDeviceGetAttributes,                                      \
         (nvml_device device, struct nvml_attributes * out))

#define NVML_HEALTH_CALLS(CALL)                                                                    \
    CALL(nvmlEventSetCreate, none, (nvml_events * out))                                            \
    CALL(nvmlDeviceGetSupportedEventTypes, none, (nvml_device device, unsigned long long *types))  \
    CALL(nvmlDeviceRegisterEvents, none,                                                           \
         (nvml_device device, unsigned long long types, nvml_events events))                       \
    CALL(nvmlEventSetWait_v2, nvmlEventSetWait,                                                    \
         (nvml_events events, struct nvml_event * out, unsigned timeout_ms))                       \
    CALL(nvmlEventSetFree, none, (nvml_events events))                                             \
    CALL(nvmlDeviceGetEccMode, none, (nvml_device device, int *current, int *pending))             \
    CALL(nvmlDeviceGetTotalEccErrors, none,                                                        \
         (nvml_device device, int type, int counter, unsigned long long *count))                   \
    CALL(nvmlDeviceGetRemappedRows, none,                                                          \
         (nvml_device device, unsigned *corrected, unsigned *uncorrected, unsigned *is_pending,    \
          unsigned *has_failed))                                                                   \
    CALL(nvmlDeviceGetRetiredPages, none,                                                          \
         (nvml_device device, int cause, unsigned *count, unsigned long long *addresses))

#define NVML_CALLS(CALL)                                                                           \
    NVML_SYSTEM_CALLS(CALL)                                                                        \
    NVML_DEVICE_CALLS(CALL)                                                                        \
    NVML_LOAD_CALLS(CALL)                                                                          \
    NVML_PROCESS_CALLS(CALL)                                                                       \
    NVML_TOPOLOGY_CALLS(CALL)                                                                      \
    NVML_MIG_CALLS(CALL)                                                                           \
    NVML_HEALTH_CALLS(CALL)
