#!/usr/bin/env python3
"""Turns instructions.tsv into the tables that the decoder is built from.

usage: generate_tables.py instructions.tsv OUTDIR
  op_names.inc      the enumerators of Op
  op_table.inc      one OpInfo row per operation: names, operand slots, modifiers
  op_encodings.inc  {operation, format, opcode, targets} rows
"""
import re
import sys

TARGETS = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1151"]
FORMATS = {f: "k" + f.capitalize() for f in
           "SOP1 SOP2 SOPC SOPK SOPP SMEM VOP1 VOP2 VOPC VOP3 VOP3P VOPD VINTRP VINTERP LDSDIR DS FLAT GLOBAL SCRATCH "
           "MUBUF MTBUF MIMG EXP".split()}
TYPES = {"i16": ("kI16", 1), "i32": ("kI32", 1), "i64": ("kI64", 2), "f16": ("kF16", 1), "f32": ("kF32", 1),
         "f64": ("kF64", 2), "bf16": ("kBf16", 1), "v2i16": ("kV2I16", 1), "v2f16": ("kV2F16", 1),
         "v2bf16": ("kV2Bf16", 1), "v2i32": ("kV2I32", 2), "v2f32": ("kV2F32", 2)}


def slot(token):
    """One operand of a shape: (role, register class, type, dwords, is 16 bit)."""
    if ":" in token:
        role, bits = token.split(":")
        return (role, "any", "kBits", max(1, int(bits) // 32), False)
    role = "s"
    if token.startswith(">"):
        role, token = ">", token[1:]
    if token == "=":
        return ("=", "any", "kNone", 0, False)
    if token == "label":
        return ("l", "any", "kNone", 0, False)
    if token in ("k16", "k32"):
        return ("k", "any", "kBits", 1, False)
    if token == "m":
        return (role, "any", "kMask", 1, False)
    if token in TYPES:
        type_, dwords = TYPES[token]
        return (role, "any", type_, dwords, False)
    cls = {"v": "vgpr", "s": "sgpr", "a": "agpr"}.get(token[0], "any") if not token[1:].isdigit() else "any"
    rest = token if cls == "any" else token[1:]
    if rest in TYPES:
        type_, dwords = TYPES[rest]
        return (role, cls, type_, dwords, False)
    bits = int(re.fullmatch(r"b(\d+)", rest).group(1))
    return (role, cls, "kBits", max(1, bits // 32), bits == 16)


def modifiers(flags):
    packed = re.search(r"p(\d)", flags)
    return ", ".join([str(f in flags).lower() for f in "mcos"] + [packed.group(1) if packed else "0"])


def op_row(fields):
    op, gfx9, gfx11, shape, flags = fields[:5]
    name = lambda n: "" if n == "-" else op if n == "=" else n
    slots = [] if shape == "-" else [slot(t) for t in shape.split(" ")]
    text = ", ".join("{'%s', RegClass::%s, OperandType::%s, %d, %s}" % (r, c, t, d, str(h).lower())
                     for r, c, t, d, h in slots)
    both = (flags.split("/") * 2)[:2]
    return '{"%s", "%s", "%s", {{%s}}, %d, {{%s}, {%s}}},\n' % (
        op, name(gfx9), name(gfx11), text, len(slots), modifiers(both[0]), modifiers(both[1]))


def encodings(fields):
    masks, last = {}, "-"
    for bit, cell in enumerate(fields[5:]):
        last = cell if cell != "=" else last
        for enc in [] if last == "-" else last.split(","):
            masks[enc] = masks.get(enc, 0) | 1 << bit
    for enc, mask in sorted(masks.items()):
        fmt, opcode = enc.split(":")
        yield "{Op::%s, Format::%s, %s, 0x%02x},\n" % (fields[0], FORMATS[fmt], opcode, mask)


def main():
    table, outdir = sys.argv[1:]
    with open(table, encoding="utf-8") as f:
        lines = [l.rstrip("\n").split("\t") for l in f if not l.startswith("#")]
    assert lines[0][5:] == TARGETS
    rows = lines[1:]
    out = {"op_names": [r[0] + ",\n" for r in rows], "op_table": [op_row(r) for r in rows],
           "op_encodings": [e for r in rows for e in encodings(r)]}
    for name, text in out.items():
        with open("%s/%s.inc" % (outdir, name), "w", encoding="utf-8") as f:
            f.writelines(text)


if __name__ == "__main__":
    main()
