#!/usr/bin/env python3
"""Our libraries export exactly what the stock ones of their soname export, under the same version nodes.

exports_test.py STOCK_EXPORTS.txt libamdhip64.so.5 libamdhip64.so.6 libamdhip64.so.7

The list comes from Debian's packages. Where the distribution's own libamdhip64.so.5 is installed, that file is asked too.
"""
import glob
import re
import subprocess
import sys

VERSIONS = {"5": ("5.2.3", "5.7.1"), "6": ("6.4.3",), "7": ("7.2.4",)}


def exported(library):
    """{symbol: node} of the functions that a library defines, the version nodes themselves left out."""
    text = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+\(?([\w.]+)\)?\s+(\S+)$", line)
        if match and match.group(1) not in ("*UND*", "*ABS*") and match.group(2).startswith("hip_"):
            found[match.group(3)] = match.group(2)
    return found


def stock_list(path, versions):
    found = {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("#"):
            continue
        symbol, node, seen_in = line.split()
        if set(seen_in.split(",")) & set(versions):
            found[symbol] = node
    return found


def compare(what, ours, wanted, exact):
    wrong = [f"{s}@{n}: missing" for s, n in sorted(wanted.items()) if s not in ours]
    wrong += [f"{s}: in node {ours[s]}, stock has {n}" for s, n in sorted(wanted.items()) if ours.get(s, n) != n]
    if exact:
        wrong += [f"{s}@{n}: exported, stock does not" for s, n in sorted(ours.items()) if s not in wanted]
    print(f"{what}: {len(ours)} exported, {len(wanted)} wanted, {len(wrong)} wrong")
    for line in wrong:
        print("  " + line)
    return not wrong


def main(stock_path, *libraries):
    good = True
    for library in libraries:
        generation = re.search(r"libamdhip64\.so\.?(\d)?", library).group(1) or "6"
        ours = exported(library)
        good &= compare(library, ours, stock_list(stock_path, VERSIONS[generation]), exact=True)
        needed = subprocess.run(["objdump", "-p", library], check=True, capture_output=True, text=True).stdout
        soname = re.search(r"SONAME\s+(\S+)", needed).group(1)
        if soname != f"libamdhip64.so.{generation}":
            print(f"{library}: its soname is {soname}")
            good = False
        foreign = re.findall(r"NEEDED\s+(lib(?:LLVM|hsa|amd_comgr|rocm)\S*)", needed)
        if foreign:
            print(f"{library}: needs {', '.join(foreign)}")
            good = False
        installed = glob.glob("/usr/lib/*/libamdhip64.so.5") if generation == "5" else []
        for stock in installed:
            good &= compare(stock, ours, exported(stock), exact=False)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
