#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bindings.py SIM - NVIDIA's own Python bindings (nvidia-ml-py) read the simulated library.

The bindings have their own declarations of every struct, so a wrong size or offset of ours shows
here. SIM is the folder with libnvidia-ml.so.1."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench import Machine, enter_venv, run_tests, wait_for  # noqa: E402

SIM = sys.argv[1]
enter_venv(SIM)
import pynvml as nv  # noqa: E402

GIB = 1 << 30
MIB = 1 << 20


class Open(Machine):
    """A machine with NVML started on it."""

    def __init__(self, description):
        super().__init__(SIM, description)

    def __enter__(self):
        super().__enter__()
        nv.nvmlInit()
        return self

    def __exit__(self, *rest):
        nv.nvmlShutdown()
        super().__exit__(*rest)

    def gpu(self, index=0):
        return nv.nvmlDeviceGetHandleByIndex(index)


def raises(error, function, *args):
    try:
        function(*args)
    except nv.NVMLError as e:
        assert e.value == error, (function.__name__, args, e.value, error)
        return
    raise AssertionError(f'{function.__name__}{args} raises nothing')


def versions_and_names_are_read():
    with Open('h100x8') as m:
        assert nv.nvmlSystemGetDriverVersion() == '580.82.07'
        assert nv.nvmlSystemGetNVMLVersion() == '13.580.82.07'
        assert nv.nvmlSystemGetCudaDriverVersion() == 13000
        assert nv.nvmlDeviceGetCount() == 8
        assert nv.nvmlDeviceGetName(m.gpu()) == 'NVIDIA H100 80GB HBM3'
        assert nv.nvmlDeviceGetBrand(m.gpu()) == nv.NVML_BRAND_NVIDIA
        assert nv.nvmlDeviceGetArchitecture(m.gpu()) == nv.NVML_DEVICE_ARCH_HOPPER
        assert nv.nvmlDeviceGetCudaComputeCapability(m.gpu()) == (9, 0)
        assert len(nv.nvmlDeviceGetUUID(m.gpu())) == 40


def every_device_is_found_by_all_its_names():
    with Open('a100x4') as m:
        for i in range(4):
            handle = m.gpu(i)
            pci = nv.nvmlDeviceGetPciInfo(handle)
            assert pci.busId == f'00000000:{pci.bus:02X}:00.0', pci.busId
            assert pci.busIdLegacy == f'0000:{pci.bus:02X}:00.0', pci.busIdLegacy
            assert pci.pciDeviceId == 0x20b210de
            for other in (nv.nvmlDeviceGetHandleByUUID(nv.nvmlDeviceGetUUID(handle)),
                          nv.nvmlDeviceGetHandleByPciBusId(pci.busId),
                          nv.nvmlDeviceGetHandleBySerial(nv.nvmlDeviceGetSerial(handle))):
                assert nv.nvmlDeviceGetIndex(other) == i
            assert nv.nvmlDeviceGetMinorNumber(handle) == i


def memory_is_the_same_in_both_versions():
    with Open('h100x8') as m:
        m.ctl('load', '0', 'stray=3G')
        first = nv.nvmlDeviceGetMemoryInfo(m.gpu())
        second = nv.nvmlDeviceGetMemoryInfo(m.gpu(), nv.nvmlMemory_v2)
        assert first.total == second.total == 81559 * MIB
        assert second.used == 3 * GIB and second.reserved == 551 * MIB
        assert first.used == second.used + second.reserved
        assert first.free == second.free == first.total - first.used
        assert nv.nvmlDeviceGetBAR1MemoryInfo(m.gpu()).bar1Total == 131072 * MIB


def a_wrong_version_of_a_struct_is_refused():
    with Open('l4x1') as m:
        raises(nv.NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nv.nvmlDeviceGetMemoryInfo, m.gpu(), 7)


def load_power_temperature_and_clocks_are_read():
    with Open('h100x8') as m:
        m.ctl('load', '0', 'busy=50', 'memory=20', 'celsius=61')
        rates = nv.nvmlDeviceGetUtilizationRates(m.gpu())
        assert (rates.gpu, rates.memory) == (50, 20)
        assert nv.nvmlDeviceGetEncoderUtilization(m.gpu())[0] == 0
        assert nv.nvmlDeviceGetPowerUsage(m.gpu()) == 385000
        assert nv.nvmlDeviceGetEnforcedPowerLimit(m.gpu()) == 700000
        assert nv.nvmlDeviceGetPowerManagementLimitConstraints(m.gpu()) == [350000, 700000]
        assert nv.nvmlDeviceGetTemperature(m.gpu(), nv.NVML_TEMPERATURE_GPU) == 61
        assert nv.nvmlDeviceGetTemperatureV(m.gpu(), nv.NVML_TEMPERATURE_GPU) == 61
        assert nv.nvmlDeviceGetClockInfo(m.gpu(), nv.NVML_CLOCK_SM) == 1980
        assert nv.nvmlDeviceGetMaxClockInfo(m.gpu(), nv.NVML_CLOCK_MEM) == 2619
        before = nv.nvmlDeviceGetTotalEnergyConsumption(m.gpu())
        wait_for(lambda: nv.nvmlDeviceGetTotalEnergyConsumption(m.gpu()) > before)


def field_values_carry_their_types():
    with Open('h100x8') as m:
        fields = nv.nvmlDeviceGetFieldValues(m.gpu(), [
            nv.NVML_FI_DEV_MEMORY_TEMP, nv.NVML_FI_DEV_NVLINK_LINK_COUNT,
            nv.NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, nv.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION,
            nv.NVML_FI_DEV_ECC_CURRENT])
        assert [f.nvmlReturn for f in fields] == [0, 0, 0, 0, nv.NVML_ERROR_NOT_SUPPORTED]
        assert fields[0].value.uiVal == 38
        assert fields[1].value.uiVal == 18
        assert fields[2].value.uiVal == 26562
        assert fields[3].valueType == nv.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG


def processes_are_listed_by_every_version_of_the_call():
    with Open('h100x8') as m:
        assert nv.nvmlDeviceGetComputeRunningProcesses(m.gpu()) == []
        for i in range(30):
            m.ctl('process', '0', f'pid={70000 + i}', f'memory={i + 1}M', 'unreal=1')
        for call in (nv.nvmlDeviceGetComputeRunningProcesses_v2,
                     nv.nvmlDeviceGetComputeRunningProcesses_v3):
            found = call(m.gpu())
            assert [p.pid for p in found] == list(range(70000, 70030))
            assert [p.usedGpuMemory for p in found] == [(i + 1) * MIB for i in range(30)]
            assert found[0].gpuInstanceId == 0xffffffff
        detail = nv.nvmlDeviceGetRunningProcessDetailList(
            m.gpu(), nv.nvmlProcessDetailList_v1, nv.NVML_PROCESS_MODE_COMPUTE)
        assert [p.pid for p in detail] == list(range(70000, 70030))
        assert detail[7].usedGpuMemory == 8 * MIB


def the_kinds_of_processes_are_lists_of_their_own():
    with Open('h100x8') as m:
        m.ctl('process', '0', 'pid=70001', 'memory=1G', 'unreal=1')
        m.ctl('process', '0', 'pid=70002', 'memory=1G', 'kind=graphics', 'unreal=1')
        m.ctl('process', '0', 'pid=70003', 'kind=mps', 'unknown=1', 'unreal=1')
        assert [p.pid for p in nv.nvmlDeviceGetGraphicsRunningProcesses(m.gpu())] == [70002]
        found = nv.nvmlDeviceGetMPSComputeRunningProcesses(m.gpu())
        assert [p.pid for p in found] == [70003]
        assert found[0].usedGpuMemory is None


def a_program_that_runs_is_seen_with_its_memory_and_name():
    with Open('h100x8') as m:
        task = m.task('--memory', '3G', '--busy', '40')
        found = wait_for(lambda: nv.nvmlDeviceGetComputeRunningProcesses(m.gpu()))
        assert [(p.pid, p.usedGpuMemory) for p in found] == [(task.pid, 3 * GIB)]
        assert nv.nvmlSystemGetProcessName(task.pid).endswith('berth-sim-task')
        sample, = nv.nvmlDeviceGetProcessUtilization(m.gpu(), 0)
        assert (sample.pid, sample.smUtil, sample.memUtil) == (task.pid, 40, 20)
        use, = nv.nvmlDeviceGetProcessesUtilizationInfo(m.gpu(), 0)
        assert (use.pid, use.smUtil) == (task.pid, 40)
        assert nv.nvmlDeviceGetUtilizationRates(m.gpu()).gpu == 40
        task.kill()
        task.wait()
        assert nv.nvmlDeviceGetComputeRunningProcesses(m.gpu()) == []
        assert nv.nvmlDeviceGetMemoryInfo(m.gpu(), nv.nvmlMemory_v2).used == 0
        raises(nv.NVML_ERROR_NOT_FOUND, nv.nvmlDeviceGetProcessUtilization, m.gpu(), 0)


def links_and_ancestors_are_read():
    with Open('gpus 3 model=a100 numa=0,0,1\nnvlink 0 1 links=4\nnear 0 1 level=switches\n') as m:
        a, b, c = m.gpu(0), m.gpu(1), m.gpu(2)
        assert nv.nvmlDeviceGetTopologyCommonAncestor(a, b) == nv.NVML_TOPOLOGY_MULTIPLE
        assert nv.nvmlDeviceGetTopologyCommonAncestor(a, c) == nv.NVML_TOPOLOGY_SYSTEM
        near = nv.nvmlDeviceGetTopologyNearestGpus(a, nv.NVML_TOPOLOGY_SYSTEM)
        assert [nv.nvmlDeviceGetIndex(h) for h in near] == [2]
        assert nv.nvmlDeviceGetP2PStatus(a, b, nv.NVML_P2P_CAPS_INDEX_NVLINK) == 0
        assert nv.nvmlDeviceGetP2PStatus(a, c, nv.NVML_P2P_CAPS_INDEX_NVLINK) == \
            nv.NVML_P2P_STATUS_NOT_SUPPORTED
        active = [nv.nvmlDeviceGetNvLinkState(a, i) for i in range(12)]
        assert active == [1] * 4 + [0] * 8
        raises(nv.NVML_ERROR_INVALID_ARGUMENT, nv.nvmlDeviceGetNvLinkState, a, 12)
        remote = nv.nvmlDeviceGetNvLinkRemotePciInfo(a, 0)
        assert remote.busId == nv.nvmlDeviceGetPciInfo(b).busId
        assert nv.nvmlDeviceGetNvLinkRemoteDeviceType(a, 0) == nv.NVML_NVLINK_DEVICE_TYPE_GPU
        assert nv.nvmlDeviceGetNvLinkVersion(a, 0) == 3


def the_mig_profiles_are_those_of_the_board():
    with Open('h100x8') as m:
        found = {}
        for index in range(nv.NVML_GPU_INSTANCE_PROFILE_COUNT):
            try:
                info = nv.nvmlDeviceGetGpuInstanceProfileInfo(m.gpu(), index, version=2)
            except nv.NVMLError_NotSupported:
                continue
            except nv.NVMLError_InvalidArgument:
                break
            found[info.id] = (info.name, info.sliceCount, info.instanceCount, info.memorySizeMB)
        assert found == {19: ('MIG 1g.10gb', 1, 7, 9984), 20: ('MIG 1g.10gb+me', 1, 1, 9984),
                         15: ('MIG 1g.20gb', 1, 4, 20096), 14: ('MIG 2g.20gb', 2, 3, 20096),
                         9: ('MIG 3g.40gb', 3, 2, 40448), 5: ('MIG 4g.40gb', 4, 1, 40448),
                         0: ('MIG 7g.80gb', 7, 1, 81152)}, found


def mig_instances_live_and_die():
    with Open('h100x8') as m:
        gpu = m.gpu()
        assert nv.nvmlDeviceGetMigMode(gpu) == [0, 0]
        assert nv.nvmlDeviceSetMigMode(gpu, 1) == 0
        assert nv.nvmlDeviceGetMigMode(gpu) == [1, 1]
        assert nv.nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, 19) == 7
        gi = nv.nvmlDeviceCreateGpuInstance(gpu, 9)
        info = nv.nvmlGpuInstanceGetInfo(gi)
        assert (info.id, info.profileId) == (2, 9)
        assert (info.placement.start, info.placement.size) == (4, 4)
        raises(nv.NVML_ERROR_NOT_FOUND, nv.nvmlDeviceGetMigDeviceHandleByIndex, gpu, 0)
        ci = nv.nvmlGpuInstanceCreateComputeInstance(gi, 2)
        assert nv.nvmlComputeInstanceGetInfo(ci).profileId == 2
        mig = nv.nvmlDeviceGetMigDeviceHandleByIndex(gpu, 0)
        assert nv.nvmlDeviceIsMigDeviceHandle(mig).value == 1
        assert nv.nvmlDeviceGetName(mig) == 'NVIDIA H100 80GB HBM3 MIG 3g.40gb'
        assert nv.nvmlDeviceGetUUID(mig).startswith('MIG-')
        assert nv.nvmlDeviceGetIndex(nv.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig)) == 0
        assert nv.nvmlDeviceGetGpuInstanceId(mig) == 2
        assert nv.nvmlDeviceGetComputeInstanceId(mig) == 0
        assert nv.nvmlDeviceGetMemoryInfo(mig).total == 40448 * MIB
        attributes = nv.nvmlDeviceGetAttributes(mig)
        assert (attributes.multiprocessorCount, attributes.memorySizeMB) == (60, 40448)
        raises(nv.NVML_ERROR_IN_USE, nv.nvmlGpuInstanceDestroy, gi)
        nv.nvmlComputeInstanceDestroy(ci)
        raises(nv.NVML_ERROR_INVALID_ARGUMENT, nv.nvmlDeviceGetName, mig)
        nv.nvmlGpuInstanceDestroy(gi)
        assert nv.nvmlDeviceGetGpuInstanceRemainingCapacity(gpu, 19) == 7


def a_program_in_a_mig_instance_is_seen_there_and_on_the_board():
    with Open('gpus 1 model=h100\nmig 0 on\ninstance 0 3g.40gb start=4\n'
              'instance 0 1g.10gb start=0\n') as m:
        migs = [nv.nvmlDeviceGetMigDeviceHandleByIndex(m.gpu(), i) for i in range(2)]
        task = m.task('--memory', '5G', gpu=nv.nvmlDeviceGetUUID(migs[1]))
        found = wait_for(lambda: nv.nvmlDeviceGetComputeRunningProcesses(m.gpu()))
        assert [(p.pid, p.gpuInstanceId, p.computeInstanceId) for p in found] == \
            [(task.pid, nv.nvmlDeviceGetGpuInstanceId(migs[1]), 0)]
        assert nv.nvmlDeviceGetComputeRunningProcesses(migs[0]) == []
        assert [p.pid for p in nv.nvmlDeviceGetComputeRunningProcesses(migs[1])] == [task.pid]
        assert nv.nvmlDeviceGetMemoryInfo(migs[1]).used == 5 * GIB
        assert nv.nvmlDeviceGetMemoryInfo(migs[0]).used == 0
        raises(nv.NVML_ERROR_NOT_SUPPORTED, nv.nvmlDeviceGetUtilizationRates, m.gpu())
        raises(nv.NVML_ERROR_NOT_SUPPORTED, nv.nvmlDeviceGetProcessUtilization, m.gpu(), 0)


def boards_without_mig_say_so():
    with Open('l4x1') as m:
        raises(nv.NVML_ERROR_NOT_SUPPORTED, nv.nvmlDeviceGetMigMode, m.gpu())
        raises(nv.NVML_ERROR_NOT_SUPPORTED, nv.nvmlDeviceGetNvLinkState, m.gpu(), 0)


def events_arrive_with_their_xid():
    with Open('h100x8') as m:
        events = nv.nvmlEventSetCreate()
        raises(nv.NVML_ERROR_NOT_SUPPORTED, nv.nvmlDeviceRegisterEvents, m.gpu(), 1 << 40, events)
        wanted = nv.nvmlEventTypeXidCriticalError
        assert nv.nvmlDeviceGetSupportedEventTypes(m.gpu()) & wanted
        nv.nvmlDeviceRegisterEvents(m.gpu(2), wanted, events)
        raises(nv.NVML_ERROR_TIMEOUT, nv.nvmlEventSetWait_v2, events, 10)
        m.ctl('xid', '1', '48')
        m.ctl('xid', '2', '31', 'gi=3', 'ci=0')
        data = nv.nvmlEventSetWait_v2(events, 1000)
        assert (data.eventType, data.eventData, data.gpuInstanceId) == (wanted, 31, 3)
        assert nv.nvmlDeviceGetIndex(data.device) == 2
        raises(nv.NVML_ERROR_TIMEOUT, nv.nvmlEventSetWait_v2, events, 10)
        nv.nvmlEventSetFree(events)


def errors_of_memory_are_counted():
    with Open('h100x8') as m:
        m.ctl('ecc', '0', 'corrected', 'count=5')
        m.ctl('ecc', '0', 'uncorrected', 'location=7')
        m.ctl('rows', '0', 'corrected=2', 'pending=1')
        assert nv.nvmlDeviceGetEccMode(m.gpu()) == [1, 1]
        assert nv.nvmlDeviceGetTotalEccErrors(m.gpu(), 0, nv.NVML_VOLATILE_ECC) == 5
        assert nv.nvmlDeviceGetTotalEccErrors(m.gpu(), 1, nv.NVML_AGGREGATE_ECC) == 1
        assert nv.nvmlDeviceGetMemoryErrorCounter(m.gpu(), 1, nv.NVML_VOLATILE_ECC,
                                                  nv.NVML_MEMORY_LOCATION_SRAM) == 1
        assert list(nv.nvmlDeviceGetRemappedRows(m.gpu())) == [2, 0, 1, 0]


def a_lost_gpu_answers_that_it_is_lost():
    with Open('h100x8') as m:
        handle = m.gpu(3)
        m.ctl('lose', '3')
        raises(nv.NVML_ERROR_GPU_IS_LOST, nv.nvmlDeviceGetMemoryInfo, handle)
        raises(nv.NVML_ERROR_GPU_IS_LOST, nv.nvmlDeviceGetHandleByIndex, 3)
        assert nv.nvmlDeviceGetCount() == 8
        nv.nvmlDeviceGetMemoryInfo(m.gpu(4))


def calls_before_the_start_and_after_a_reload_are_refused():
    with Open('l4x1') as m:
        handle = m.gpu()
        m.ctl('reload')
        raises(nv.NVML_ERROR_UNINITIALIZED, nv.nvmlDeviceGetName, handle)
        nv.nvmlShutdown()
        raises(nv.NVML_ERROR_UNINITIALIZED, nv.nvmlDeviceGetCount)
        nv.nvmlInit()
        assert nv.nvmlDeviceGetName(m.gpu()) == 'NVIDIA L4'


def modes_are_set():
    with Open('l4x1') as m:
        assert nv.nvmlDeviceGetComputeMode(m.gpu()) == nv.NVML_COMPUTEMODE_DEFAULT
        nv.nvmlDeviceSetComputeMode(m.gpu(), nv.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS)
        assert nv.nvmlDeviceGetComputeMode(m.gpu()) == nv.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
        nv.nvmlDeviceSetPersistenceMode(m.gpu(), 1)
        assert nv.nvmlDeviceGetPersistenceMode(m.gpu()) == 1
        nv.nvmlDeviceSetPowerManagementLimit(m.gpu(), 60000)
        assert nv.nvmlDeviceGetPowerManagementLimit(m.gpu()) == 60000


run_tests([
    versions_and_names_are_read, every_device_is_found_by_all_its_names,
    memory_is_the_same_in_both_versions, a_wrong_version_of_a_struct_is_refused,
    load_power_temperature_and_clocks_are_read, field_values_carry_their_types,
    processes_are_listed_by_every_version_of_the_call,
    the_kinds_of_processes_are_lists_of_their_own,
    a_program_that_runs_is_seen_with_its_memory_and_name, links_and_ancestors_are_read,
    the_mig_profiles_are_those_of_the_board, mig_instances_live_and_die,
    a_program_in_a_mig_instance_is_seen_there_and_on_the_board, boards_without_mig_say_so,
    events_arrive_with_their_xid, errors_of_memory_are_counted,
    a_lost_gpu_answers_that_it_is_lost, calls_before_the_start_and_after_a_reload_are_refused,
    modes_are_set,
])
