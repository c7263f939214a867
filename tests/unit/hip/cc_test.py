#!/usr/bin/env python3
"""barehip-cc: its help, its errors, and that it compiles every device function for both targets at -O0 and -O3.

cc_test.py BAREHIP-CC DEVICE_API.HIP TARGET.CPP (the loader's table of targets)
"""
import glob
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CC, DEVICE_API, TARGET_TABLE = sys.argv[1:4]


def cc(*arguments, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BAREHIP_")} | environment
    return subprocess.run([CC, *arguments], capture_output=True, text=True, env=env, check=False)


def as_module():
    loader = importlib.machinery.SourceFileLoader("barehip_cc", CC)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("barehip_cc", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Architectures(unittest.TestCase):
    def test_supported_ones_are_the_loaders(self):
        with open(TARGET_TABLE, encoding="utf-8") as file:
            table = re.findall(r'^    (?:unified_)?gfx\d+\("(gfx\w+)"|^  Target \w+ = gfx9\("(gfx\w+)"', file.read(), re.M)
        self.assertEqual(sorted(a or b for a, b in table), sorted(as_module().SUPPORTED_ARCHS))

    def test_the_machines_gpus(self):
        module = as_module()
        with tempfile.TemporaryDirectory() as nodes:
            for node, version in enumerate((0, 110001, 90010, 110001, 120001)):
                os.mkdir(os.path.join(nodes, str(node)))
                with open(os.path.join(nodes, str(node), "properties"), "w", encoding="ascii") as file:
                    file.write(f"simd_count 4\ngfx_target_version {version}\n")
            module.TOPOLOGY = nodes
            self.assertEqual(module.machine_archs(), ["gfx1101", "gfx90a"])
            os.environ.pop("BAREHIP_ARCH", None)
            self.assertEqual(module.default_archs(), ["gfx90a", "gfx1100", "gfx1101"])

    def test_named_ones_are_all(self):
        self.assertEqual(cc("--print-archs", BAREHIP_ARCH="gfx906,gfx942").stdout, "gfx906 gfx942\n")


class Messages(unittest.TestCase):
    def test_help(self):
        done = cc("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--offload-arch", "--hip-abi", "--genco", "examples:"):
            self.assertIn(word, done.stdout)

    def test_no_input(self):
        self.assertIn("no input file", cc("-O3").stderr)

    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as empty:
            os.symlink(shutil.which("python3"), os.path.join(empty, "python3"))
            done = cc("x.hip", PATH=empty, BAREHIP_CLANG="clang++-77")
            self.assertEqual(done.returncode, 2)
            self.assertIn("clang++-77", done.stderr)

    def test_bad_values(self):
        self.assertIn("5, 6 and 7", cc("--hip-abi=4", "x.hip").stderr)
        self.assertIn("4, 5 and 6", cc("-mcode-object-version=3", "x.hip").stderr)
        self.assertIn("/nowhere", cc("--device-libs=/nowhere", "-c", "x.hip").stderr)

    def test_library_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as empty:
            done = cc("x.o", BAREHIP_LIB_DIR=empty)
            self.assertEqual(done.returncode, 2)
            self.assertIn("build and install barehip first", done.stderr)


class Command(unittest.TestCase):
    def show(self, *arguments):
        done = cc("--show", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_unknown_options_go_through(self):
        line = self.show("-c", "a.hip", "--offload-compress", "-funroll-loops", "-o", "b.cpp")
        self.assertIn("--offload-compress", line)
        self.assertIn("-funroll-loops", line)
        self.assertEqual(line[line.index("-o") + 1], "b.cpp")
        self.assertEqual(line.count("hip"), 1)  # -x hip for a.hip, not for the output

    def test_architectures(self):
        self.assertIn("--offload-arch=gfx942", self.show("-c", "a.hip", "--offload-arch=gfx942"))
        self.assertNotIn("--offload-arch=gfx90a", self.show("-c", "a.hip", "--offload-arch=gfx942"))
        both = self.show("-c", "a.hip")
        self.assertIn("--offload-arch=gfx90a", both)
        self.assertIn("--offload-arch=gfx1100", both)


class Compiles(unittest.TestCase):
    def test_every_device_function(self):
        with tempfile.TemporaryDirectory() as folder:
            for level, version in (("-O0", "5"), ("-O3", "4"), ("-O3", "6")):
                out = os.path.join(folder, "out.o")
                # clang 19 warns that version 6 is new, with a warning that cannot be turned off by name.
                strict = ["-Werror"] if version != "6" else []
                done = cc("-c", level, f"-mcode-object-version={version}", "-Wall", "-Wextra", *strict, DEVICE_API, "-o", out)
                self.assertEqual(done.returncode, 0, f"{level} v{version}: {done.stderr}")
                self.assertNotRegex(done.stderr, r"\.(h|hip):\d+:\d+: warning", f"{level} v{version}")
                self.assertTrue(os.path.getsize(out) > 0)

    @unittest.skipUnless(glob.glob("/usr/lib/*/amdgcn/bitcode/ocml.bc"), "rocm-device-libs is not installed")
    def test_math_of_the_device_libraries(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "math.hip")
            with open(source, "w", encoding="utf-8") as file:
                file.write("#include <hip/hip_runtime.h>\n__global__ void k(float* f) { *f = sinf(*f) + powf(*f, 2.5f); }\n")
            out = os.path.join(folder, "math.o")
            self.assertNotEqual(cc("-c", source, "-o", out).returncode, 0)  # no library, no sinf
            done = cc("-c", "--device-libs", source, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_one_code_object(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "one.co")
            done = cc("--code-object=gfx1100", "-O3", DEVICE_API, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, "rb") as file:
                header = file.read(20)
            self.assertEqual(header[:4], b"\x7fELF")
            self.assertEqual(int.from_bytes(header[18:20], "little"), 224)  # EM_AMDGPU


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
