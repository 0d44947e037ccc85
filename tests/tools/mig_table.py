#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mig_table.py MIG_TABLE JSON - a profile table that makes no sense must stop the build.

Each case breaks one thing in a copy of the real table; the program has to fail, to say where and
what, and to leave no C file behind.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile


def family(table):
    return table['families'][0]


def profile(table):
    return family(table)['gpu_instance_profiles'][0]


def put(where, key, value):
    def change(table):
        where(table)[key] = value
    return change


def drop(where, key):
    def change(table):
        del where(table)[key]
    return change


CASES = {
    'a_missing_field': (drop(profile, 'profile_id'), "'profile_id' is missing"),
    'a_start_beyond_the_last_slice':
        (lambda t: profile(t)['placements'].update(starts=[8]), 'slices end within 8'),
    'a_negative_start':
        (lambda t: profile(t)['placements'].update(starts=[-1]), 'slices end within 8'),
    'no_start': (lambda t: profile(t)['placements'].update(starts=[]), 'must name a start'),
    'more_slices_than_a_layout_can_hold':
        (put(family, 'memory_slices', 13), 'must be a whole number of 1 to 12'),
    'a_count_that_is_no_number':
        (put(profile, 'max_instances', 'seven'), 'must be a whole number of 1 to 7'),
    'a_name_that_is_no_profile': (put(profile, 'name', '1x.5gb'), 'is no MIG profile'),
    'a_name_that_says_other_slices':
        (put(profile, 'compute_slices', 2), 'says 1 compute slices, there are 2'),
    'a_name_with_quotes':
        (lambda t: family(t)['products'][0].update(name='A"100'), 'without quotes'),
    'no_profile_of_the_whole_gpu':
        (lambda t: family(t)['gpu_instance_profiles'].pop(), 'has no profile of all 8 slices'),
    'too_many_profiles':
        (lambda t: family(t)['gpu_instance_profiles'].extend([profile(t)] * 16),
         'has more than 15 profiles'),
    'profiles_that_are_no_list': (put(family, 'gpu_instance_profiles', 7), 'must be a list'),
    'no_families': (put(lambda t: t, 'families', []), 'no family in it can be split'),
}


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def report(self, name, ok, detail=''):
        self.count += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}")
        if not ok:
            print(f'# {detail}')


def main():
    program, real = sys.argv[1:]
    tap = Tap()
    with open(real, encoding='utf-8') as file:
        table = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, 'bad.json'), os.path.join(folder, 'out.c')

        def refuses(name, text, wanted):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            done = subprocess.run([program, path, out], capture_output=True, text=True, check=False)
            ok = done.returncode == 1 and wanted in done.stderr and 'bad.json' in done.stderr \
                and not os.path.exists(out)
            tap.report(name, ok, f'{done.returncode}: {done.stderr}')

        for name, (change, wanted) in CASES.items():
            broken = copy.deepcopy(table)
            change(broken)
            refuses(name + '_stops_the_build', json.dumps(broken, indent=1), wanted)
        refuses('half_a_file_stops_the_build', json.dumps(table)[:5000], 'bad.json:1')
        done = subprocess.run([program, real, out], capture_output=True, text=True, check=False)
        tap.report('the_real_table_is_taken', done.returncode == 0 and os.path.exists(out),
                   done.stderr)
    print(f'1..{tap.count}')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
