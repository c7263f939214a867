#!/usr/bin/env python3
"""A program compiled by barehip-cc for soname 5 runs on the distribution's own HIP runtime over the simulated GPU.

stock_test.py --vgpu PROGRAM PROGRAM...     (exit code 77, skipped, where no stock libamdhip64.so.5 is installed)

What the stock runtime makes of the model is a witness for the model, and what it makes of our programs one for the
compiler driver. The log of requests that the model answered by a default must stay empty.
"""
import glob
import os
import subprocess
import sys

SKIPPED = 77


def main(option, vgpu, *programs):
    assert option == "--vgpu"
    installed = glob.glob("/usr/lib/*/libamdhip64.so.5")
    if not installed:
        print("skipped: no libamdhip64.so.5 is installed (Debian: libamdhip64-5)")
        return SKIPPED
    folder = os.path.dirname(installed[0])
    good = True
    for program in programs:
        env = os.environ | {"LD_LIBRARY_PATH": folder}
        linked = subprocess.run(["ldd", program], env=env, capture_output=True, text=True, check=True).stdout
        stock = f"libamdhip64.so.5 => {folder}/" in linked and "libhsa-runtime64" in linked
        line = [vgpu, "run", "--gpu", "gfx90a", "--strict-log-empty", "--", "env", "LD_LIBRARY_PATH=" + folder, program]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
        passed = stock and done.returncode == 0 and done.stdout.strip().endswith("PASSED")
        good &= passed
        print(f"{os.path.basename(program)} on the stock runtime: {'passed' if passed else 'FAILED'}")
        if not passed:
            print(f"exit code {done.returncode}, stock library {stock}\n{done.stdout}{done.stderr}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
