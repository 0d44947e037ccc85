#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli.py BERTH - what a user sees who makes a mistake: one line on standard error that names it,
and exit code 2; and that the formats of the output are what they say. Run from the root of the
repository."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

berth = sys.argv[1]
folder = tempfile.TemporaryDirectory()
done = 0
failed = 0

GENERIC = 'submit_s,duration_s,gpus\n'
CLUSTER = 'nodes:\n  - {name: a, cpus: 8, memory: 64G, gpus: 4}\n'
FILES = {
    'ok.csv': GENERIC + '0,10,1\n5,10,2\n',
    'ok.yaml': CLUSTER,
    'line.csv': GENERIC + '1,10,1\n2,10,1\n',
    'line.philly.csv': 'timestamp,duration_s,num_gpus,vc\n2017-10-03 00:00:00,3600,1,a\n'
                       '2017-10-03 00:00:05,10,1,a\n',
    'empty.csv': '',
    'header.csv': GENERIC,
    'negative.csv': GENERIC + '0,-1,1\n',
    'short.csv': GENERIC + '0,1\n',
    'unknown-column.csv': 'submit_s,duration_s,gpus,colour\n0,1,1,red\n',
    'missing-column.csv': 'submit_s,gpus\n0,1\n',
    'not-a-number.csv': GENERIC + '0,1,many\n',
    'half.csv': GENERIC + '0,1,0.5\n',
    'nan.csv': GENERIC + '0,nan,1\n',
    'never.csv': GENERIC.strip() + ',models\n0,1,1,H200\n',
    'reject.csv': GENERIC.strip() + ',models,name\n0,1,1,,ok\n1,1,1,H200,big\n2,1,1,H200,late\n',
    'queue.csv': GENERIC.strip() + ',queue\n0,1,1,a\n0,1,1,b\n',
    'queue-above.csv': GENERIC.strip() + ',queue\n0,1,1,p\n',
    'queue-none.csv': GENERIC + '0,1,1\n',
    'queue-user.csv': GENERIC.strip() + ',queue,user\n0,1,1,c,bob\n',
    'refused.yaml': 'default-queue: p\nqueues:\n- name: p\n- {name: q, guarantee: {gpus: 2},'
                    ' limit: {gpus: 1}}\n',
    'refused-default.yaml': 'queues: [{name: p}]\n\ndefault-queue: r\n',
    'queues.yaml': 'queues: [{name: p}, {name: a, parent: p}, {name: c, users: [ann]}]\n',
    'class.csv': GENERIC.strip() + ',class\n0,1,1,high\n0,1,1,urgent\n',
    'classes.yaml': 'classes: [{name: urgent, rank: 9, takes-below: 5}, {name: rest, rank: 1}]\n'
                    'default-class: rest\n',
    'urgent.csv': GENERIC.strip() + ',class,name\n0,100,8,,first\n5,10,8,urgent,second\n',
    'hopeless.csv': GENERIC.strip() + ',tasks\n0,10,1,2\n0,,1,1\n',
    'wide.csv': GENERIC.strip() + ',tasks\n0,36028797018,8,2\n',
    'centuries.csv': GENERIC.strip() + ',count\n0,36028797018,1,300\n',
    'tiny.csv': GENERIC.strip() + ',gpu_milli\n0,1,1,1\n',
    'huge.csv': GENERIC + '0,1e400,1\n',
    'overflow.csv': GENERIC + '0,99999999999999999999,1\n',
    'million-columns.csv': GENERIC + '0,1,1' + ',' * 1000000 + '\n',
    'binary.csv': '\0\1\2',
    'cut.csv.gz': b'\x1f\x8b\x08\x00\x00\x00\x00\x00',
    'duplicate.yaml': CLUSTER + '  - {name: a, cpus: 8, memory: 64G}\n',
    'twice.yaml': 'nodes:\n  - {name: a, name: b, cpus: 8, memory: 64G}\n',
    'typo.yaml': 'nodes:\n  - {name: a, cpus: 8, memory: 64G, gpu: 4}\n',
    'no-cpus.yaml': 'nodes:\n  - {name: a, memory: 64G}\n',
    'gpus.yaml': 'nodes:\n  - {name: a, cpus: 8, memory: 64G, gpus: -1}\n',
    'broken.yaml': 'nodes: [\n',
    'broken.json': '{"nodes": [',
    'no-events.jsonl': '{"type":"stepped"}\n',
    'late.jsonl': '{"berth-events":2,"placement":"bestfit","order":"gittins","seed":42,'
                  '"order_options":[],"mix":[],"repack":0,"migrate_wait_us":0,'
                  '"migrate_gain_ppm":0,"nodes_max":0,"jobs_max":0}\n'
                  '{"type":"stepped","at_us":9223372036854775807}\n',
    'later.jsonl': '{"berth-events":999}\n',
}
SCENARIO = 'node n1 gpus=8\nat 0s submit a gpus=8 runs=10s\nassert starts a = 1\n'
LOG = '  0s start a n1:0-7\n  10s end a finished\n'
FILES |= {
    'ok.scn': SCENARIO,
    'log.scn': SCENARIO + f'expect\n{LOG}end\n',
    'wrong.scn': SCENARIO + 'expect # why\n  # first\n  0s start a n1:0-6 # six\n'
                            '  10s  end a finished  # kept\n# last\nend\n'
                            'variant slow\n  change submit a runs=20s\nend\n',
    'claims.scn': SCENARIO + 'assert evictions >= 1\nassert started a by 0s\n'
                             'assert used node n1 at 5s = 4\nassert pending a at 5s\n',
    'nothing.scn': 'node n1 gpus=8\n',
    'bare.scn': 'node n1 gpus=8\n',
    'nothing-wrong.scn': 'node n1 gpus=8\nqueue a order=best\n',
    'refused.scn': SCENARIO + 'queue q users=ann\nat 1s submit b queue=q user=bob\n'
                              'at 2s submit c queue=q user=ann\nassert never-running b\n',
    'refused-held.scn': 'node n1\nqueue q users=ann\nat 1s submit b queue=q user=bob\nexpect\n'
                        "  1s refused submit b: job 1: queue 'q': user 'bob' may not submit there\n"
                        'end\n',
    'used-node.scn': SCENARIO + 'assert used node n2 at 5s = 0\n',
    'used-queue.scn': SCENARIO + 'assert used queue q at 5s = 0\n',
    'used-user.scn': SCENARIO + 'assert used user ann at 5s = 0\n',
    'takes.scn': SCENARIO + 'at 5s submit b takes=n3:0\n',
    'takes-task.scn': SCENARIO + 'task a 0 takes=n3:0\n',
    'gpu-number.scn': SCENARIO + 'at 5s gpu n1 8 lost\n',
    'repeat.scn': 'node n gpus=8\nat 0s times=2 submit a gpus=1\nat 20s cancel a-1\n'
                  'assert starts = 2\nvariant three\n  change submit a times=3 every=5s\n'
                  '  without assert\n  assert starts = 3\n  assert started a-2 by 10s\n'
                  '  assert never-running a-2 before 10s\nend\n'
                  'variant later\n  change cancel times=2\n  without assert\n'
                  '  assert starts = 2\nend\n',
    'ever.scn': 'node n gpus=8\nqueue q limit=gpus:2\nat 1s submit big gpus=3 queue=q\n'
                'at 1s submit late gpus=1 queue=q runs=5s\nat 3s submit lost queue=q after=next\n'
                'at 1m submit next queue=q\n',
    'bytes.scn': 'node n gpus=2 gpu-memory=16G\nqueue q limit=gpus:1\ndefault-queue q\n'
                 'at 0s submit w gpus=1 runs=1h\nat 0s submit a gpus=1 gpu-memory=12G\n',
    'service.scn': 'node n gpus=4\nat 0s submit w gpus=4 service\nat 1s submit p gpus=4\n',
    'bounded.scn': 'node n gpus=4\nat 0s submit w gpus=1 service\nat 1s submit p gpus=4 hold\n',
    'after.scn': 'node n gpus=4\nat 0s submit w gpus=1\nat 1s submit p gpus=1 after=w:failed\n',
    'reserved.scn': 'reservation-depth 1\nnode n gpus=4\n'
                    'at 0s submit r gpus=2 runs=100s time-limit=100s grace=0s\n'
                    'at 1s submit h gpus=4 time-limit=10s grace=0s\n'
                    'at 2s submit b gpus=1 runs=forever time-limit=80s grace=5s dies-after=30s\n'
                    'at 3s submit s gpus=1 service\n',
    'vc.csv': 'vc,nodes_8gpu\n',
    'variants.scn': SCENARIO + 'variant one\n  without submit\nend\n',
    'variants-expect.scn': SCENARIO + 'variant one\n  without assert\nend\n'
                           'variant two\n  change submit a runs=5s\nend\n'
                           'variant three\n  without assert\nend\n',
    'comment-job.scn': SCENARIO + 'at 1s submit "b #c"\n',
    'comment-node.scn': SCENARIO + 'node "#n"\n',
    'crlf.scn': 'node n1 gpus=8\r\nat 0s submit a gpus=8 runs=10s\r\nexpect\r\n'
                '  0s start b n1:0-7 # kept\r\nend\r\n',
    'target.scn': SCENARIO + 'expect\nend\n',
    'task-number.scn': SCENARIO + 'task a 1 runs=1s\n',
    'lost-task.scn': SCENARIO + 'at 1s lost a 7\n',
    'drop-task.scn': SCENARIO + 'at 1s drop exited a task=1\n',
    'task-twice.scn': SCENARIO + 'task a 0 runs=1s\ntask a 0 runs=2s\n',
    'until-twice.scn': SCENARIO + 'until 5s\nuntil 6s\n',
    'title-twice.scn': SCENARIO + 'title a\ntitle b\n',
    'options.scn': SCENARIO + 'order-options 1,2\n',
    'options-of-queue.scn': SCENARIO.replace('gpus=8 runs', 'gpus=8 queue=q runs') +
                            'queue q order=tiresias\norder-options 1,2\n',
    'exit-code.scn': SCENARIO + 'at 1s exit a code=300\n',
    'exit-field.scn': SCENARIO + 'at 1s submit b exit=-1\n',
    'depth.scn': SCENARIO + 'reservation-depth 1000\n',
    'share.scn': SCENARIO + 'at 1s submit b gpu-share=0.0001\n',
    'unknown-queue.scn': SCENARIO + 'queue q\nat 1s submit b queue=r\n',
    'later-queue.scn': 'node n1\nqueue q\nat 0s submit b queue=r\nat 5s config\n  queue r\nend\n'
                       "expect\n  0s refused submit b: job 1: queue 'r': unknown\nend\n",
    'claim-value.scn': SCENARIO + 'assert starts = x\n',
    'claim-reason.scn': SCENARIO + 'assert pending a at 5s reason\n',
    'claim-word.scn': SCENARIO + 'assert started a after 5s\n',
    'busy-queue.scn': 'node n1 gpus=1\nqueue q\nqueue r\nat 0s submit first queue=r\n'
                      'at 0s submit second queue=q\nat 5s config\n  queue r\nend\n'
                      'assert running second at 6s\n',
    'order.jsonl': '{"berth-events":2,"placement":"bestfit","order":"best","seed":42,'
                   '"order_options":[],"mix":[],"repack":0,"migrate_wait_us":0,'
                   '"migrate_gain_ppm":0,"nodes_max":0,"jobs_max":0}\n',
    'word.scn': SCENARIO + 'nodes n2\n',
    'verb.scn': SCENARIO + 'at 5s explode n1\n',
    'field.scn': SCENARIO + 'at 5s submit b gpu=8\n',
    'number.scn': SCENARIO + 'at 5s submit b gpus=many\n',
    'half.scn': SCENARIO + 'at 5s submit b gpus=0.5\n',
    'half-group.scn': SCENARIO + 'at 5s submit b group=tasks:1,gpus:1/2\n',
    'half-node.scn': SCENARIO + 'node n2 gpus=0.5\n',
    'time.scn': SCENARIO + 'at soon cancel a\n',
    'job.scn': SCENARIO + 'at 5s cancel b\n',
    'job-twice.scn': SCENARIO + 'at 5s submit a\n',
    'node-twice.scn': SCENARIO + 'node n1 gpus=4\n',
    'order.scn': SCENARIO + 'order best\n',
    'queue-order.scn': SCENARIO + 'queue a order=best\n',
    'placement.scn': SCENARIO + 'placement best\n',
    'default.scn': SCENARIO + 'queue a\ndefault-queue b\n',
    'behaviour.scn': SCENARIO + 'at 5s submit b run=5s\n',
    'node.scn': SCENARIO + 'at 5s list n2\n',
    'silent.scn': SCENARIO + 'at 5s node n2 silent\n',
    'gpu.scn': SCENARIO + 'at 5s gpu n2 0 lost\n',
    'class.scn': SCENARIO + 'at 5s submit b class=best\n',
    'parent.scn': SCENARIO + 'queue a parent=b\n',
    'no-end.scn': SCENARIO + 'expect\n',
    'no-variant-end.scn': SCENARIO + 'variant a\n',
    'lonely-end.scn': SCENARIO + 'end\n',
    'change.scn': SCENARIO + 'variant a\n  change submit b runs=1s\nend\n',
    'quote.scn': 'title "a\n',
    'claim.scn': SCENARIO + 'assert happy a\n',
    'claim-short.scn': SCENARIO + 'assert evictions <=\n',
}
for name, text in FILES.items():
    with open(os.path.join(folder.name, name), 'wb') as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def report(sentence, wrong):
    global done, failed
    done += 1
    failed += bool(wrong)
    print(f"{'not ok' if wrong else 'ok'} {done} - {sentence}")
    for line in str(wrong).splitlines() if wrong else []:
        print('# ' + line)


def run(line, out=subprocess.PIPE):
    words = [folder.name + '/' + w[1:] if w[0] == '@' else w for w in line.split()]
    return subprocess.run([berth, *words], stdin=subprocess.DEVNULL, stdout=out,
                          stderr=subprocess.PIPE, text=True, timeout=120)


def refused(line, *said):
    got = run(line)
    wrong = ''
    if got.returncode != 2:
        wrong += f'exit code {got.returncode}, not 2\n'
    if got.stdout:
        wrong += 'printed on standard output: ' + got.stdout[:200] + '\n'
    if got.stderr.count('\n') != 1:
        wrong += f"{got.stderr.count(chr(10))} lines on standard error\n"
    for text in said:
        if text not in got.stderr:
            wrong += f"no '{text}' in: {got.stderr[:300]}\n"
    report(f"'berth {line[:90]}' is refused", wrong)


def accepted(line, check):
    got = run(line)
    report(f"'berth {line[:90]}' is accepted",
           f'exit code {got.returncode}: {got.stderr}' if got.returncode else check(got.stdout))


SIM = 'sim --cluster 2x8 --trace '
refused('fly', "'fly'", '--help')
refused('sim', '--trace')
refused('sim --trace @ok.csv', '--cluster')
refused(SIM + '@none.csv', 'none.csv', 'No such file')
refused(SIM + '@', 'directory')
refused(SIM + '@empty.csv', 'empty.csv')
refused(SIM + '@queue.csv --config @queues.yaml', "queue.csv:3: queue 'b': is not in --config",
        "; there are 'a', 'c'")
refused(SIM + '@ok.csv --config @refused.yaml',
        "refused.yaml:4: queue 'q': guarantee: is more than its limit")
refused(SIM + '@ok.csv --config @refused-default.yaml', "default.yaml:3: default-queue 'r': is no")
refused(SIM + '@queue-above.csv --config @queues.yaml', "queue-above.csv:2: queue 'p': has queues",
        "; there are 'a', 'c'")
refused(SIM + '@queue-none.csv --config @queues.yaml', 'queue-none.csv:2: names no queue',
        'default-queue', "; there are 'a', 'c'")
refused(SIM + '@class.csv', "class.csv:3: class 'urgent': ", "; there are 'high', 'medium', 'low'")
refused(SIM + '@class.csv --config @classes.yaml', "class.csv:2: class 'high': is not in --config",
        "; there are 'urgent', 'rest'")
refused(SIM + '@queue-user.csv --config @queues.yaml', 'queue-user.csv:2: ', "'bob' may not submit")
refused(SIM + '@header.csv', 'header.csv')
refused(SIM + '@negative.csv', 'negative.csv:2', 'duration_s', '-1')
refused(SIM + '@short.csv', 'short.csv:2')
refused(SIM + '@unknown-column.csv', 'unknown-column.csv:1', 'colour')
refused(SIM + '@missing-column.csv', 'missing-column.csv:1', "'duration_s'")
refused(SIM + '@not-a-number.csv', 'not-a-number.csv:2', 'gpus', 'many')
refused(SIM + '@half.csv', 'half.csv:2', 'gpus', 'gpu_milli or gpu_memory asks', '0.5')
refused(SIM + '@nan.csv', 'nan.csv:2', 'duration_s')
refused(SIM + '@huge.csv', 'huge.csv:2', 'duration_s')
refused(SIM + '@overflow.csv', 'overflow.csv:2', 'duration_s')
refused(SIM + '@million-columns.csv', 'million-columns.csv:2')
refused(SIM + '@binary.csv', 'binary.csv')
refused(SIM + '@cut.csv.gz', 'cut.csv.gz')
refused(SIM + 'data/pollux/workloads.csv', 'workloads.csv', 'several')
refused(SIM + 'data/pollux/workloads.csv:9/9', '9/9')
for cluster, *said in (('duplicate.yaml', "'a'"), ('twice.yaml', 'name'), ('typo.yaml', 'gpu'),
                       ('no-cpus.yaml', 'cpus'), ('gpus.yaml', 'gpus', '-1'), ('broken.yaml',),
                       ('broken.json',), ('none.yaml', 'No such file')):
    refused(f'sim --cluster @{cluster} --trace @ok.csv', cluster, *said)
refused('sim --cluster 0x8 --trace @ok.csv', '0x8')
refused('sim --cluster 2x999 --trace @ok.csv', '2x999')
refused(SIM + '@ok.csv --policy best', "'best'", '--help')
refused(SIM + '@ok.csv --order first', "'first'", '--help')
refused(SIM + '@ok.csv --protocol mine', "'mine'")
refused(SIM + '@ok.csv --mix some', "'some'")
refused(SIM + '@ok.csv --seeds 5-2', '5-2')
refused(SIM + '@ok.csv --seeds -1', '-1')
refused(SIM + '@ok.csv --restart-cost -5s', '-5s')
refused(SIM + '@ok.csv --restart-cost 5y', '5y')
refused(SIM + '@ok.csv --arrive-until nan', 'nan')
refused(SIM + '@ok.csv --colour red', '--colour')
refused(SIM + '@ok.csv --policy', '--policy')
refused(SIM + '@ok.csv stray', 'stray')
refused(SIM + '@ok.csv --events @no-such-folder/e', 'no-such-folder/e')
refused(SIM + '@ok.csv --restart-cost 9223372036854s', '1000 years')
refused('sim --cluster 1x1 --trace @centuries.csv', 'years')
refused('sim --cluster 1000x8 --trace @tiny.csv --arrive-until 1000', 'arrive')
refused('sim --cluster 1000x8 --trace @tiny.csv --steady 1000 --lifetimes 1000', 'arrive')
refused(SIM + '@ok.csv --policy a\x01b', "'a?b'")
refused('replay @late.jsonl', 'late.jsonl:2', 'at_us')
refused('replay', 'event file')
refused('replay @none', 'none', 'No such file')
refused('replay @ok.csv', 'ok.csv')
refused('replay @no-events.jsonl', 'no-events.jsonl')
refused('replay @later.jsonl', 'later.jsonl')
refused('bench --nodes 0', '0')
refused('bench --nodes 10 --placements 100 --waiting x', '--waiting', "'x'")
refused('bench --policy best', '--policy', "'best'")
refused(SIM + '@ok.csv --steady 90 --arrive-until 100', '--steady')
refused('sim --cluster 2x8 --partition @ok.csv --trace @ok.csv', 'only one')
refused('bench --trace @none.csv', 'none.csv')


for name, *said in (('none', 'No such file'), ('nothing', 'nothing is expected'),
                    ('word', ':4:', "'nodes'"), ('verb', ':4:', "'explode'", 'cancel'),
                    ('field', ':4:', 'gpu: unknown field'), ('number', ':4:', 'gpus', "'many'"),
                    ('half', ':4:', 'gpu-share asks for a part', '0.5'),
                    ('half-group', ':4:', 'gpu-share asks for a part', "'1/2'"),
                    ('half-node', ':4:', 'must be a whole number, is 0.5'),
                    ('time', ':4:', "'soon'"), ('job', ':4:', "'b'"), ('job-twice', ':4:', "'a'"),
                    ('node-twice', ':4:', "'n1'"), ('order', ':4:', "'best'"),
                    ('queue-order', ':4:', "queue 'a': order 'best'"),
                    ('placement', ':4:', "'best'"), ('default', ':5:', "'b'"),
                    ('behaviour', ':4:', 'run: unknown field', 'gpus', 'runs', 'ack-delay'),
                    ('node', ':4:', "'n2'"), ('silent', ':4:', "'n2'"), ('gpu', ':4:', "'n2'"),
                    ('class', ':4:', "'best'"), ('parent', ':4:', "'b'"),
                    ('no-end', ':4:', "'end'"), ('no-variant-end', ':4:', "'end'"),
                    ('lonely-end', ':4:', "'end'"), ('change', ':5:', "'change'"),
                    ('quote', ':1:', 'quote'), ('claim', ':4:', "'happy'"),
                    ('claim-short', ':4:', 'ends too early', 'NUMBER'),
                    ('used-node', ':4:', "no node 'n2'"), ('used-queue', ':4:', "no queue 'q'"),
                    ('used-user', ':4:', "no user 'ann'"), ('takes', ':4:', "'n3'"),
                    ('takes-task', ':4:', "'n3'")):
    refused(f'scenario @{name}.scn', name + '.scn', *said)
for file, *said in (
        ('task-number', '4: ', "job 'a' has no task 1: it has 1"),
        ('lost-task', '4: ', "job 'a' has no task 7"), ('drop-task', '4: ', 'no task 1'),
        ('task-twice', '5: ', "task 0 of job 'a' is there twice, see line 4"),
        ('until-twice', '5: ', "'until' is there twice, see line 4"),
        ('title-twice', '5: ', "'title' is there twice"),
        ('options', '4: ', 'order-options', 'tiresias'), ('exit-code', '4: ', '0 to 255'),
        ('exit-field', '4: ', 'exit: must be 0 to 255'), ('depth', '4: ', '0 to 256', "or 'all'"),
        ('share', '4: ', 'up to 3 decimals, or 1/N'), ('unknown-queue', '5: ', "no queue 'r'"),
        ('claim-value', '4: ', "'x'; write: assert starts [JOB] = NUMBER"),
        ('claim-reason', '4: ', 'write: assert pending JOB at TIME [reason "TEXT"]'),
        ('claim-word', '4: ', "'after'", 'write: assert started JOB [by TIME]')):
    refused(f'scenario @{file}.scn', *said)
refused('replay @order.jsonl', 'order.jsonl:1: ', "'best'")
refused('scenario @nothing.scn', '--print', '--update')
refused('scenario @variants.scn', "variants.scn:3: no job 'a'", "in variant 'one' at line 4")
refused('scenario --tap --explain a@1s @ok.scn', '--explain', '--tap')
refused('scenario @comment-job.scn', 'comment-job.scn:4', "'b #c'", 'comment')
refused('scenario @comment-node.scn', 'comment-node.scn:4', "'#n'", 'comment')
refused('scenario @nothing-wrong.scn', ':2:', "'best'")
refused('scenario', 'file')
refused('scenario --update --variant a @ok.scn', '--update')
refused('scenario --variant b @ok.scn', "'b'")
refused('scenario --events @no-such-folder/e @ok.scn', 'no-such-folder/e')


def differs(line, *said):
    got = run(line)
    missing = [text for text in said if text not in got.stdout]
    wrong = f'no {missing} in: {got.stdout}' if missing else ''
    if got.returncode != 1:
        wrong += f'exit code {got.returncode}, not 1: {got.stderr}'
    report(f"'berth {line}' tells what differs", wrong)


differs('scenario @wrong.scn', 'FAIL', 'wrong.scn slow', '6 - 0s start a n1:0-6',
        '      + 0s start a n1:0-7', '7   10s end a finished', '      + 20s end a finished')
differs('scenario --tap @ok.scn @claims.scn', 'ok 1 - ', 'not ok 2 - ', '1..2',
        '#   line 4: assert evictions >= 1: it is 0', 'line 6', 'it is 8', 'line 7',
        'it is running')


differs('scenario @refused.scn', 'FAIL', "refused submit a: job 1: queue", '--update')
differs('scenario @gpu-number.scn', 'FAIL', 'refused node: node \'n1\'', '8')
differs('scenario @busy-queue.scn', "refused config: queue 'q': job second is in it")
accepted('scenario @later-queue.scn', lambda text: '' if text.startswith('ok ') else text)
accepted('scenario @options-of-queue.scn', lambda text: '' if text.startswith('ok ') else text)
accepted('scenario @refused-held.scn', lambda text: '' if text.startswith('ok ') else text)
accepted('scenario @repeat.scn', lambda text: '' if text.count('ok ') == 3 else text)
for asked, answer in (('big@0s', 'is not there yet: it is submitted at 1s.'),
                      ('big@2s', 'is over: rejected at 1s; asks for more than the limit of a '
                                 'queue, and can never start (q: 3 GPUs, at most 2).'),
                      ('late@2s', 'does not wait: it is running, since 1s on n.'),
                      ('late@9s', 'is over: finished at 6s.'),
                      ('lost@9s', 'was refused when it was submitted, at 3s; after[0]: job next: '
                                  'unknown.')):
    said = f"job {asked.split('@')[0]} {answer}\n"
    accepted(f'scenario --explain {asked} @ever.scn',
             lambda text, said=said: '' if text == said else f'{text}, not {said}')


for asked, state in (
        ('big@2s', {'state': 'over', 'end': 'rejected', 'end_us': 1000000,
                    'reason': 'asks for more than the limit of a queue, and can never start '
                              '(q: 3 GPUs, at most 2)'}),
        ('lost@9s', {'state': 'refused', 'submit_us': 3000000,
                     'reason': 'after[0]: job next: unknown'})):
    name, at = asked[:-1].split('@')
    said = {'job': name, 'now_us': int(at) * 1000000} | state
    accepted(f'scenario --json --explain {asked} @ever.scn',
             lambda text, said=said: '' if json.loads(text) == said else f'{text}, not {said}')

for file, said in (('@service.scn', 'It does not start by itself: services, and tasks that are '
                                    'stuck, would have to end.\nIt would start now with this '
                                    'change: job w on n is cancelled.\n'),
                   ('@bounded.scn', 'It does not start by itself, whatever ends.\n'),
                   ('@after.scn', 'It does not start by itself, if jobs end as expected.\nIt would '
                                  'start now with this change: job w on n fails.\n')):
    accepted(f'scenario --explain p@5s {file}',
             lambda text, said=said: '' if said in text else f'{text}, not {said}')
for asked, field, said in (
        ('h@50s', 'reservation', {'at_us': 100000000, 'first_told_us': 100000000}),
        ('h@95s', 'reservation', {'at_us': 147000000, 'first_told_us': 100000000,
                                  'late_because_of': 'b'}),
        ('s@50s', 'runs_into', {'job': 'h', 'reserved_us': 100000000, 'run_until_us': None})):
    accepted(f'scenario --json --explain {asked} @reserved.scn',
             lambda text, field=field, said=said:
             '' if json.loads(text).get(field) == said else f'{text}, not {said}')
accepted('scenario --explain a@1s @bytes.scn',
         lambda text: '' if 'and it asks for 12 GiB of GPU memory.' in text
         and 'in class high; then job w gives way to it.' in text else text)


def is_json(text):
    out = json.loads(text)
    fields = {'trace', 'policy', 'order', 'seed', 'unallocated_pct', 'unallocated_95_pct',
              'failed_jobs', 'finished_jobs', 'jct_mean_s', 'jct_p50_s', 'jct_p99_s', 'wait_mean_s',
              'makespan_s', 'preemptions', 'digest', 'cpu_s'}
    missing = [sorted(fields - set(r)) for r in out['runs'] if fields - set(r)]
    ok = not missing and out['peak_rss_bytes'] > 0 and len(out['runs']) == 4
    return '' if ok else f'missing: {missing}'


def busy_is_whole(text):
    busy = json.loads(text)['runs'][0]['busy_gpu_s']
    return '' if busy == 16 * 36028797018 else f'{busy}'


def is_csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return '' if len(rows) == 1 and rows[0]['finished_jobs'] == '2' else text


accepted(SIM + '@ok.csv --policy berth,bestfit --order fifo,las --json', is_json)
accepted(SIM + '@ok.csv --csv', is_csv)
accepted(SIM + '@wide.csv --json', busy_is_whole)
accepted(SIM + '@ok.csv --order gittins,las,tiresias,srtf --arrive-until 300 --csv', lambda _: '')
accepted('sim --cluster 1x1 --trace @hopeless.csv --order las,gittins,tiresias --csv', lambda _: '')
accepted('sim --cluster @ok.yaml --trace @ok.csv --json --policy random,fgd --seeds 1-2', is_json)
accepted(SIM + '@never.csv', lambda text: text if '-9' in text or ' - ' not in text else '')
NEVER = ('the nodes of this cluster could not hold it, even if they were empty '
         '(no node has GPUs of model H200)')
accepted('sim --cluster 1x8 --trace @urgent.csv --config @classes.yaml --json', lambda text: ''
         if json.loads(text)['runs'][0]['preemptions'] == 1 else text)
accepted('sim --cluster 1x8 --trace @urgent.csv --config @classes.yaml --explain first@7s',
         lambda text: '' if text.startswith('job first waits: ') else text)
FIRST = f'; the first is job big: {NEVER}\n'
accepted(SIM + '@reject.csv',
         lambda text: '' if '\nrejected: 2 of 3 jobs' + FIRST in text else text)
accepted(SIM + '@reject.csv --seeds 1-2', lambda text: ''
         if '\nrejected: 2 of 3 jobs (berth, fifo, seed 1)' + FIRST in text else text)
accepted(SIM + '@ok.csv', lambda text: text if 'rejected' in text else '')
for trace, *said in (('reject', 2, 'big', NEVER), ('ok', 0, None, None)):
    names = ('rejected_jobs', 'first_rejected_job', 'first_reject_reason')
    accepted(f'{SIM}@{trace}.csv --json', lambda text, said=said: '' if
             [json.loads(text)['runs'][0][name] for name in names] == said else text)
    said = ['' if field is None else str(field) for field in said]
    accepted(f'{SIM}@{trace}.csv --csv', lambda text, said=said: '' if
             [list(csv.DictReader(io.StringIO(text)))[0][name] for name in names] == said else text)
accepted(SIM + '@ok.csv --arrive-until 130', lambda text: '' if 'UNALLOCATED' in text else text)
accepted('--help', lambda text: '' if 'sim' in text and 'replay' in text else text)
accepted('--version', lambda text: '' if text.startswith('berth ') else text)
accepted(SIM + '@ok.csv --events @events --csv', is_csv)
accepted('replay @events', lambda text: '' if len(text.splitlines()[-1]) == 16 else text)

accepted('scenario @ok.scn @log.scn', lambda text: '' if text.count('ok ') == 2 else text)
accepted('scenario --print --events @scn-events @log.scn',
         lambda text: '' if '0s      start a n1:0-7\n' in text else text)
accepted('replay @scn-events', lambda text: '' if '4 events' in text else text)
accepted('scenario --update @wrong.scn', lambda _: '')
accepted('scenario --update @crlf.scn', lambda _: '')
with open(os.path.join(folder.name, 'crlf.scn'), 'rb') as file:
    crlf = file.read()
report("'berth scenario --update' keeps the line ends of a file", '' if crlf.endswith(
    b'expect\r\n  # kept\r\n  0s      start a n1:0-7\r\n  10s     end a finished\r\nend\r\n')
    and crlf.count(b'\r\n') == crlf.count(b'\n') else str(crlf))
os.symlink('target.scn', os.path.join(folder.name, 'link.scn'))
os.chmod(os.path.join(folder.name, 'target.scn'), 0o640)
accepted('scenario --update @link.scn', lambda _: '')
with open(os.path.join(folder.name, 'target.scn'), encoding='utf-8') as file:
    target = file.read()
report("'berth scenario --update' writes what a link names",
       '' if os.path.islink(os.path.join(folder.name, 'link.scn')) and 'start a n1:0-7' in target
       and os.stat(os.path.join(folder.name, 'target.scn')).st_mode & 0o777 == 0o640 else target)
got = run('scenario @variants-expect.scn')
report("'berth scenario' plays the other variants where one is wrong",
       '' if got.returncode == 2 and got.stdout.count('ok ') == 2 and 'scn two' in got.stdout
       and "in variant 'one' at line 4" in got.stderr
       and "in variant 'three' at line 10" in got.stderr else got.stdout + got.stderr)
accepted('scenario --update @ok.scn',
         lambda text: '' if "'expect' and 'end' in it, --update fills them" in text else text)
with open(os.path.join(folder.name, 'ok.scn'), encoding='utf-8') as file:
    report("'berth scenario --update' leaves a file with claims alone as it is",
           '' if file.read() == SCENARIO else 'it was changed')
accepted('scenario --update @bare.scn', lambda text: text if 'not updated' in text else '')
with open(os.path.join(folder.name, 'bare.scn'), encoding='utf-8') as file:
    bare = file.read()
report("'berth scenario --update' adds a block where nothing is claimed", '' if
       bare == FILES['nothing.scn'] + 'expect\nend\n' else bare)
accepted('scenario @wrong.scn', lambda text: '' if text.count('ok ') == 2 else text)
with open(os.path.join(folder.name, 'wrong.scn'), encoding='utf-8') as file:
    rest = file.read()[len(SCENARIO):]
report("'berth scenario --update' keeps comments and adds what a variant needs", '' if rest == (
    'expect # why\n  # first\n  # six\n  0s      start a n1:0-7\n'
    '  10s  end a finished  # kept\n# last\nend\n'
    'variant slow\n  change submit a runs=20s\n  expect\n    0s      start a n1:0-7\n'
    '    20s     end a finished\n  end\nend\n') else rest)

# The reasons of docs/scenario.md are those of the code: the enum says of whom, and in which order.
with open('docs/scenario.md', encoding='utf-8') as file:
    table = file.read().split('## Reasons\n')[1].split('\n## ')[0]
listed = dict(re.findall(r'^\| (.*?) \| ((?:wait|reject|stop)(?:, reject)?) \|', table, re.M))
with open('src/core/job.h', encoding='utf-8') as file:
    enum = re.search(r'enum reason {(.*?)};', file.read(), re.S)[1]
with open('src/core/job.c', encoding='utf-8') as file:
    said = file.read()
texts = dict(re.findall(r'\[(REASON_\w+)\] = "(.*?)"', said))
waits, rejects, stops = (set(re.findall(r'^ *(REASON_\w+),', part, re.M)) for part in re.split(
    r'/\* why a job is rejected \*/|/\* why a job was told to stop \*/', enum))
stops -= {'REASON_COUNT', 'REASON_SPLIT'}
waits = waits - {'REASON_NONE'} | {'REASON_SPLIT'}
known = {texts[r]: 'wait' for r in waits} | {texts[r]: 'stop' for r in stops}
known |= {texts[r]: 'reject' for r in rejects} | {texts['REASON_NEVER']: 'wait, reject'}
known |= {text: 'reject' for text in re.findall(r'return "(.*?)"', said)}
report('docs/scenario.md lists the reasons that there are',
       '' if listed == known and len(known) > 20 else '\n'.join(
           f'{text}: {of}' for text, of in sorted(listed.items() ^ known.items())))

os.mkdir(os.path.join(folder.name, 'topo'))  # a page reads how its GPUs are wired from there
shutil.copy('tests/scenario/fault44_crossed_four.txt', os.path.join(folder.name, 'topo/a40.txt'))

# Pages with stories: each says how it is saved and holds, and what is shown of it is printed so.
for page in ('README.md', 'docs/scenario.md',
             *(os.path.join('docs/guide', page) for page in sorted(os.listdir('docs/guide')))):
    with open(page, encoding='utf-8') as file:
        text = file.read()
    # A cluster or a configuration of the guide, as berth reads it.
    for example in text.split('```yaml\n')[1:] if 'guide' in page else ():
        with open(os.path.join(folder.name, 'page.yaml'), 'w', encoding='utf-8') as file:
            file.write(example.split('```')[0])
        if '\nnodes:' in '\n' + example:
            accepted('sim --cluster @page.yaml --trace @ok.csv', lambda _: '')
        else:
            accepted(SIM + '@ok.csv --config @page.yaml', lambda _: '')
    before, *examples = text.split('```scn\n')
    for example in examples:
        shown = example.split('```\n$ berth scenario ')[1:]
        saved = re.search(r'[Ss]ave this as `(\w+\.scn)`:\n\n$', before)
        saved = saved or re.search(r'^Saved as `(\w+\.scn)`:\n', example, re.M)
        name = saved[1] if saved else 'story.scn'
        report(f'{page} says how its story is saved', '' if saved else before[-200:])
        before = example
        with open(os.path.join(folder.name, name), 'w', encoding='utf-8') as file:
            file.write(example.split('```')[0])
        accepted(f'scenario @{name}', lambda _: '')
        report(f'{page} shows its story played', '' if shown else example[:200])
        for line, said in (block.split('```')[0].split('\n', 1) for block in shown):
            accepted('scenario ' + line.replace(name, '@' + name),
                     lambda got, said=said: '' if got.replace(folder.name + '/', '') == said
                     else f'{got}, not {said}')

for asked, answer, state in (
        ('2@3s', 'is not there yet: it is submitted at 5s.',
         {'now_us': 3000000, 'state': 'not_submitted', 'submit_us': 5000000}),
        ('1@12s', 'is over: finished at 10s.',
         {'now_us': 12000000, 'state': 'over', 'end': 'finished', 'end_us': 10000000}),
        ('1@1h', 'is over: finished at 10s.',  # when the run is over as well
         {'now_us': 3600000000, 'state': 'over', 'end': 'finished', 'end_us': 10000000})):
    said = f"job {asked.split('@')[0]} {answer}\n"
    accepted(f'{SIM}@ok.csv --explain {asked}',
             lambda text, said=said: '' if text == said else f'{text}, not {said}')
    said = {'job': asked.split('@')[0]} | state
    accepted(f'{SIM}@ok.csv --explain {asked} --json',
             lambda text, said=said: '' if json.loads(text) == said else f'{text}, not {said}')
accepted(SIM + '@never.csv --explain 1@1s',
         lambda text: '' if text == 'job 1 is over: rejected at 0s; the nodes of this cluster '
         'could not hold it, even if they were empty (no node has GPUs of model H200).\n' else text)
accepted(SIM + '@never.csv --explain 1@1s --json',
         lambda text: '' if json.loads(text) == {
             'job': '1', 'now_us': 1000000, 'state': 'over', 'end': 'rejected', 'end_us': 0,
             'reason': 'the nodes of this cluster could not hold it, even if they were empty '
                       '(no node has GPUs of model H200)'} else text)
refused(SIM + '@ok.csv --explain 3@3s', "'3'")
OPENB = ('sim --cluster data/fgd/openb_node_list_gpu_node.csv --trace '
         'data/fgd/openb_pod_list_default.csv --explain openb-pod-0017@')
for asked, answer in (('0s', 'submitted at 0.004s'),  # one comes each microsecond
                      ('5ms', 'running, since 0.004s'),
                      ('110d --arrive-until 0', 'running, since 109d 5h'),
                      ('100d --arrive-until 0', 'submitted at 109d 5h')):
    accepted(OPENB + asked, lambda text, answer=answer: '' if answer in text else text)
accepted('sim --partition @vc.csv --trace @ok.csv --explain 2@7s',
         lambda text: '' if text.endswith('running, since 5s on no-queue-0.\n') else text)
refused(SIM + '@ok.csv --explain 2', '--explain', 'JOB@TIME', "'2'")
refused(SIM + '@ok.csv --explain 2@7s --csv', '--explain')
refused(SIM + '@ok.csv --explain 2@7s --seeds 1-2', '--explain')
refused('scenario --json @ok.scn', '--json')
refused('scenario --explain a@1s --update @ok.scn', '--explain')
refused('scenario --explain b@1s @ok.scn', "'b'")
for asked, state in (
        ('a@5s', {'now_us': 5000000, 'state': 'running', 'starts_next_step': False, 'since_us': 0,
                  'nodes': ['n1']}),
        ('a@11s', {'now_us': 11000000, 'state': 'over', 'end': 'finished', 'end_us': 10000000})):
    said = {'job': asked.split('@')[0]} | state
    accepted(f'scenario --json --explain {asked} @ok.scn',
             lambda text, said=said: '' if json.loads(text) == said else f'{text}, not {said}')
accepted(SIM + '@ok.csv --explain 2@7s',
         lambda text: '' if text == 'job 2 does not wait: it is running, since 5s on node-0.\n'
         else text)
# A trace that cannot say classes has no other class to try; a generic one and a scenario have.
accepted('sim --cluster 1x1 --trace @line.philly.csv --explain 2@5s',
         lambda text: '' if text.endswith('this change: job 1 on node-0 ends.\n') else text)
accepted('sim --cluster 1x1 --trace @line.csv --explain 2@5s',
         lambda text: '' if 'in class high; then job 1 gives way to it.' in text else text)
accepted('sim --cluster 1x1 --trace @line.csv --explain 2@5s --json',
         lambda text: '' if json.loads(text)['expected_start_us'] == 3601000000 else text)

# The example of the README: its cluster, its trace, its digest.
readme = open('README.md', encoding='utf-8').read()
for name, start in (('cluster.yaml', '```yaml\nnodes:'), ('jobs.csv', '```\nsubmit_s,')):
    text = readme[readme.index(start):].split('\n', 1)[1].split('```')[0]
    with open(os.path.join(folder.name, name), 'w', encoding='utf-8') as file:
        file.write(text)
shown = readme[readme.index('$ berth replay run.jsonl\n'):].split('\n')[1:3]
accepted('sim --cluster @cluster.yaml --trace @jobs.csv --policy bestfit --events @run',
         lambda _: '')
accepted('replay @run', lambda text: '' if text.splitlines() == shown else f'{text} not {shown}')
for line in ('--help', '--version', 'sim --help', SIM + '@ok.csv', 'replay @events',
             'bench --nodes 10 --placements 100 --waiting 0', 'scenario @ok.scn'):
    with open('/dev/full', 'w') as full:
        got = run(line, full)
    ok = got.returncode == 2 and 'standard output' in got.stderr
    report(f"'berth {line[:60]}' says that standard output is full",
           '' if ok else f'{got.returncode}: {got.stderr}')
print(f'1..{done}')
sys.exit(failed > 0)
