"""Checks that every C and C++ file is as .clang-format wants it.

Usage: check_format.py TOP. Prints the places that differ and ends with status 1; with 77 (skipped) where there is no
clang-format-19. Other versions format differently, so none stands in for it.
"""
import pathlib
import shutil
import subprocess
import sys

SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cc", ".hip"}


def main():
    top = sys.argv[1]
    tool = shutil.which("clang-format-19")
    if tool is None:
        print("skipped: no clang-format-19 here (Debian package clang-format-19)")
        return 77
    listed = subprocess.run(["git", "-C", top, "ls-files"], check=True, capture_output=True, text=True).stdout
    paths = [name for name in listed.splitlines() if pathlib.Path(name).suffix in SUFFIXES]
    paths = [name for name in paths if (pathlib.Path(top) / name).is_file()]
    result = subprocess.run([tool, "--dry-run", "-Werror", *paths], cwd=top, capture_output=True, text=True)
    places = [line for line in result.stderr.splitlines() if ": error:" in line]
    print("\n".join(places))
    if result.returncode != 0:
        print(f"{len(places)} places differ; mend them with: git ls-files '*.h' '*.cpp' '*.hip' '*.c' | xargs clang-format-19 -i")
        return 1
    print(f"{len(paths)} files are formatted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
