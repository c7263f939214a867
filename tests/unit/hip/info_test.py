#!/usr/bin/env python3
"""barehip-info: devices, why there is none, the API table, the environment.

info_test.py BAREHIP-INFO FOLDER-OF-THE-SIMULATED-GPU
"""
import json
import os
import subprocess
import sys
import unittest

INFO, VGPU_FOLDER = sys.argv[1:3]


def info(*arguments, devices="vgpu:gfx90a"):
    env = {k: v for k, v in os.environ.items() if not k.endswith("VISIBLE_DEVICES")}
    env |= {"BAREHIP_DEVICES": devices, "LD_LIBRARY_PATH": VGPU_FOLDER}
    return subprocess.run([INFO, *arguments], capture_output=True, text=True, env=env, check=False)


class Devices(unittest.TestCase):
    def test_two_devices(self):
        done = info("--json", devices="vgpu:gfx90a,vgpu:gfx1100")
        self.assertEqual(done.returncode, 0, done.stderr)
        devices = json.loads(done.stdout)["devices"]
        self.assertEqual([d["ordinal"] for d in devices], [0, 1])
        self.assertTrue(devices[0]["target"].startswith("gfx90a"))
        self.assertEqual([d["wave_size"] for d in devices], [64, 32])
        self.assertNotEqual(devices[0]["uuid"], devices[1]["uuid"])

    def test_text(self):
        done = info()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("device 0:", done.stdout)
        self.assertIn("compute units", done.stdout)

    def test_why_there_is_none(self):
        for devices, word in (("vgpu:gfx12345", "gfx12345"), ("nonsense", "provider:spec"), ("other:x", "libbarehip-other.so")):
            done = info(devices=devices)
            self.assertEqual(done.returncode, 1, devices)
            self.assertIn("no usable GPU", done.stdout)
            self.assertIn(word, done.stdout)


class Api(unittest.TestCase):
    def test_counts_add_up(self):
        table = json.loads(info("--api", "--json").stdout)
        for soname in (5, 6, 7):
            listed = [f for f in table["functions"] if soname in f["libraries"]]
            counts = table["libraries"][f"libamdhip64.so.{soname}"]
            self.assertEqual(counts["exported"], len(listed))
            self.assertEqual(counts["implemented"], sum(f["status"] == "implemented" for f in listed))
            self.assertEqual(counts["refused"], sum(f["status"] == "refused" for f in listed))
        status = {f["name"]: f["status"] for f in table["functions"]}
        self.assertEqual(status["hipLaunchKernel"], "implemented")

    def test_text_and_markdown(self):
        self.assertIn("libamdhip64.so.6:", info("--api").stdout)
        self.assertIn("| library | exported | implemented | refused |", info("--api", "--markdown").stdout)


class Rest(unittest.TestCase):
    def test_environment(self):
        names = [v["name"] for v in json.loads(info("--env", "--json").stdout)]
        self.assertIn("BAREHIP_DEVICES", names)
        self.assertLess(len(names), 15)

    def test_help_and_misuse(self):
        self.assertIn("examples:", info("--help").stdout)
        self.assertNotEqual(info("--markdown").returncode, 0)
        self.assertNotEqual(info("--no-such-option").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
