#!/usr/bin/env python3
"""command_line.py VGPU: what the launcher says and returns."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

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
expect(["run", "--gpu", "gfx90a", "--", "ls", "-d", "--color=never", "/"], 0, out="/")
expect(["run", "--gpu", "gfx90a"], 2, err="wants a program")
expect(["run", "--", "sh", "-c", f"kill -{signal.SIGTERM} $$"], 128 + signal.SIGTERM)
expect(["run", "--gpu", "gfx000", "--", "true"], 2, err="gfx90a (mi210)")
expect(["run", "--hostile", "1:nonsense", "--", "true"], 2, err="nonsense")
expect(["run", "--vram", "x", "--", "true"], 2, err="vram=x")
expect(["run", "--", "no-such-program-anywhere"], 2, err="no-such-program-anywhere")
if os.path.exists("/sbin/ldconfig"):
    expect(["run", "--", "/sbin/ldconfig", "-p"], 2, err="statically linked")
loader = "/lib64/ld-linux-x86-64.so.2"
if os.path.exists(loader):
    expect(["run", "--", loader, "/bin/cat", "/sys/module/amdgpu/initstate"], 0, out="live")
expect(["run", "--", "sh", "-c", "cat /sys/class/kfd/kfd/topology/nodes/1/gpu_id"], 0)
# A second process of the tree sees the same machine; the folder is gone afterwards.
seen = subprocess.run([VGPU, "run", "--", "sh", "-c", "echo $VGPU_ROOT; test -d $VGPU_ROOT/sys && head -1 /proc/modules"],
                      capture_output=True, text=True, timeout=60, check=False)
root = seen.stdout.splitlines()[0] if seen.stdout else ""
if seen.returncode != 0 or not root or os.path.exists(root):
    failures += 1
    print(f"the fake root '{root}' was not there, or is still: {seen.stdout}{seen.stderr}")
# Who may open what. Numbers are errnos: 2 ENOENT, 13 EACCES, 1 EPERM.
OPEN = ("import os,sys\n"
        "for path in sys.argv[1:]:\n"
        "    try: os.read(os.open(path, os.O_RDWR if path.startswith('/dev') else os.O_RDONLY), 64); print('0')\n"
        "    except OSError as error: print(error.errno)\n")
NODE = "/sys/class/kfd/kfd/topology/nodes/1/"
for flags, codes in (
        ([], "22 11 0 0"),  # reading the devices: EINVAL, and EAGAIN of the render node
        (["--kfd-node", "absent"], "2 11 0 0"),
        (["--kfd-node", "denied"], "13 11 0 0"),
        (["--render", "absent"], "22 2 0 0"),
        (["--render", "denied"], "22 13 0 0"),
        (["--render", "cgroup"], "22 1 1 1")):
    expect(["run"] + flags + ["--", sys.executable, "-c", OPEN, "/dev/kfd", "/dev/dri/renderD128", NODE + "gpu_id",
                              NODE + "properties"], 0, out="\n".join(codes.split()) + "\n")
expect(["run", "--render", "cgroup", "--", "sh", "-c", f"ls {NODE} | wc -l"], 0)
expect(["run", "--gpu", "mi210,rx7900xtx+render=absent", "--", "sh", "-c", "ls /dev/dri"], 0, out="renderD128\n")
expect(["run", "--gpu", "mi300x", "--", "sh", "-c", "cat /sys/class/drm/renderD128/device/ip_discovery/die/0/11/0/minor"], 0,
       out="4\n")
expect(["run", "--gpu", "mi210,mi210", "--", "sh", "-c", "ls /sys/dev/char/226:129/device/drm"], 0, out="card1\nrenderD129\n")
expect(["kfd"], 0, out="| 0x26 DBG_TRAP | 1.13 |")
# The table in the documentation is the one of the program.
table = subprocess.run([VGPU, "kfd"], capture_output=True, text=True, timeout=60, check=False).stdout
document = pathlib.Path(__file__).resolve().parents[3].joinpath("docs/vgpu.md").read_text(encoding="utf-8")
if not table or table not in document:
    failures += 1
    print("docs/vgpu.md does not have the table of `vgpu kfd`:\n" + table)
# A recording of a client's requests can be shown.
with tempfile.TemporaryDirectory() as folder:
    recording = folder + "/recording"
    ASK = "import fcntl,os\ntry: fcntl.ioctl(os.open('/dev/kfd', os.O_RDWR), 0x80084b01, bytearray(8))\nexcept OSError: pass\n" \
          "try: fcntl.ioctl(os.open('/dev/kfd', os.O_RDWR), 0x40084b09, bytearray(8))\nexcept OSError: pass\n"
    expect(["run", "--record", recording, "--", sys.executable, "-c", ASK], 0)
    expect(["show", recording], 0, out="1 ioctl GET_VERSION version=1.14 -> 0\n     2 ioctl DESTROY_EVENT event=0x0 -> EINVAL\n")
# Two programs of one run share the GPU's memory, and one that is killed gives its own back.
SHARE = """
import fcntl, os, struct, subprocess, sys
kfd, render = os.open('/dev/kfd', os.O_RDWR), os.open('/dev/dri/renderD128', os.O_RDWR)
gpu = int(open('/sys/class/kfd/kfd/topology/nodes/1/gpu_id').read())
def available():
    words = bytearray(struct.pack('<QII', 0, gpu, 0))
    fcntl.ioctl(kfd, 0xc0104b23, words)
    return struct.unpack('<Q', words[:8])[0] >> 20
def allocate(mebibytes):
    fcntl.ioctl(kfd, 0xc0284b16, bytearray(struct.pack('<QQQQII', 1 << 32, mebibytes << 20, 0, 0, gpu, 1)))
fcntl.ioctl(kfd, 0x40084b15, struct.pack('<II', render, gpu))
if len(sys.argv) > 1:
    before = available()
    allocate(100)
    print(before, available(), flush=True)
    os.kill(os.getpid(), 9)
allocate(56)
subprocess.run([sys.executable, sys.argv[0], 'child'])
print(available())
"""
with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
    script.write(SHARE)
    script.flush()
    expect(["run", "--vram", "256M", "--", sys.executable, script.name], 0, out="200 100\n200\n")
# A program does not outlive its GPU.
def alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


with subprocess.Popen([VGPU, "run", "--", "/bin/sh", "-c", "echo $$ $VGPU_ROOT; exec sleep 60"], stdout=subprocess.PIPE, text=True) as run:
    program, folder = run.stdout.readline().split()
    run.kill()
deadline = time.monotonic() + 10
while alive(program) and time.monotonic() < deadline:
    time.sleep(0.05)
if alive(program):
    failures += 1
    print("the program runs on after `vgpu run` was killed")
    os.kill(int(program), signal.SIGKILL)
shutil.rmtree(folder)
expect(["show", "/nowhere"], 2, err="/nowhere")
sys.exit(1 if failures else 0)
