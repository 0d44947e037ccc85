#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nvitop_reads.py SIM - nvitop, a monitor that people use, reads the simulated library."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench import Machine, enter_venv, run_tests, wait_for  # noqa: E402

SIM = sys.argv[1]
enter_venv(SIM)

SHOW = """
import json, nvitop
out = []
for d in nvitop.Device.all():
    out.append({'name': d.name(), 'uuid': d.uuid(), 'total': d.memory_total(),
                'used': d.memory_used(), 'util': str(d.gpu_utilization()),
                'temperature': d.temperature(), 'power': d.power_usage(),
                'limit': d.power_limit(), 'ecc': str(d.total_volatile_uncorrected_ecc_errors()),
                'mig': d.is_mig_mode_enabled(), 'fan': str(d.fan_speed()),
                'processes': {str(pid): (p.gpu_memory(), str(p.gpu_sm_utilization()))
                              for pid, p in d.processes().items()},
                'migs': [{'name': m.name(), 'uuid': m.uuid(), 'total': m.memory_total(),
                          'util': str(m.gpu_utilization()),
                          'processes': sorted(m.processes())} for m in d.mig_devices()]})
print(json.dumps(out))
"""


def shown():
    """What nvitop's own interface gives, in a process of its own."""
    import json
    done = subprocess.run([sys.executable, '-c', SHOW], text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def devices_are_read_with_memory_load_and_power():
    with Machine(SIM, 'h100x8') as m:
        m.ctl('load', '1', 'busy=70', 'celsius=55', 'stray=8G')
        m.ctl('ecc', '1', 'uncorrected', 'count=2')
        devices = shown()
        assert len(devices) == 8
        one = devices[1]
        assert one['name'] == 'NVIDIA H100 80GB HBM3'
        assert one['total'] == 81559 << 20
        assert one['used'] == 8 << 30, one['used']
        assert one['util'] == '70'
        assert one['temperature'] == 55
        assert one['power'] == 511000 and one['limit'] == 700000
        assert one['ecc'] == '2'
        assert one['fan'] == 'N/A'
        assert one['mig'] is False


def programs_are_seen_with_memory_and_load():
    with Machine(SIM, 'l4x1') as m:
        task = m.task('--memory', '3G', '--busy', '40')
        wait_for(lambda: 'process' in m.run('berth-sim-gpu', 'show'))
        assert shown()[0]['processes'] == {str(task.pid): [3 << 30, '40']}


def programs_beside_each_other_are_told_apart():
    with Machine(SIM, 'l4x1') as m:
        tasks = [m.task('--memory', f'{i}G') for i in (1, 2, 3)]
        wait_for(lambda: m.run('berth-sim-gpu', 'show').count('process') == 3)
        found = shown()[0]['processes']
        assert {pid: memory for pid, (memory, _) in found.items()} == \
            {str(task.pid): (i + 1) << 30 for i, task in enumerate(tasks)}


def mig_devices_are_read_and_have_no_load():
    with Machine(SIM, 'gpus 1 model=a100\nmig 0 on\ninstance 0 3g.40gb start=4\n'
                 'instance 0 2g.20gb start=0\n') as m:
        device = shown()[0]
        assert device['mig'] is True
        assert device['util'] == 'N/A'
        names = [mig['name'] for mig in device['migs']]
        assert [name.rsplit(' ', 1)[1] for name in names] == ['3g.40gb', '2g.20gb'], names
        assert device['migs'][0]['total'] == 40192 << 20
        assert device['migs'][0]['util'] == 'N/A'
        task = m.task('--memory', '1G', gpu=device['migs'][1]['uuid'])
        wait_for(lambda: 'process' in m.run('berth-sim-gpu', 'show'))
        device = shown()[0]
        assert device['migs'][1]['processes'] == [task.pid], device
        assert device['migs'][0]['processes'] == []


def its_screen_shows_the_devices():
    with Machine(SIM, 'l4x1') as m:
        m.ctl('load', '0', 'stray=2G')
        done = subprocess.run([sys.executable, '-m', 'nvitop', '--once', '--no-unicode'],
                              text=True, capture_output=True, timeout=60,
                              env=dict(os.environ, TERM='xterm', COLUMNS='100', LINES='60'))
        assert done.returncode == 0, done.stderr
        assert 'L4' in done.stdout and '2048MiB' in done.stdout, done.stdout


run_tests([
    devices_are_read_with_memory_load_and_power, programs_are_seen_with_memory_and_load,
    programs_beside_each_other_are_told_apart, mig_devices_are_read_and_have_no_load,
    its_screen_shows_the_devices,
])
