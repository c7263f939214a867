"""The README's table of what works is what barehip-info prints from the API table.

Usage: readme_table.py BAREHIP_INFO README
"""
import subprocess
import sys

printed = subprocess.run([sys.argv[1], "--api", "--markdown"], check=True, capture_output=True, text=True).stdout.strip()
text = open(sys.argv[2]).read()
start, end = "<!-- barehip-info --api --markdown -->\n", "\n<!-- end -->"
if start not in text or end not in text:
    sys.exit("the README has lost the marks around its table")
written = text.split(start)[1].split(end)[0].strip()
if written != printed:
    sys.exit("the README's table is out of date; put this in its place:\n" + printed)
print("the table is up to date")
