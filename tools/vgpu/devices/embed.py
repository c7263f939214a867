#!/usr/bin/env python3
"""embed.py OUT.cpp CARD.json...: puts the device files into a C++ source, so that the libraries need no data folder."""
import pathlib
import sys

out, *cards = sys.argv[1:]
lines = ['#include "tools/vgpu/devices/card.h"', "", "namespace vgpu {", "", "const EmbeddedCard kEmbeddedCards[] = {"]
for card in cards:
    path = pathlib.Path(card)
    lines.append('    {"%s", R"json(%s)json"},' % (path.stem, path.read_text()))
lines += ["    {nullptr, nullptr},", "};", "", "}  // namespace vgpu", ""]
pathlib.Path(out).write_text("\n".join(lines))
