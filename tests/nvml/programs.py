#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py SIM - the programs beside the simulated library: nvidia-smi, the MPS daemon, and the
task that uses GPUs."""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench import Machine, run_tests, wait_for  # noqa: E402

SIM = sys.argv[1]


def open_machine(description):
    return Machine(SIM, description)


def mps(m, *lines):
    return m.run('nvidia-cuda-mps-control', text='\n'.join(lines) + '\n')


def start_mps(m):
    daemon = m.start('nvidia-cuda-mps-control', '-f')
    wait_for(lambda: os.path.exists(os.path.join(m.folder.name, 'mps', 'control')))
    return daemon


def clients(m, count):
    """The pids of the clients, once there are count of them."""
    return wait_for(lambda: (lambda found: found if len(found) == count else None)
                    (mps(m, 'get_device_client_list').split()))


def presets_are_printed_as_descriptions():
    with open_machine('l4x1') as m:
        shown = m.run('berth-sim-gpu', 'presets')
        for name in ('h100x8', 'a100x4', 'l4x1'):
            assert f'# {name}\n' in shown
        assert 'nvlink switch' in shown


def smi_lists_gpus_and_mig_devices():
    with open_machine('gpus 2 model=h100\nmig 1 on\ninstance 1 3g.40gb start=4\n') as m:
        lines = m.run('nvidia-smi', '-L').splitlines()
        assert lines[0].startswith('GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-')
        assert lines[2].startswith('  MIG 3g.40gb     Device  0: (UUID: MIG-'), lines[2]


def smi_shows_how_gpus_are_linked():
    with open_machine('h100x8') as m:
        lines = m.run('nvidia-smi', 'topo', '-m').splitlines()
        assert lines[1].split('\t')[:4] == ['GPU0', ' X ', 'NV18', 'NV18']
    with open_machine('gpus 2 model=l4 numa=0,1\n') as m:
        assert m.run('nvidia-smi', 'topo', '-m').splitlines()[2].split('\t')[1] == 'SYS'


def smi_sets_the_time_slice():
    with open_machine('gpus 2 model=l4\n') as m:
        m.run('nvidia-smi', 'compute-policy', '-i', '1', '--set-timeslice=1')
        shown = m.run('nvidia-smi', 'compute-policy', '--list')
        assert shown.count('Timeslice : Default') == 1 and shown.count('Timeslice : Short') == 1
        m.run('nvidia-smi', 'compute-policy', '--set-timeslice=4', code=2)
        m.run('nvidia-smi', 'compute-policy', '-i', '7', '--set-timeslice=1', code=6)
    with open_machine('gpus 1 model=h100\nmig 0 on\n') as m:
        m.run('nvidia-smi', 'compute-policy', '--set-timeslice=1', code=3)


def a_task_that_does_not_fit_is_out_of_memory():
    with open_machine('l4x1') as m:
        m.task('--memory', '15G')
        wait_for(lambda: 'process' in m.run('berth-sim-gpu', 'show'))
        said = m.run('berth-sim-task', '--memory', '10G', code=3)
        assert 'out of memory' in said, said


def a_task_ends_as_it_is_told():
    with open_machine('l4x1') as m:
        m.run('berth-sim-task', '--time', '10ms', '--exit', '0')
        m.run('berth-sim-task', '--time', '10ms', '--exit', '7', code=7)
        task = m.task('--checkpoint')
        wait_for(lambda: 'process' in m.run('berth-sim-gpu', 'show'))
        task.send_signal(signal.SIGUSR1)
        assert task.wait(timeout=60) == 85
        task = m.task()
        wait_for(lambda: 'process' in m.run('berth-sim-gpu', 'show'))
        task.terminate()
        assert task.wait(timeout=60) == 143


def a_task_sees_only_the_devices_it_is_given():
    with open_machine('gpus 2 model=l4\n') as m:
        uuid = m.run('nvidia-smi', '-L').splitlines()[1].split('UUID: ')[1].rstrip(')')
        m.task('--memory', '2G', gpu=uuid)
        shown = wait_for(lambda: (lambda text: text if 'process' in text else None)
                         (m.run('berth-sim-gpu', 'show')))
        assert '0 of 23034 MiB used' in shown.splitlines()[0]
        assert '2048 of 23034 MiB used' in shown.splitlines()[1]
        for nothing in ('', '9', 'GPU-nobody', '-1'):
            m.run('berth-sim-task', code=4, env={'CUDA_VISIBLE_DEVICES': nothing})


def a_task_on_a_gpu_that_is_lost_fails():
    with open_machine('l4x1') as m:
        task = m.task()
        wait_for(lambda: 'process' in m.run('berth-sim-gpu', 'show'))
        m.ctl('lose', '0')
        assert task.wait(timeout=60) == 5


def mps_takes_clients_and_lists_them():
    with open_machine('h100x8') as m:
        start_mps(m)
        assert mps(m, 'get_server_list') == ''
        tasks = [m.task('--memory', '1G'), m.task('--memory', '2G')]
        assert sorted(clients(m, 2)) == sorted(str(t.pid) for t in tasks)
        server, = mps(m, 'get_server_list').split()
        assert mps(m, f'get_server_status {server}') == 'ACTIVE\n'
        assert sorted(mps(m, f'get_client_list {server}').split()) == sorted(clients(m, 2))
        assert mps(m, 'ps').count(server) == 2
        shown = wait_for(lambda: (lambda text: text if text.count('(MPS)') == 2 else None)
                         (m.run('berth-sim-gpu', 'show')))
        assert f'process {server}: 30 MiB' in shown
        tasks[0].kill()
        clients(m, 1)
        mps(m, f'terminate_client {server} {tasks[1].pid}')
        assert tasks[1].wait(timeout=60) == 5
        mps(m, 'quit')
        wait_for(lambda: not os.path.exists(os.path.join(m.folder.name, 'mps', 'control')))
        wait_for(lambda: 'process' not in m.run('berth-sim-gpu', 'show'))


def mps_limits_hold_for_new_servers_and_clients():
    with open_machine('h100x8') as m:
        start_mps(m)
        assert mps(m, 'set_default_active_thread_percentage 30') == '30.0\n'
        mps(m, 'set_default_device_pinned_mem_limit 0 1500M')
        assert mps(m, 'get_default_device_pinned_mem_limit 0') == '1G\n'
        said = m.run('berth-sim-task', '--memory', '2G', code=3)
        assert 'the MPS limit is 1500 MiB' in said, said
        m.run('berth-sim-task', '--memory', '2G', code=3,
              env={'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT': '0=9G'})
        m.run('berth-sim-task', '--memory', '1200M', code=3,
              env={'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT': '0=1G'})
        m.task('--memory', '1G', '--busy', '90')
        wait_for(lambda: 'busy 30 %' in m.run('berth-sim-gpu', 'show'))
        server, = mps(m, 'get_server_list').split()
        mps(m, f'set_active_thread_percentage {server} 20')
        assert mps(m, f'get_active_thread_percentage {server}') == '20.0\n'
        assert mps(m, 'get_default_active_thread_percentage') == '30.0\n'
        assert 'invalid' in mps(m, 'set_default_active_thread_percentage 101')


def a_fault_of_one_client_takes_all_of_its_server():
    with open_machine('h100x8') as m:
        start_mps(m)
        tasks = [m.task('--memory', '1G') for _ in range(3)]
        clients(m, 3)
        server, = mps(m, 'get_server_list').split()
        mps(m, f'sim_fault {server}')
        ends = [(t.wait(timeout=60), t.stderr.read()) for t in tasks]
        assert [code for code, _ in ends] == [5, 5, 5], ends
        wait_for(lambda: mps(m, f'get_server_status {server}') == 'ACTIVE\n')
        m.task('--memory', '1G')
        clients(m, 1)


def a_server_that_dies_takes_its_clients_and_is_started_anew():
    with open_machine('h100x8') as m:
        start_mps(m)
        task = m.task('--memory', '1G')
        clients(m, 1)
        server, = mps(m, 'get_server_list').split()
        os.kill(int(server), signal.SIGKILL)
        assert task.wait(timeout=60) == 5
        m.task('--memory', '1G')
        clients(m, 1)
        assert mps(m, 'get_server_list').split() != [server]


def exclusive_mode_lets_clients_of_mps_in_and_nobody_else():
    with open_machine('l4x1') as m:
        m.ctl('mode', '0', 'compute=3')
        start_mps(m)
        m.task('--memory', '1G')
        m.task('--memory', '1G')
        clients(m, 2)
        wait_for(lambda: m.run('berth-sim-gpu', 'show').count('(MPS)') == 2)
        said = m.run('berth-sim-task', code=4, env={'CUDA_MPS_PIPE_DIRECTORY': '/nonexistent'})
        assert 'exclusive' in said, said


def there_is_one_daemon_in_a_directory():
    with open_machine('l4x1') as m:
        start_mps(m)
        said = m.run('nvidia-cuda-mps-control', '-f', code=1)
        assert 'already running' in said, said


def wrong_commands_change_nothing():
    with open_machine('l4x1') as m:
        before = m.run('berth-sim-gpu', 'show')
        for words in (['load', '9', 'busy=5'], ['lose'], ['xid', '0'], ['fail', 'x'], ['gone'],
                      ['load', '0', 'busy=much'], ['mig', '0', 'maybe']):
            m.run('berth-sim-gpu', 'ctl', *words, code=2)
        assert m.run('berth-sim-gpu', 'show') == before


run_tests([
    presets_are_printed_as_descriptions, smi_lists_gpus_and_mig_devices,
    smi_shows_how_gpus_are_linked, smi_sets_the_time_slice,
    a_task_that_does_not_fit_is_out_of_memory, a_task_ends_as_it_is_told,
    a_task_sees_only_the_devices_it_is_given, a_task_on_a_gpu_that_is_lost_fails,
    mps_takes_clients_and_lists_them, mps_limits_hold_for_new_servers_and_clients,
    a_fault_of_one_client_takes_all_of_its_server,
    a_server_that_dies_takes_its_clients_and_is_started_anew,
    exclusive_mode_lets_clients_of_mps_in_and_nobody_else, there_is_one_daemon_in_a_directory,
    wrong_commands_change_nothing,
])
