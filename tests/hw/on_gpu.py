#!/usr/bin/env python3
"""Runs a test program on the machine's own GPU; skips it (exit code 77) with a message where there is none.

It looks for what the driver shows, and not for what our library makes of it: a library that cannot open a GPU that is
there must fail, not skip.
"""
import os
import pathlib
import sys

NODES = pathlib.Path("/sys/devices/virtual/kfd/kfd/topology/nodes")
SKIP = 77


def has_gpu():
    try:
        return any((node / "gpu_id").read_text().strip() not in ("", "0") for node in NODES.iterdir())
    except OSError:
        return False


if not has_gpu():
    print(f"skipped: the kernel shows no GPU in {NODES}")
    sys.exit(SKIP)
os.environ.pop("BAREHIP_DEVICES", None)
os.execv(sys.argv[1], sys.argv[1:])
