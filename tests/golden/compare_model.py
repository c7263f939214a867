#!/usr/bin/env python3
"""Runs the golden programs on ROCm's own HIP over a simulated GPU, and compares what it asks and puts into its queues with
what the same version did in the recordings (stock/). The recordings' device was made apart from vgpu, so the same
requests here and there say that vgpu answers as stock software expects. A line that only one side has fails, unless
model_differences.tsv has a row for it that says why; a row that nothing needs fails too. Exit code 77 (skipped) where
that HIP cannot be had.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile

import compare
import condense

sys.path.insert(0, str(compare.HERE.parent / 'witness'))
import stock  # noqa: E402


def run_stock(stack, arguments, program, folder):
    trace = folder / program
    done = stack.run([os.path.abspath(arguments.programs), program, os.path.abspath(arguments.module)],
                     ['--trace', str(trace)], {'GOLDEN_TRACE': str(trace)}, 120)
    if done.returncode != 0:
        sys.exit(f'program {program} failed on the stock runtime ({done.returncode}):\n{done.stdout}{done.stderr}')
    return compare.comparable(condense.expand(condense.condense_vgpu(trace.read_text())))


def recorded(version, gpu, program):
    """What all recordings of the program have, and what some have: how much is waited for is timing."""
    variant = '' if gpu == 'gfx90a' else f'-{gpu}'
    files = [compare.HERE / f'stock/{version}-{program}{variant}.txt']
    if gpu == 'gfx90a':
        files.append(compare.HERE / f'stock/{version}-{program}-slow.txt')
    sets = [compare.comparable(condense.expand(file.read_text().splitlines())) for file in files if file.exists()]
    return (set.intersection(*sets), set.union(*sets)) if sets else None


class Differences:
    """Rows: versions, GPUs, programs, side, line (all regular expressions but the side), reason. A side that ends in ?
    is a matter of timing: the line may be missing."""

    def __init__(self, arguments):
        lines = (compare.HERE / 'model_differences.tsv').read_text().splitlines()
        rows = [line.split('\t') for line in lines if line and not line.startswith('#')]
        here = lambda row: re.fullmatch(row[0], arguments.version) and re.fullmatch(row[1], arguments.gpu)
        self.rows = [row for row in rows if here(row)]
        self.used = set()

    def explained(self, program, side, line):
        matching = [i for i, row in enumerate(self.rows)
                    if re.fullmatch(row[2], program) and row[3].rstrip('?') == side and re.fullmatch(row[4], line)]
        self.used.update(matching)
        return bool(matching)

    def unused(self):
        return [row for i, row in enumerate(self.rows) if i not in self.used and not row[3].endswith('?')]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    stock.add_arguments(parser)
    for name in ('--version', '--programs', '--module'):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    stack = stock.Stack(arguments)
    differences, problems, programs = Differences(arguments), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for program in compare.PROGRAMS:
            lines_of = recorded(arguments.version, arguments.gpu, program)
            if not lines_of:
                continue
            programs += 1
            always, sometimes = lines_of
            lines = run_stock(stack, arguments, program, pathlib.Path(folder))
            for side, extra in (('vgpu', lines - sometimes), ('recordings', always - lines)):
                problems += [f'{program}: in {side} only: {line}' for line in sorted(extra)
                             if not differences.explained(program, side, line)]
    problems += [f'this row explains nothing: {row}' for row in differences.unused()]
    for problem in problems:
        print(problem)
    print(f'{programs} programs of HIP {arguments.version} on {arguments.gpu}, {len(problems)} lines not explained')
    return 1 if problems or not programs else 0


if __name__ == '__main__':
    sys.exit(main())
