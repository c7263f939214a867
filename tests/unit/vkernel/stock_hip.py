#!/usr/bin/env python3
"""stock_hip.py VGPU PROGRAM...: HIP programs on the distribution's own libamdhip64 5.2.3, ROCr and thunk run on the
simulated gfx90a to a correct result, and nothing they ask is answered by a default."""
import os
import re
import subprocess
import sys

SKIPPED = 77


def stock_library():
    """The distribution's library: only it carries a version in its file name."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    for path in re.findall(r"libamdhip64\.so\.5 .*=> (\S+)", known):
        if re.search(r"libamdhip64\.so\.5\.2\.\d+$", os.path.realpath(path)):
            return path
    return None


def main():
    vgpu, programs = sys.argv[1], sys.argv[2:]
    library = stock_library()
    if library is None:
        print("skipped: no stock libamdhip64.so.5 (Debian package libamdhip64-5)")
        return SKIPPED
    env = {name: value for name, value in os.environ.items() if not name.startswith("BAREHIP_")}
    env["LD_LIBRARY_PATH"] = os.path.dirname(library)
    for program in programs:
        linked = subprocess.run(["ldd", program], env=env, capture_output=True, text=True, check=False).stdout
        if library not in linked:
            print(f"{program} is not linked to {library}:\n{linked}")
            return 1
        command = [vgpu, "run", "--gpu", "gfx90a", "--strict-log-empty", "--", program]
        run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        if run.returncode != 0 or not run.stdout.strip().endswith("PASSED"):
            print(f"{program}: exit {run.returncode}\n{run.stdout}\n{run.stderr}")
            return 1
        print(f"{os.path.basename(program)}: passed on {library}")
    return 0


sys.exit(main())
