"""bench/suite/run.py with evo itself on the cpu device: a task is evolved, exported, verified and shown, and a second call has
nothing to do.

usage: suite_dry_run.py BENCH EVO"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
BENCH, EVO = Path(sys.argv.pop(1)), sys.argv.pop(1)
TIMEOUT = 240


class DryRunTest(unittest.TestCase):
    def test_a_task_goes_all_the_way(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            command = [
                sys.executable,
                "-B",
                BENCH / "suite/run.py",
                out,
                "--evo",
                EVO,
                "--device",
                "cpu",
                "--quick",
                "--from",
                "both",
                "--tasks",
                "row_sum",
                "--budget",
                "2s",
            ]
            first = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual(first.returncode, 0, first.stderr)
            [record] = json.loads((out / "results.json").read_text())["tasks"]
            self.assertTrue(record["all"]["verified"], record)
            self.assertGreater(record["all"]["evo_us"], 0)
            self.assertGreater(record["student"]["candidates"], 0)
            exported = (out / record["all"]["file"]).read_text()
            self.assertTrue(exported.startswith("// "), exported[:100])
            self.assertIn("(task row_sum, ", exported.splitlines()[0])
            self.assertIn("| row_sum |", first.stdout)
            second = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual(second.returncode, 0, second.stderr)
            self.assertIn("row_sum: finished before", second.stderr)
            alone = subprocess.run([*command, "--from", "student"], capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            [record] = json.loads((out / "results.json").read_text())["tasks"]
            self.assertTrue(record["student"]["verified"], record)
            self.assertNotIn("all", record)


if __name__ == "__main__":
    unittest.main()
