#!/usr/bin/env python3
"""Writes one seed file per packet of tests/unit/pm4/golden_packets.h: the dwords, little endian."""
import re
import struct
import sys

header, output_dir, *names = sys.argv[1:]
rows = re.findall(r'\d{5,6}, \{([^}]*)\}', open(header).read())
if len(rows) < len(names):
    sys.exit(f'{header}: {len(rows)} packets, {len(names)} seeds wanted')
for name, row in zip(names, rows):
    dwords = [int(word, 0) for word in row.split(',')]
    with open(f'{output_dir}/{name}', 'wb') as out:
        out.write(struct.pack(f'<{len(dwords)}I', *dwords))
