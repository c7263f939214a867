#!/usr/bin/env python3
"""Turns witnesses.txt into {operation, letters} rows.

usage: generate_witnesses.py witnesses.txt op_witnesses.inc
"""
import sys


def witnesses(path):
    """Lines of "letters: operation operation ...", continued by lines that start with a blank."""
    with open(path, encoding="utf-8") as f:
        text = "".join(l for l in f if not l.startswith("#")).replace("\n ", " ")
    for line in text.splitlines():
        letters, ops = line.split(":")
        for op in ops.split():
            yield '{Op::%s, "%s"},\n' % (op, letters)


def main():
    source, target = sys.argv[1:]
    with open(target, "w", encoding="utf-8") as f:
        f.writelines(witnesses(source))


if __name__ == "__main__":
    main()
