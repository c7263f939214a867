"""Checks the tree itself: which room includes which, sizes of files, links of documents, text that must not be there.

Usage: check_tree.py TOP. Prints each fault with file and line, and ends with status 1 when there is one.
"""
import pathlib
import re
import subprocess
import sys

# Who may include what (first path component of the include, or "barehip" for the public API). A room may always
# include itself. docs/architecture.md explains why.
PUBLIC = {"barehip"}
MAY_INCLUDE = {
    "include/barehip": PUBLIC,
    "include/hip": {"hip"},
    "pm4": {"barehip"},
    "codeobj": {"barehip"},
    "kfd": {"barehip", "pm4"},
    "runtime": {"barehip", "pm4", "codeobj", "kfd", "hip"},
    "tools/vgpu": {"barehip", "pm4", "codeobj", "kfd/os.h"},
}
ROOMS = {"pm4", "codeobj", "kfd", "runtime", "hip", "barehip", "tools", "tests", "examples"}
CODE = {".h", ".hpp", ".cpp", ".c", ".hip", ".cc"}
MAX_LINES = 800


def tracked(top):
    listed = subprocess.run(["git", "-C", top, "ls-files"], check=True, capture_output=True, text=True).stdout
    return [pathlib.Path(line) for line in listed.splitlines() if (pathlib.Path(top) / line).is_file()]


def room_of(path):
    text = path.as_posix()
    for room in sorted(MAY_INCLUDE, key=len, reverse=True):
        if text.startswith(room + "/"):
            return room
    return None


def check_includes(path, text, faults):
    room = room_of(path)
    if room is None or path.suffix not in CODE | {".inc"}:
        return
    own = "barehip" if room == "include/barehip" else room.split("/")[-1] if room != "tools/vgpu" else "tools/vgpu"
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+[<"]([^">]+)[">]', line)
        if not match:
            continue
        target = match.group(1)
        first = target.split("/")[0]
        if first not in ROOMS or "/" not in target:
            continue
        if target.startswith(own + "/") or target in MAY_INCLUDE[room] or first in MAY_INCLUDE[room]:
            continue
        faults.append(f"{path}:{number}: {room} may not include {target}")


def check_size(path, text, faults):
    if path.suffix in CODE and "generated" not in path.name:
        lines = text.count("\n")
        if lines > MAX_LINES:
            faults.append(f"{path}: {lines} lines; a file has one subject and at most {MAX_LINES} lines")


def check_links(top, path, text, faults):
    if path.suffix != ".md":
        return
    for number, line in enumerate(text.splitlines(), 1):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
            if "://" in target or target.startswith("mailto:"):
                continue
            if not (top / path.parent / target).exists():
                faults.append(f"{path}:{number}: link to {target}, which is not there")


def check_words(path, text, faults):
    if path.name == "check_tree.py":
        return
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            faults.append(f"{path}:{number}: unfinished by its own word: {line.strip()[:80]}")
        if re.search(r"(^|[^\w./])/(work|farm)/[a-z.]", line):
            faults.append(f"{path}:{number}: a path of one machine: {line.strip()[:80]}")


def main():
    top = pathlib.Path(sys.argv[1])
    faults = []
    count = 0
    for path in tracked(top):
        try:
            text = (top / path).read_text()
        except UnicodeDecodeError:
            continue
        count += 1
        check_includes(path, text, faults)
        check_size(path, text, faults)
        check_links(top, path, text, faults)
        check_words(path, text, faults)
    print("\n".join(faults) if faults else f"{count} files in order")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
