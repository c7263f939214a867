#!/usr/bin/env python3
"""Everything that is made from runtime/api.def: run by the build, one product per call.

  generate.py table    API.DEF OUT   one BAREHIP_API(...) line per symbol: ids, names, coverage
  generate.py refused  API.DEF OUT   C++ definitions of the entry points with status "refused"
  generate.py exports  API.DEF OUT GENERATION   linker version script of libamdhip64.so.GENERATION (5, 6 or 7)
  generate.py addresses API.DEF OUT  the address of each C function, by name (hipGetProcAddress)
"""
import re
import sys
from dataclasses import dataclass

OBSERVED = ("5.2", "5.7", "6.4", "7.2")
STATUSES = ("implemented", "refused")
# How a refusal looks when the function cannot return a hipError_t. Pointers answer null, other values zero.
REFUSAL_VALUES = {
    "hipError_t": "hipErrorNotSupported",
    "hiprtcResult": "HIPRTC_ERROR_INTERNAL_ERROR",
    "void": None,
    "bool": "false",
    "int": "-1",
}


@dataclass
class Function:
    symbol: str
    family: str
    node: str
    generations: tuple
    implemented: bool
    signature: str

    @property
    def returns(self):
        return re.match(r"(.*?)\s*[\w:]+\s*\(", self.signature).group(1).strip()

    def exported_by(self, soname):
        return any(g.startswith(f"{soname}.") for g in self.generations)


def read_table(path):
    functions, seen = [], set()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split(" | ")]
            where = f"{path}:{number}"
            if len(fields) != 6:
                sys.exit(f"{where}: {len(fields)} fields, wanted 6")
            symbol, family, node, generations, status, signature = fields
            generations = tuple(generations.split(","))
            if symbol in seen:
                sys.exit(f"{where}: {symbol} is listed twice")
            if not set(generations) <= set(OBSERVED) or status not in STATUSES or not re.fullmatch(r"hip_\d+\.\d+", node):
                sys.exit(f"{where}: bad generation, status or node")
            seen.add(symbol)
            functions.append(Function(symbol, family, node, generations, status == "implemented", signature))
    return functions


def table(functions):
    out = []
    for f in functions:
        mask = sum(1 << OBSERVED.index(g) for g in f.generations)
        out.append(f'BAREHIP_API({f.symbol}, "{f.family}", "{f.node}", {mask:#x}, {str(f.implemented).lower()})\n')
    return "".join(out)


def refused(functions):
    out = ['#include "runtime/api/entry.h"\n#include "runtime/api/extra_exports.h"\n\n'
           "using namespace barehip::runtime;\n\n"]
    for f in functions:
        if f.implemented:
            continue
        value = REFUSAL_VALUES.get(f.returns, "{}")
        signature = f.signature.replace("(void)", "()")
        if f.symbol.startswith("_Z"):
            # The mangled twin of a function that later became extern "C". Its own C++ name would clash with that one.
            signature = re.sub(r"[\w:]+\(", f"barehip_{f.symbol}(", signature, count=1)
            out.append(f'extern "C" BAREHIP_EXPORT {signature} __asm__("{f.symbol}");\n')
        call = f'refuse(api_id("{f.symbol}"));'
        body = call if value is None else f"{call} return {value};"
        out.append(f'extern "C" BAREHIP_EXPORT {signature} {{ {body} }}\n')
    return "".join(out)


def version_key(node):
    return tuple(int(part) for part in node.removeprefix("hip_").split("."))


def exports(functions, soname):
    """Each node inherits the one before it. Nodes that a generation has are there even when they hold no symbol."""
    listed = [f for f in functions if f.exported_by(soname)]
    newest = max(version_key(f.node) for f in listed)
    nodes = sorted({f.node for f in functions if version_key(f.node) <= newest}, key=version_key)
    out, parent = [], ""
    for node in nodes:
        symbols = sorted(f.symbol for f in listed if f.node == node)
        out.append(f"{node} {{\n")
        if symbols:
            out.append("  global:\n" + "".join(f"    {symbol};\n" for symbol in symbols))
        if not parent:
            out.append("  local: *;\n")
        out.append(f"}}{' ' + parent if parent else ''};\n")
        parent = node
    return "".join(out)


def addresses(functions):
    """Only addresses are taken, so the declarations need no parameter types; the file includes no HIP header."""
    names = [f.symbol for f in functions if not f.symbol.startswith("_")]
    out = ['#include "runtime/api/addresses.h"\n\nextern "C" {\n']
    out += [f"void {name}();\n" for name in names]
    out.append("}\n\nnamespace barehip::runtime {\n\nstatic const ApiAddress kAddresses[] = {\n")
    out += [f'    {{api_id("{name}"), &::{name}}},\n' for name in names]
    out.append("};\n\nstd::span<const ApiAddress> api_addresses() { return kAddresses; }\n\n}  // namespace barehip::runtime\n")
    return "".join(out)


def main(arguments):
    what, source, target, *rest = arguments
    functions = read_table(source)
    text = {"table": table, "refused": refused, "exports": exports, "addresses": addresses}[what](functions, *rest)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
