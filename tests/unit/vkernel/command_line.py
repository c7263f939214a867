#!/usr/bin/env python3
"""command_line.py VGPU: what the launcher says and returns."""
import os
import signal
import subprocess
import sys

VGPU = sys.argv[1]
failures = 0


def expect(arguments, code, out="", err=""):
    global failures
    run = subprocess.run([VGPU] + arguments, capture_output=True, text=True, timeout=60, check=False)
    if run.returncode != code or out not in run.stdout or err not in run.stderr:
        failures += 1
        print(f"vgpu {' '.join(arguments)}: exit {run.returncode}, expected {code}\n{run.stdout}{run.stderr}")


expect(["list"], 0, out="gfx1100")
expect(["--help"], 0, out="Examples:")
expect(["run", "--", "true"], 0)
expect(["run", "--", "false"], 1)
expect(["run", "--", "sh", "-c", "exit 7"], 7)
expect(["run", "--", "sh", "-c", f"kill -{signal.SIGTERM} $$"], 128 + signal.SIGTERM)
expect(["run", "--gpu", "gfx000", "--", "true"], 2, err="gfx90a (mi210)")
expect(["run", "--hostile", "1:nonsense", "--", "true"], 2, err="nonsense")
expect(["run", "--vram", "x", "--", "true"], 2, err="vram=x")
expect(["run", "--", "no-such-program-anywhere"], 2, err="no-such-program-anywhere")
if os.path.exists("/sbin/ldconfig"):
    expect(["run", "--", "/sbin/ldconfig", "-p"], 2, err="statically linked")
expect(["run", "--", "sh", "-c", "cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id"], 0)
# A second process of the tree sees the same machine; the folder is gone afterwards.
seen = subprocess.run([VGPU, "run", "--", "sh", "-c", "echo $VGPU_ROOT; test -d $VGPU_ROOT/sys && head -1 /proc/modules"],
                      capture_output=True, text=True, timeout=60, check=False)
root = seen.stdout.splitlines()[0] if seen.stdout else ""
if seen.returncode != 0 or not root or os.path.exists(root):
    failures += 1
    print(f"the fake root '{root}' was not there, or is still: {seen.stdout}{seen.stderr}")
sys.exit(1 if failures else 0)
