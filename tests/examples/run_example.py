#!/usr/bin/env python3
"""Runs one example on a simulated GPU through one door, strict and hostile, at both optimization levels.

run_example.py --gpu gfx90a --door in-process|preload [--vgpu PROGRAM] [--libs DIR]... [--preload LIBRARY]
               [--seeds 1,2] PROGRAM...

A run is right when it exits with 0 and its last line is PASSED. Programs may be followed by "=ARGUMENT".
"""
import argparse
import os
import subprocess
import sys
import time

TIMEOUT_SECONDS = 120


def environment(libs, devices=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BAREHIP_")}
    env["LD_LIBRARY_PATH"] = ":".join(libs + [env.get("LD_LIBRARY_PATH", "")]).rstrip(":")
    env.setdefault("AMD_LOG_LEVEL", "1")
    if devices:
        env["BAREHIP_DEVICES"] = devices
    return env


def command_and_environment(options, program, seed):
    name, _, argument = program.partition("=")
    line = [name] + ([argument] if argument else [])
    if options.door == "in-process":
        devices = f"vgpu:{options.gpu}" + (f"+hostile={seed}" if seed else "")
        env = environment(options.libs, devices)
        return line, env | ({"LD_PRELOAD": options.preload} if options.preload else {})
    launcher = [options.vgpu, "run", "--gpu", options.gpu] + (["--hostile", str(seed)] if seed else []) + ["--"]
    return launcher + line, environment(options.libs)


def run(options, program, seed):
    line, env = command_and_environment(options, program, seed)
    shown = os.path.basename(program.partition("=")[0])
    what = f"{shown} on {options.gpu}, {options.door}, " + (f"hostile {seed}" if seed else "strict")
    start = time.monotonic()
    try:
        done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        print(f"{what}: no end within {TIMEOUT_SECONDS} s")
        print((late.stdout or b"").decode() + (late.stderr or b"").decode())
        return False
    lines = done.stdout.strip().splitlines()
    good = done.returncode == 0 and bool(lines) and lines[-1] == "PASSED"
    print(f"{what}: {'passed' if good else 'FAILED'} in {time.monotonic() - start:.2f} s")
    if not good:
        print(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--door", choices=["in-process", "preload"], required=True)
    parser.add_argument("--vgpu")
    parser.add_argument("--libs", action="append", default=[])
    parser.add_argument("--preload", default="", help="for the in-process door: the runtime of a sanitizer")
    parser.add_argument("--seeds", default="")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    seeds = [0] + [int(seed) for seed in options.seeds.split(",") if seed]
    results = [run(options, program, seed) for program in options.programs for seed in seeds]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
