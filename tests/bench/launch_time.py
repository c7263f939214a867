#!/usr/bin/env python3
"""Processor time of a launch, ours and the distribution's HIP runtime in turn on the same simulated GPU.

launch_time.py --vgpu PROGRAM OUR-LIBRARY-FOLDER LAUNCH-TIME      (exit code 77 where no stock libamdhip64.so.5 is)

Both run in `vgpu run`, so the driver and the GPU are the same; what the model does on its own threads is not counted.
"""
import glob
import os
import statistics
import subprocess
import sys

SKIPPED = 77
ROUNDS = 3


def nanoseconds(vgpu, folder, program):
    line = [vgpu, "run", "--gpu", "gfx90a", "--", "env", "LD_LIBRARY_PATH=" + folder, program]
    return float(subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout.split()[-1])


def main(option, vgpu, ours, program):
    assert option == "--vgpu"
    installed = glob.glob("/usr/lib/*/libamdhip64.so.5")
    if not installed:
        print("skipped: no libamdhip64.so.5 is installed (Debian: libamdhip64-5)")
        return SKIPPED
    folders = {"barehip": ours, "stock": os.path.dirname(installed[0])}
    times = {name: [] for name in folders}
    for _ in range(ROUNDS):
        for name, folder in folders.items():
            times[name].append(nanoseconds(vgpu, folder, program))
    for name, values in times.items():
        print(f"{name}: {statistics.median(values):.0f} ns of processor time for a launch ({min(values):.0f} to {max(values):.0f})")
    print(f"stock / barehip: {statistics.median(times['stock']) / statistics.median(times['barehip']):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
