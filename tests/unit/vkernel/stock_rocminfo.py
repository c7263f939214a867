#!/usr/bin/env python3
"""stock_rocminfo.py VGPU: the distribution's own rocminfo lists the simulated GPU, and asks nothing that the model does
not really answer."""
import shutil
import subprocess
import sys

SKIPPED = 77


def main():
    vgpu = sys.argv[1]
    if shutil.which("rocminfo") is None:
        print("skipped: no rocminfo (Debian package rocminfo)")
        return SKIPPED
    for count in (1, 2):
        command = [vgpu, "run", "--strict-log-empty"] + ["--gpu", "gfx90a"] * count + ["--", "rocminfo"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        agents = [line for line in run.stdout.splitlines() if "Name:" in line and "gfx90a" in line and "amdgcn" not in line]
        isa = run.stdout.count("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-")
        if run.returncode != 0 or len(agents) != count or isa != count or "Compute Unit:            104" not in run.stdout:
            print(run.stdout, run.stderr, sep="\n")
            print(f"{count} GPU: exit {run.returncode}, {len(agents)} agents, {isa} instruction sets")
            return 1
    return 0


sys.exit(main())
