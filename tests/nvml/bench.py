# SPDX-License-Identifier: Apache-2.0
"""bench.py - what the tests of the simulated GPUs share: TAP lines and a machine for each test."""
import os
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV = os.path.join(ROOT, 'build-venv')


def enter_venv(sim):
    """Starts the script again with the Python of the venv, and the library where it is found."""
    if os.environ.get('BERTH_TEST_IN_VENV') == '1':
        return
    python = os.path.join(VENV, 'bin', 'python')
    if not os.path.exists(os.path.join(VENV, 'requirements.txt')):
        print('not ok 1 - the Python packages of tests/nvml/requirements.txt are installed')
        print('# they are not: run scripts/venv.sh, on a machine that reaches a package index')
        print('1..1')
        sys.exit(1)
    env = dict(os.environ, BERTH_TEST_IN_VENV='1', LD_LIBRARY_PATH=sim)
    os.execve(python, [python] + sys.argv, env)


class Machine:
    """A simulated machine in a folder of its own; `with` makes and removes it."""

    def __init__(self, sim, description):
        self.sim = sim
        self.description = description
        self.started = []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        what = self.description
        if ' ' in what:
            what = os.path.join(self.folder.name, 'gpus')
            with open(what, 'w', encoding='utf-8') as f:
                f.write(self.description)
        self.env = {'BERTH_SIM_DIR': self.folder.name, 'BERTH_SIM_GPUS': what,
                    'CUDA_MPS_PIPE_DIRECTORY': os.path.join(self.folder.name, 'mps')}
        os.environ.update(self.env)
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.wait()
        self.folder.cleanup()

    def run(self, program, *args, code=0, text=None, env=None):
        """What a program of the simulation prints; it must end with code."""
        done = subprocess.run([os.path.join(self.sim, program), *args], text=True, input=text,
                              env=dict(os.environ, **(env or {})), capture_output=True,
                              timeout=60)
        assert done.returncode == code, (program, args, done.returncode, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def ctl(self, *words):
        return self.run('berth-sim-gpu', 'ctl', *words)

    def start(self, program, *args, env=None):
        process = subprocess.Popen([os.path.join(self.sim, program), *args], text=True,
                                   env=dict(os.environ, **(env or {})),
                                   stderr=subprocess.PIPE)
        self.started.append(process)
        return process

    def task(self, *args, gpu='0', **env):
        return self.start('berth-sim-task', '--time', '60s', *args,
                          env=dict(env, CUDA_VISIBLE_DEVICES=gpu))


def wait_for(what):
    """What `what` returns, once it is true; a minute at most."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError('it did not come true within a minute')


def run_tests(tests):
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f'ok {number} - {test.__name__}', flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f'not ok {number} - {test.__name__}')
            for line in traceback.format_exc().splitlines():
                print(f'# {line}', flush=True)
    print(f'1..{len(tests)}')
    sys.exit(1 if failed else 0)
