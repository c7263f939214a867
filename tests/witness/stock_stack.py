#!/usr/bin/env python3
"""Runs ROCm's own rocminfo and a HIP program on ROCm's own libraries over a simulated GPU, in strict mode: results must be
correct, and no request may have been answered by a default. Without --release the libraries are those installed here.
Exit status 77 (skipped) where they cannot be had, or are of another version of HIP.
"""
import argparse
import os
import re
import sys

import stock


def check(stack, what, program, *wanted):
    done = stack.run(program)
    lacking = [each for each in wanted if not re.search(each, done.stdout, re.M)]
    passed = done.returncode == 0 and not lacking and 'by a default' not in done.stderr
    print(f'{what}: {"passed" if passed else "FAILED"}')
    if not passed:
        print(f'exit status {done.returncode}, not in its output: {lacking}\n{done.stdout}{done.stderr}')
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    stock.add_arguments(parser)
    parser.add_argument('--program', required=True)
    arguments = parser.parse_args()
    stack = stock.Stack(arguments)
    lanes = '32' if re.match('gfx1[0-9]', arguments.gpu) else '64'
    good = check(stack, 'rocminfo', [stack.rocminfo], rf'^ +Name: +{arguments.gpu} *$', r'^ +Device Type: +GPU *$',
                 rf'^ +Wavefront Size: +{lanes}\(', r'^\*\*\* Done \*\*\*')
    good &= check(stack, 'HIP program', [os.path.abspath(arguments.program), lanes], '^all correct$')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
