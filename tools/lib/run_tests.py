"""Runs the tests that meson knows and counts their cases.

Catch2 programs (named test-*) are run with the JUnit reporter and counted case by case; every other test counts as
one, by its exit status (77 = skipped, the last line of its output says why). Ends with one plain line:
N passed, N failed, N skipped.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

SKIPPED = 77


class Outcome:
    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.lines = []
        self.seconds = 0.0


def tests_of(build, suites, names):
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True,
                                       text=True).stdout)
    chosen = []
    for test in listed:
        of = {s.split(":")[-1] for s in test["suite"]}
        if names:
            if test["name"] in names:
                chosen.append(test)
        elif of & set(suites):
            chosen.append(test)
    unknown = set(names) - {t["name"] for t in listed}
    if unknown:
        sys.exit("error: no test named " + ", ".join(sorted(unknown)) + f"; see: meson test -C {build} --list")
    return chosen


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def count_junit(path, outcome):
    for case in ET.parse(path).getroot().iter("testcase"):
        bad = [e for tag in ("failure", "error") for e in case.findall(tag)]
        if bad:
            outcome.failed += 1
            text = " ".join((bad[0].text or "").split())[:600]
            outcome.lines.append(f"{case.get('classname')}: {case.get('name')}: {text}")
        elif case.find("skipped") is not None:
            outcome.skipped += 1
        else:
            outcome.passed += 1


def worth_showing(lines):
    """The end, or where there is one the start of a sanitizer's report: its end is a table of memory."""
    for number, line in enumerate(lines):
        if re.search(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: ", line):
            return lines[number:number + 40]
    return lines[-25:]


def run_one(test, build):
    outcome = Outcome(test["name"])
    catch = pathlib.Path(test["cmd"][0]).name.startswith("test-")
    report = tempfile.NamedTemporaryFile(suffix=".xml", delete=False)
    report.close()
    command = list(test["cmd"]) + (["-r", "junit", "-o", report.name] if catch else [])
    environment = dict(os.environ)
    environment.update({k: v for k, v in test.get("env", {}).items()})
    start = time.monotonic()
    limit = test["timeout"] or 3600
    if os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS"):
        limit *= 4
    try:
        done = subprocess.run(command, cwd=test.get("workdir") or build, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=limit)
        code, text = done.returncode, done.stdout + done.stderr
    except FileNotFoundError as missing:
        outcome.failed += 1
        outcome.lines.append(f"not built: {missing.filename}")
        os.unlink(report.name)
        return outcome
    except subprocess.TimeoutExpired as late:
        code = None
        text = ((late.stdout or b"") + (late.stderr or b"")).decode(errors="replace")
    outcome.seconds = time.monotonic() - start
    if code == SKIPPED:
        outcome.skipped += 1
        outcome.lines.append("skipped: " + last_line(text))
    elif not catch:
        if code == 0:
            outcome.passed += 1
        else:
            outcome.failed += 1
    else:
        try:
            count_junit(report.name, outcome)
        except ET.ParseError:
            outcome.failed += 1
            outcome.lines.append("the program ended before it could write its report")
        if code != 0 and outcome.failed == 0:
            outcome.failed += 1
        if code == 0 and outcome.passed + outcome.failed + outcome.skipped == 0:
            outcome.failed += 1
            outcome.lines.append("no case ran")
    if outcome.failed:
        why = f"no end after {limit} s" if code is None else f"exit status {code}"
        outcome.lines.append(f"{why}; command: {' '.join(command)}")
        outcome.lines += ["| " + line for line in worth_showing(text.splitlines())]
    os.unlink(report.name)
    return outcome


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    tests = tests_of(options.build, options.suite, options.names)
    alone = [t for t in tests if not t["is_parallel"]] if tests and "is_parallel" in tests[0] else []
    together = [t for t in tests if t not in alone]
    total = Outcome("all")
    number = 0

    def report(outcome):
        nonlocal number
        number += 1
        state = "FAIL" if outcome.failed else ("skip" if outcome.skipped and not outcome.passed else "ok")
        print(f"[{number}/{len(tests)}] {state:4} {outcome.name}: {outcome.passed} passed, {outcome.failed} failed"
              + (f", {outcome.skipped} skipped" if outcome.skipped else "") + f" ({outcome.seconds:.1f} s)", flush=True)
        for line in outcome.lines:
            print("      " + line, flush=True)
        total.passed += outcome.passed
        total.failed += outcome.failed
        total.skipped += outcome.skipped

    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_one, t, options.build) for t in together]):
            report(done.result())
    for test in alone:
        report(run_one(test, options.build))
    print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
    sys.exit(0 if total.failed == 0 and total.passed > 0 else 1)


if __name__ == "__main__":
    main()
