#!/usr/bin/env python3
"""Runs the golden programs with our runtime on simulated GPUs and compares what they ask of the kernel driver and put
into their queues with what stock ROCm 5.2.3 to 7.2.4 did (stock/). Every difference needs a row in differences.tsv,
and every row a section in the document that explains it; a row that no longer matches anything fails too.

Compared are the distinct lines of the compact form (see condense.py): lines of ours that no stock version has
("ours"), and lines that every stock version has and ours lacks ("stock"). Sizes of allocations are left out.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import condense

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = ('gfx90a', 'gfx1100')
PROGRAMS = 'abcdef'


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--programs', required=True, help='the program compiled from programs.hip')
    parser.add_argument('--module', required=True, help='the module compiled from module.hip')
    parser.add_argument('--library-path', required=True, help='folders of libamdhip64 and libbarehip-vgpu, by colons')
    parser.add_argument('--preload', default='', help='the runtime of a sanitizer that the libraries need')
    parser.add_argument('--document', required=True, help='the file that explains the differences')
    parser.add_argument('--gpu', choices=TARGETS, action='append', help='default: all')
    parser.add_argument('--keep', help='a folder for the traces')
    return parser.parse_args()


def run_ours(arguments, gpu, program, folder):
    trace = folder / f'{gpu}-{program}.trace'
    trace.unlink(missing_ok=True)
    environment = dict(os.environ, BAREHIP_DEVICES=f'vgpu:{gpu}+trace={trace}', GOLDEN_TRACE=str(trace),
                       LD_LIBRARY_PATH=arguments.library_path)
    if arguments.preload:
        environment['LD_PRELOAD'] = arguments.preload
    done = subprocess.run([arguments.programs, program, arguments.module], env=environment, timeout=100,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'{gpu} program {program} failed ({done.returncode}):\n{done.stdout}')
    refused = re.findall(r'^refused: (.*)$', done.stdout, re.M)
    return condense.expand(condense.condense_vgpu(trace.read_text())), refused


def read_stock(gpu, program):
    """One list of lines per version; gfx1100 was recorded for some programs only."""
    variant = '' if gpu == 'gfx90a' else f'-{gpu}'
    files = sorted(HERE.glob(f'stock/*-{program}{variant}.txt'))
    if gpu == 'gfx90a':
        for variant in ('svm', 'minor17', 'slow'):
            files += sorted(HERE.glob(f'stock/*-{program}-{variant}.txt'))
    return {file.stem: condense.expand(file.read_text().splitlines()) for file in files}


def comparable(lines):
    """ALLOC without its size: it is a matter of pooling."""
    return {re.sub(r'^(ALLOC \S+) .*', r'\1', line) for line in lines if not line.startswith('call ')}


def read_rows():
    rows = []
    for number, line in enumerate((HERE / 'differences.tsv').read_text().splitlines(), 1):
        if not line or line.startswith('#'):
            continue
        columns = line.split('\t')
        side = columns[1].removesuffix('?') if len(columns) == 4 else ''
        if side not in ('ours', 'stock'):
            sys.exit(f'differences.tsv:{number}: wants four columns: id, ours or stock, where, line')
        rows.append({'id': columns[0], 'side': side, 'optional': columns[1] != side, 'where': re.compile(columns[2]),
                     'line': re.compile(columns[3]), 'number': number, 'used': False})
    return rows


def explain(rows, side, where, line):
    found = False
    for row in rows:
        if row['side'] == side and row['where'].fullmatch(where) and row['line'].fullmatch(line):
            row['used'] = found = True
    return found


def check_document(rows, path):
    text = pathlib.Path(path).read_text()
    sections = set(re.findall(r'^### ([\w-]+)', text, re.M))
    ids = {row['id'] for row in rows}
    return ([f'{path}: no section "### {name}" for a row of differences.tsv' for name in sorted(ids - sections)] +
            [f'{path}: section "{name}" explains no row of differences.tsv' for name in sorted(sections - ids)])


def main():
    arguments = parse_arguments()
    rows = read_rows()
    problems = check_document(rows, arguments.document)
    compared = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for gpu in arguments.gpu or TARGETS:
            for program in PROGRAMS:
                where = f'{gpu}-{program}'
                stock = read_stock(gpu, program)
                ours_lines, refused = run_ours(arguments, gpu, program, folder)
                for call in refused:
                    if not explain(rows, 'ours', where, f'refused {call}'):
                        problems.append(f'{where}: refused, not explained: {call}')
                if not stock:
                    continue  # no recording of it; that it runs is all that is asked
                compared += 1
                ours = comparable(ours_lines)
                all_stock = [comparable(lines) for lines in stock.values()]
                for line in sorted(ours - set.union(*all_stock)):
                    if not explain(rows, 'ours', where, line):
                        problems.append(f'{where}: ours has, no stock version has: {line}')
                for line in sorted(set.intersection(*all_stock) - ours):
                    if not explain(rows, 'stock', where, line):
                        problems.append(f'{where}: every stock version has, ours has not: {line}')
    if not arguments.gpu:
        problems += [f'differences.tsv:{row["number"]}: matches nothing any more' for row in rows
                     if not row['used'] and not row['optional']]
    for problem in problems:
        print(problem)
    print(f'{compared} programs compared with stock, {len(problems)} unexplained')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
