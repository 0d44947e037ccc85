#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py - the rules of the house that a program can check.

Each rule is one TAP line. Sources are read with comments and strings blanked, so words in them are
free. With --pure the undefined symbols of the built core and policy libraries are held against a
short allow-list. --self-test runs every rule over tests/tidy/bad, where each must find something:
a rule that cannot fail checks nothing.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

# Who may include whom. A folder that is not named here may not exist.
MAY_INCLUDE = {
    'base': {'base'},
    'core': {'base', 'core'},
    'policy': {'base', 'core', 'policy'},
    'wire': {'base', 'core', 'wire'},
    'tools': {'base', 'core', 'wire', 'tools'},
    'store': {'base', 'core', 'wire', 'store'},
    'sim': {'base', 'core', 'policy', 'wire', 'sim'},
    'gpu': {'base', 'gpu'},
    'run': {'base', 'run'},
    'cli': {'base', 'core', 'policy', 'wire', 'sim', 'cli'},
}
PURE = ('core', 'policy')  # no clock, no I/O, no threads, no allocation but base/mem.h
INTEGER = ('base', 'core', 'policy')  # no floating point

PURE_HEADERS = {'errno.h', 'inttypes.h', 'limits.h', 'stdarg.h', 'stdbool.h', 'stddef.h',
                'stdint.h', 'string.h'}
PURE_BANNED = """malloc calloc realloc free alloca printf fprintf vprintf vfprintf puts putchar
    fputs fopen fclose fread fwrite fgets open read write close time clock clock_gettime
    gettimeofday localtime gmtime rand random srand drand48 getenv qsort bsearch sleep usleep
    nanosleep pthread_create fork exit abort setlocale strtod strtol strtoul strtoll
    strtoull""".split()
INSTEAD = {  # banned everywhere, with what to use
    'strcpy': 'base/text.h, or memcpy with a checked length',
    'strcat': 'base/text.h', 'strncpy': 'memcpy with a checked length', 'strncat': 'base/text.h',
    'stpcpy': 'base/text.h', 'sprintf': 'snprintf or base/text.h', 'vsprintf': 'vsnprintf',
    'gets': 'fgets', 'strtok': 'strcspn and strspn', 'strtok_r': 'strcspn and strspn',
    'atoi': 'scan_i64', 'atol': 'scan_i64', 'atoll': 'scan_i64', 'atof': 'scan_decimal',
    'sscanf': 'base/scan.h', 'scanf': 'base/scan.h', 'fscanf': 'base/scan.h',
    'qsort': 'sort_stable', 'qsort_r': 'sort_stable', 'rand': 'base/rng.h', 'srand': 'base/rng.h',
    'random': 'base/rng.h', 'drand48': 'base/rng.h', 'alloca': 'mem_alloc',
    'assert': 'check, which stays on in release builds',
}
PURE_SYMBOLS = {'__divti3', '__udivti3', '__modti3', '__popcountdi2',  # of the compiler itself
                'memcpy', 'memmove', 'memset', 'memcmp', 'memchr', 'strlen', 'strcmp', 'strncmp',
                'strchr', 'strrchr', 'check_failed', '__stack_chk_fail', '_GLOBAL_OFFSET_TABLE_'}

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 800
TEST_LINES_MAX = 1500
COLUMNS_MAX = 100
SCRIPT_COLUMNS_MAX = 130  # scripts hold the text of tables

SPDX = 'SPDX-License-Identifier: Apache-2.0'
CODE_TREES = ('src', 'tests', 'scripts', '.ci')
TEXT_ENDS = ('.c', '.h', '.py', '.sh', 'meson.build', 'meson_options.txt')
BAD = os.path.join('tests', 'tidy', 'bad')


class File:
    """One file: its path from the root, its lines, and for C its lines without comments."""

    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as f:
            text = f.read()
        self.lines = text.split('\n')
        if self.lines and self.lines[-1] == '':
            self.lines.pop()
        self.is_c = path.endswith(('.c', '.h'))
        self.code = blank(text).split('\n') if self.is_c else []
        parts = path.split(os.sep)
        self.folder = parts[1] if parts[0] == 'src' and len(parts) > 2 else None


def blank(text):
    """text with comments, strings and character constants blanked, line breaks kept."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def keep_shape(match):
        found = match.group(0)
        line = text[text.rfind('\n', 0, match.start()) + 1:match.start()]
        if found[0] == '"' and re.match(r'\s*#\s*include\s*$', line):
            return found
        return re.sub(r'[^\n]', ' ', found)

    return pattern.sub(keep_shape, text)


def find_files(root):
    """All files of the code trees and of the root, in order, without the bad samples."""
    found = []
    for tree in CODE_TREES:
        for folder, folders, names in os.walk(os.path.join(root, tree)):
            folders[:] = sorted(d for d in folders if d not in ('corpus', '__pycache__'))
            here = os.path.relpath(folder, root)
            if here == BAD or here.startswith(BAD + os.sep):
                continue
            found += [os.path.join(here, name) for name in sorted(names)]
    found += [name for name in sorted(os.listdir(root))
              if os.path.isfile(os.path.join(root, name)) and name.endswith(TEXT_ENDS)]
    wanted = [path for path in found
              if path.endswith(TEXT_ENDS) or path == os.path.join('.ci', 'run')]
    return [File(root, path) for path in wanted]


def check_direction(files):
    for f in files:
        if f.folder is None:
            continue
        if f.folder not in MAY_INCLUDE:
            yield f.path, 1, f"folder '{f.folder}' has no entry in MAY_INCLUDE"
            continue
        for number, line in enumerate(f.code, 1):
            match = re.match(r'\s*#\s*include\s*"([^"]*)"', line)
            if not match:
                continue
            folder = match.group(1).split('/')[0] if '/' in match.group(1) else ''
            if folder not in MAY_INCLUDE[f.folder]:
                yield f.path, number, f'{f.folder} may not include "{match.group(1)}"'


def check_headers(files):
    for f in files:
        if f.folder not in PURE:
            continue
        for number, line in enumerate(f.code, 1):
            match = re.match(r'\s*#\s*include\s*<([^>]*)>', line)
            if match and match.group(1) not in PURE_HEADERS:
                yield f.path, number, f'<{match.group(1)}> does not belong in {f.folder}'


def check_integer(files):
    word = re.compile(r'\b(float|double|_Complex|__float128|_Float\d+)\b')
    for f in files:
        if f.folder not in INTEGER or not f.is_c:
            continue
        for number, line in enumerate(f.code, 1):
            match = word.search(line)
            if match:
                yield f.path, number, f'{match.group(1)}: integers only in {f.folder}'


def find_calls(f, banned):
    """Calls of banned functions, but not of the file's own static functions of that name."""
    own = set(re.findall(r'^static\b[^;(]*?(\w+)\(', '\n'.join(f.code), re.M))
    call = re.compile(r'(?<![\w.>])(' + '|'.join(banned) + r')\s*\(')
    for number, line in enumerate(f.code, 1):
        for match in call.finditer(line):
            if match.group(1) not in own:
                yield number, match.group(1)


def check_pure_calls(files):
    for f in files:
        if f.folder in PURE and f.is_c:
            for number, name in find_calls(f, PURE_BANNED):
                yield f.path, number, f'{name}() does not belong in {f.folder}'


def check_globals(files):
    """State of a pure folder is in its structs: a variable at file level must be const."""
    variable = re.compile(r'^(static\s+|extern\s+|_Thread_local\s+)+(?!inline\b)[^()]*(=|;|\{)\s*')
    for f in files:
        if f.folder not in PURE or not f.is_c:
            continue
        for number, line in enumerate(f.code, 1):
            if variable.match(line) and not re.search(r'\bconst\b', line) and '(' not in line:
                yield f.path, number, 'a variable at file level must be const'


def check_banned_calls(files):
    for f in files:
        if f.is_c:
            for number, name in find_calls(f, INSTEAD):
                yield f.path, number, f'{name}() is banned, use {INSTEAD[name]}'


def check_spdx(files):
    for f in files:
        if not any(SPDX in line for line in f.lines[:2]):
            yield f.path, 1, f'no "{SPDX}" in the first two lines'


def check_pragma_once(files):
    for f in files:
        if f.path.endswith('.h') and '#pragma once' not in f.lines:
            yield f.path, 1, 'a header needs #pragma once'


def check_columns(files):
    for f in files:
        for number, line in enumerate(f.lines, 1):
            most = SCRIPT_COLUMNS_MAX if f.path.startswith('scripts/') else COLUMNS_MAX
            if len(line) > most:
                yield f.path, number, f'{len(line)} columns, at most {most}'


def check_blanks(files):
    for f in files:
        for number, line in enumerate(f.lines, 1):
            if '\t' in line:
                yield f.path, number, 'a tab'
            elif line != line.rstrip():
                yield f.path, number, 'blanks at the end of the line'


def check_file_length(files):
    for f in files:
        most = TEST_LINES_MAX if f.path.startswith('tests' + os.sep) else FILE_LINES_MAX
        if len(f.lines) > most:
            yield f.path, len(f.lines), f'{len(f.lines)} lines, at most {most}'


def check_function_length(files):
    """A function's body stands between a { and a } in the first column: the format sees to it."""
    for f in files:
        start = None
        for number, line in enumerate(f.code, 1):
            if line.rstrip() == '{':
                start = number
                while start > 1 and re.match(r'\s*[\w)*,]', f.code[start - 2]):
                    start -= 1
            elif line.startswith('}') and start is not None:
                if number - start + 1 > FUNCTION_LINES_MAX:
                    yield (f.path, start, f'a function of {number - start + 1} lines, '
                           f'at most {FUNCTION_LINES_MAX}')
                start = None


def check_listed(files):
    """Every source file stands in the meson.build of its folder."""
    lists = {os.path.dirname(f.path): '\n'.join(f.lines) for f in files
             if os.path.basename(f.path) == 'meson.build'}
    for f in files:
        folder, name = os.path.split(f.path)
        if f.folder and name.endswith('.c') and f"'{name}'" not in lists.get(folder, ''):
            yield f.path, 1, f"not listed in {os.path.join(folder, 'meson.build')}"
        elif re.match(r'[tfsx]_\w+\.c$', name) and folder.startswith('tests' + os.sep):
            if f"'{name[2:-2]}'" not in lists.get(folder, ''):
                yield f.path, 1, f"not listed in {os.path.join(folder, 'meson.build')}"


RULES = {
    'folders_include_only_what_is_to_their_left': check_direction,
    'pure_folders_include_no_system_header_but_the_allowed': check_headers,
    'there_is_no_floating_point_where_decisions_are_made': check_integer,
    'pure_folders_make_no_system_call': check_pure_calls,
    'pure_folders_have_no_variables_at_file_level': check_globals,
    'banned_calls_are_not_used': check_banned_calls,
    'every_file_states_its_licence': check_spdx,
    'every_header_is_included_once': check_pragma_once,
    'no_line_is_too_long': check_columns,
    'there_are_no_tabs_and_no_trailing_blanks': check_blanks,
    'no_file_is_too_long': check_file_length,
    'no_function_is_too_long': check_function_length,
    'every_source_file_is_built': check_listed,
}


def nm(flag, library):
    """The symbol names that nm prints for a library or object."""
    done = subprocess.run(['nm', '-A', '-P', flag, library], check=True, text=True,
                          capture_output=True)
    return [line.split(': ', 1)[1].split()[0] for line in done.stdout.splitlines()]


def strange_symbols(pure, others):
    """Undefined symbols of the pure libraries that neither they, others nor the list know."""
    known = set(PURE_SYMBOLS)
    for library in pure + others:
        known.update(nm('--defined-only', library))
    return [(library, 0, f'undefined symbol {name}') for library in pure
            for name in sorted(set(nm('-u', library)) - known)]


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def report(self, name, ok, findings=()):
        self.count += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}")
        for path, line, text in findings:
            print(f'# {path}:{line}: {text}')


def self_test(tap, root, cc):
    """Each rule must find something in the bad samples, and only where the sample says so."""
    bad_root = os.path.join(root, BAD)
    bad = find_files(bad_root)
    for name, rule in RULES.items():
        found = list(rule(bad))
        strange = [finding for finding in found if 'good' in finding[0]]
        tap.report(f'self-test: {name}', bool(found) and not strange, strange)
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, 'impure.o')
        source = os.path.join(bad_root, 'src', 'core', 'impure.c')
        subprocess.run([cc, '-w', '-O0', '-c', source, '-o', result], check=True)
        names = {text.split()[-1] for _, _, text in strange_symbols([result], [])}
        tap.report('self-test: impure_objects_are_found_by_their_symbols',
                   {'malloc', 'time'} <= names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--root', required=True)
    parser.add_argument('--pure', action='append', default=[], help='a library that must be pure')
    parser.add_argument('--base', action='append', default=[], help='a library it may use')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--self-test', action='store_true')
    args = parser.parse_args()
    tap = Tap()
    files = find_files(args.root)
    for name, rule in RULES.items():
        found = list(rule(files))
        tap.report(name, not found, found)
    if args.pure:
        found = strange_symbols(args.pure, args.base)
        tap.report('pure_objects_need_no_symbol_from_outside', not found, found)
    if args.self_test:
        self_test(tap, args.root, args.cc)
    print(f'1..{tap.count}')
    return 1 if tap.failed else 0


if __name__ == '__main__':
    sys.exit(main())
