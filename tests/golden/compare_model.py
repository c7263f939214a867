#!/usr/bin/env python3
"""Runs the golden programs on the distribution's own HIP 5.2.3 over the simulated gfx90a, and compares what it asks and
puts into its queues with what the same version did in the recordings (stock/5.2.3-*). The recordings' device was made
apart from vgpu, so the same requests here and there say that vgpu answers as expected. A line that only one side has
fails. Exit code 77 (skipped) where no stock libamdhip64.so.5 is installed.
"""
import argparse
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

import compare
import condense

SKIPPED = 77
VERSION = '5.2.3'


def run_stock(arguments, program, folder, library_folder):
    trace = folder / program
    command = [os.path.abspath(arguments.vgpu), 'run', '--gpu', 'gfx90a', '--trace', str(trace), '--', 'env',
               'LD_LIBRARY_PATH=' + library_folder, 'GOLDEN_TRACE=' + str(trace), os.path.abspath(arguments.programs),
               program, os.path.abspath(arguments.module)]
    done = subprocess.run(command, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'program {program} failed on the stock runtime ({done.returncode}):\n{done.stdout}')
    return compare.comparable(condense.expand(condense.condense_vgpu(trace.read_text())))


def recorded(program):
    """The plain recording, and what either it or the one on a slow device has: how much is waited for is timing."""
    read = lambda file: compare.comparable(condense.expand(file.read_text().splitlines()))
    plain = read(compare.HERE / f'stock/{VERSION}-{program}.txt')
    slow = compare.HERE / f'stock/{VERSION}-{program}-slow.txt'
    return (plain & read(slow), plain | read(slow)) if slow.exists() else (plain, plain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('--vgpu', '--programs', '--module'):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    installed = glob.glob(f'/usr/lib/*/libamdhip64.so.5.{VERSION[2:4]}*')
    if not installed:
        print(f'skipped: no libamdhip64 of HIP {VERSION} is installed (Debian 12: libamdhip64-5)')
        return SKIPPED
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for program in compare.PROGRAMS:
            lines = run_stock(arguments, program, pathlib.Path(folder), os.path.dirname(installed[0]))
            always, sometimes = recorded(program)
            problems += [f'{program}: on vgpu only: {line}' for line in sorted(lines - sometimes)]
            problems += [f'{program}: in the recordings only: {line}' for line in sorted(always - lines)]
    for problem in problems:
        print(problem)
    print(f'{len(compare.PROGRAMS)} programs of HIP {VERSION} on vgpu, {len(problems)} lines differ from the recordings')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
