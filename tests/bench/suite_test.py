"""Tests of bench/suite that need no GPU and no PyTorch: every task has its operator, scores, tables, and the command with a
program in evo's place.

usage: suite_test.py BENCH TEMPLATES [TestName..]"""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
BENCH, TEMPLATES = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
sys.path[:0] = [str(BENCH), str(BENCH / "suite")]
import operators
import results
import run
import tables
import tasks
from measure import formulas, intervals
from measure.sources import NotExported, TemplateSource

# Answers as evo does, at once. FAKE names what goes wrong. Every call is a line of the file CALLS.
FAKE_EVO = """#!{python}
import json, os, sys, time
words, fake = sys.argv[1:], os.environ.get("FAKE", "")
value = lambda name: words[words.index(name) + 1]
with open(os.environ["CALLS"], "a") as calls:
    calls.write(" ".join(words) + "\\n")
if words[0] == "run":
    template = value("--template") if "--template" in words else "all"
    if fake == "sleep": time.sleep(60)
    if fake == "no " + template: sys.exit("evo: no device")
    run = {{"evaluated": 9, "valid": 8, "tool_version": "9", "device_name": "fake"}}
    print(json.dumps({{"run": run, "best": {{"id": 3, "template": "naive"}}}}))
elif words[0] == "best":
    open(value("--export"), "w").write("// exported\\n")
elif words[0] == "verify":
    bad = fake == "wrong"
    check = {{"candidate_ns": 2000.0, "baseline_ns": 9000.0, "speedup": 4.5}}
    verdict = "failed: wrong_result" if bad else "verified"
    whole = {{"passed": not bad, "verdict": verdict, "reason": "", "candidate": {{"check": check}}}}
    print(json.dumps({{"verdict": verdict, "check": check}} if "--db" in words else whole))
    sys.exit(3 if bad else 0)
"""

# In the place of a Python with PyTorch: "times" kernels; the peers that FAKE_BREAKS names end the process.
FAKE_PYTHON = """#!{python}
import json, os, sys
words = sys.argv[1:]
if words[0] == "-c":
    sys.exit("ImportError: no torch" if os.environ.get("FAKE") == "no torch" else 0)
out = words[words.index("--out") + 1]
sys.stdin.readline()
if "--ceilings" in words:
    json.dump({{"bytes_per_s": 4e12, "operations_per_s": {{"f32": 5e13}}, "device": "fake"}}, open(out, "w"))
    sys.exit(0)
values = lambda name: [words[i + 1] for i, word in enumerate(words) if word == name]
kernels = {{pair.partition("=")[0]: {{"kind": "evo", "right": True, "times": [10.0, 10.1, 10.2]}} for pair in values("--kernel")}}
kernels["baseline"] = {{"kind": "baseline", "right": True, "times": [40.0, 40.0, 40.0]}}
for name in ("eager", "torch.compile"):
    if name in values("--exclude"): continue
    open(out + ".progress", "w").write(name)
    if name == os.environ.get("FAKE_BREAKS"): sys.exit(4)
    kernels[name] = {{"kind": "peer", "right": True, "times": [20.0, 20.0, 20.0]}}
if "copy" in values("--peers")[0].split(","):
    kernels["copy"] = {{"kind": "copy", "right": True, "times": [8.0, 8.0, 8.0]}}
result = {{"case": "one", "sizes": {{}}, "bytes": 2e7, "operations": 1e6, "arithmetic": "f32", "kernels": kernels}}
json.dump(result, open(out, "w"))
"""


def kernel(kind, *times, right=True, **more):
    return {"kind": kind, "times": list(times), "right": right, **more}


def record(task="softmax", **kernels):
    """8 us at the speed of light."""
    named = {name.replace("_", " ").replace("torch compile", "torch.compile"): value for name, value in kernels.items()}
    return {
        "format": results.FORMAT,
        "task": task,
        "settings": {"l2": "hot"},
        "student": {"verified": True},
        "all": {"verified": True},
        "finished": True,
        "case": "one",
        "bytes": 4e7,
        "operations": 1e6,
        "arithmetic": "f32",
        "kernels": named,
        "ceilings": {"bytes_per_s": 5e12, "operations_per_s": {"f32": 5e13}, "device": "a GPU"},
    }


class TasksTest(unittest.TestCase):
    """Of every task that is shipped."""

    def test_has_an_operator_that_fits_in_every_case(self):
        folders = tasks.find_tasks(TEMPLATES)
        self.assertGreater(len(folders), 10)
        for name, folder in folders.items():
            for case in json.loads((folder / "task.json").read_text())["cases"]["search"]:
                with self.subTest(name, case=case["name"]):
                    task = tasks.Task(folder, case["name"])
                    self.assertEqual(task.name, name)
                    operators.check_mapping(task)
                    self.assertGreater(task.bytes, 0)
                    self.assertGreater(task.operations, 0)
                    for array in task.outputs:
                        bound = task.bound(array)
                        self.assertTrue(bound.exact or 0 < bound.l2 < 1, bound)

    def test_has_a_student_which_is_the_baseline_unless_that_takes_seconds(self):
        others = []
        for name, folder in tasks.find_tasks(TEMPLATES).items():
            task = tasks.Task(folder)
            self.assertIn(task.student, task.templates(), name)
            if task.student != task.baseline:
                others.append(name)
        self.assertEqual(others, ["attention_bf16", "attention_causal_d128", "attention_d128", "attention_gqa"])

    def test_has_a_baseline_that_can_be_launched_or_says_why_not(self):
        for name, folder in tasks.find_tasks(TEMPLATES).items():
            task = tasks.Task(folder)
            try:
                source = TemplateSource(folder / f"{task.baseline}.cu", ())
                plan = source.plan(task.sizes, task.scalars, {a.name for a in task.arrays})
                self.assertTrue(plan.steps, name)
            except NotExported as wrong:
                self.assertIn("not launched here", str(wrong))

    def test_maps_have_the_type_that_their_line_says(self):
        lines = ("// evo:tensormap words = A type(u32) dims(W, M) box(32, 64) swizzle(128)\n// evo:tensormap rows = A dims(4 * W, M) box(128, 64)\n"
                 "// evo:launch k(words, rows) grid(1) block(32)\n__global__ void k(Map words, Map rows) {}\n")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "k.cu").write_text(lines)
            words, rows = TemplateSource(Path(folder) / "k.cu", ()).plan({"W": 8, "M": 3}, {}, {"A"}).steps[:2]
        self.assertEqual((words.dtype, words.dims, words.box, words.swizzle), ("u32", (8, 3), (32, 64), 128))
        self.assertEqual((rows.dtype, rows.dims), ("", (32, 3)))

    def test_of_an_operator_that_no_task_needs_there_is_none_by_accident(self):
        """An entry is a task, there already or planned; a name that differs by a letter would leave the task without one."""
        names = set(operators.OPERATORS)
        for name in tasks.find_tasks(TEMPLATES):
            self.assertIn(name, names)
        self.assertLessEqual(set(operators.QUICK), names)
        self.assertEqual(len(operators.QUICK), 8)

    def test_a_task_that_does_not_fit_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = json.loads((TEMPLATES / "softmax/task.json").read_text())
            whole["name"] = "layer_norm"
            (Path(folder) / "task.json").write_text(json.dumps(whole))
            with self.assertRaisesRegex(operators.NotMapped, "expects 3 inputs, the task has 1"):
                operators.check_mapping(tasks.Task(folder))
            whole["name"] = "a_new_one"
            (Path(folder) / "task.json").write_text(json.dumps(whole))
            with self.assertRaisesRegex(operators.NotMapped, "no entry"):
                operators.check_mapping(tasks.Task(folder))
            (Path(folder) / "task.json").write_text('{"name": "x"}')
            with self.assertRaisesRegex(tasks.BadTask, "not as docs/writing_a_task.md says"):
                tasks.Task(folder)


class FormulasTest(unittest.TestCase):
    def test_are_those_of_c(self):
        for text, value in (
            ("7 / 2", 3),
            ("-7 / 2", -3),
            ("-7 % 3", -1),
            ("1 << 3 | 1", 9),
            ("2 + 3 * 4 == 14 && !0", 1),
            ("ceil_div(N, 4)", 3),
            ("1 / sqrt(4)", 0.5),
            ("N % 4 == 0 ? N / 0 : 5", 5),
            ("max(N, 3) - min(N, 3)", 6),
            ("1.5e1", 15.0),
        ):
            self.assertEqual(formulas.evaluate(text, {"N": 9}), value, text)
        for text in ("N +", "1 / 0", "M", "(1", "1 2", "max(1)", "N @ 2"):
            with self.assertRaises(formulas.BadFormula, msg=text):
                formulas.evaluate(text, {"N": 9})

    def test_bounds_are_those_that_the_tasks_have(self):
        bound = tasks.bound_of({"sum": 2048}, "f32", {})
        u = 2.0**-24
        self.assertAlmostEqual(bound.l2, 6 * (u * u / 3 + u * u * 2048 / 6) ** 0.5)
        self.assertAlmostEqual(bound.max, 6 * bound.l2)
        self.assertTrue(tasks.bound_of("exact", "i32", {}).exact)
        self.assertEqual(tasks.bound_of({"l2": 1e-6, "max": "N * 1e-6"}, "f32", {"N": 9}).max, 9e-6)


class IntervalsTest(unittest.TestCase):
    def test_gaps_and_records_of_regions_do_not_count(self):
        self.assertEqual(intervals.busy([]), 0)
        self.assertEqual(intervals.busy([(10, 20, "a"), (25, 30, "b")]), 15)
        self.assertEqual(intervals.busy([(10, 30, "region"), (10, 20, "a"), (25, 30, "b")]), 15)
        self.assertEqual(intervals.busy([(10, 20, "region"), (10, 20, "a")]), 10)
        self.assertEqual(intervals.busy([(10, 20, "a"), (15, 28, "overlaps")]), 18)


class ScoresTest(unittest.TestCase):
    def test_the_score_is_one_at_the_speed_of_light_and_a_half_at_the_peer(self):
        self.assertEqual(results.score(8, 8, 20), 1)
        self.assertEqual(results.score(20, 8, 20), 0.5)
        self.assertAlmostEqual(results.score(32, 8, 20), 1 / 3)
        self.assertIsNone(results.score(8, 8, 8))
        self.assertIsNone(results.score(None, 8, 9))

    def test_the_slower_of_memory_and_arithmetic_bounds_a_task(self):
        one = record()
        self.assertEqual(results.speed_of_light_us(one), (8, "memory"))
        one["operations"] = 1e9
        self.assertEqual(results.speed_of_light_us(one), (20, "arithmetic"))
        one["arithmetic"] = "u8"
        self.assertEqual(results.speed_of_light_us(one), (8, "memory"))
        one["ceilings"] = {}
        self.assertEqual(results.speed_of_light_us(one), (None, None))

    def test_a_peer_that_is_faster_wins(self):
        row = results.row_of(
            record(
                evo_student=kernel("evo", 30),
                evo_all=kernel("evo", 12),
                eager=kernel("peer", 10),
                torch_compile=kernel("peer", 24),
                baseline=kernel("baseline", 120),
            )
        )
        self.assertEqual((row["kernel"], row["us"], row["wins"], row["best_peer"]), ("evo all", 12, "eager", "eager"))
        self.assertEqual((row["student_speed_up"], row["speed_ups"]["torch.compile"]), (4, 2))
        self.assertAlmostEqual(row["share_of_ceiling"], 8 / 12)
        self.assertAlmostEqual(row["score"], 1 / (1 + 4 / 2))

    def test_a_student_that_is_not_the_baseline_has_no_speed_up_over_it(self):
        one = record(evo_student=kernel("evo", 30), evo_all=kernel("evo", 12), baseline=kernel("baseline", 120))
        one["student"] = {"verified": True, "from_baseline": False}
        self.assertEqual((results.row_of(one)["student_us"], results.row_of(one)["student_speed_up"]), (30, None))
        one["student"]["from_baseline"] = True
        self.assertEqual(results.row_of(one)["student_speed_up"], 4)

    def test_what_is_wrong_or_failed_its_verification_does_not_count(self):
        one = record(
            evo_student=kernel("evo", 5),
            evo_all=kernel("evo", 12),
            eager=kernel("peer", 1, right=False, error=0.5, bound=1e-6),
            other=kernel("peer", 24),
        )
        one["student"] = {"verified": False, "verdict": "failed: wrong_result"}
        row = results.row_of(one)
        self.assertEqual((row["kernel"], row["wins"], row["speed_ups"]), ("evo all", "evo", {"other": 2}))
        self.assertIsNone(row["student_speed_up"])
        self.assertIn("eager: answer off by 5.0e-01 (allowed 1.0e-06); not compared", row["notes"])
        self.assertIn("student: not verified: failed: wrong_result", row["notes"])

    def test_a_verified_kernel_goes_before_one_that_was_not_verified(self):
        one = record(evo_student=kernel("evo", 5), evo_all=kernel("evo", 12))
        one["student"] = {}
        self.assertEqual(results.evolved(one), ("evo all", 12))

    def test_sums_over_the_tasks(self):
        rows = [
            results.row_of(record("a", evo_all=kernel("evo", 9), torch_compile=kernel("peer", 18))),
            results.row_of(record("b", evo_all=kernel("evo", 20), torch_compile=kernel("peer", 10))),
            results.row_of(record("c")),
        ]
        total = results.summary_of(rows)
        self.assertEqual((total["tasks"], total["measured"], total["failed"], total["peer_wins"]), (3, 2, ["c"], ["b"]))
        self.assertAlmostEqual(total["over_compile_geometric_mean"], 1)
        self.assertEqual((total["faster_than_compile"], total["memory_bound"], total["memory_bound_done"]), (0.5, 2, 0.5))

    def test_moved_is_what_differs_by_more_than_noise(self):
        old = [record(evo_all=kernel("evo", 9.9, 10, 10.1), eager=kernel("peer", 20, 20, 20), gone=kernel("peer", 5))]
        new = [record(evo_all=kernel("evo", 7.9, 8, 8.1), eager=kernel("peer", 20.2, 20.2, 20.2))]
        lines = {line["kernel"]: line for line in results.compare(old, new)}
        self.assertTrue(lines["evo all"]["moved"])
        self.assertAlmostEqual(lines["evo all"]["ratio"], 1.25)
        self.assertFalse(lines["eager"]["moved"])
        self.assertTrue(lines["gone"]["moved"])
        noisy = [record(evo_all=kernel("evo", 6, 8, 10))]
        self.assertFalse({line["kernel"]: line for line in results.compare(old, noisy)}["evo all"]["moved"])


class TablesTest(unittest.TestCase):
    RECORDS = [
        record(
            "softmax",
            evo_all=kernel("evo", 9),
            torch_compile=kernel("peer", 18),
            cuBLAS=kernel("peer", 90),
            baseline=kernel("baseline", 45),
        ),
        record(
            "gemm",
            evo_all=kernel("evo", 20),
            torch_compile=kernel("peer", 10),
            Triton=kernel("peer", right=None, failed="no module | named triton"),
        ),
    ]

    def test_markdown_shows_the_tasks_that_a_peer_wins(self):
        text = tables.markdown(self.RECORDS, compared=results.compare(self.RECORDS, self.RECORDS), seconds=90)
        self.assertIn("| softmax | evo all | 9 | 5.00 |  | 2.00 |  | cuBLAS 10.00 | evo | 89% memory | 0.91 | verified |", text)
        self.assertIn("| **torch.compile** |", text)
        self.assertIn("| gemm | Triton: no module \\| named triton |", text)
        self.assertIn("a peer wins: gemm", text)
        self.assertIn("What moved: 0 of 6 times", text)
        self.assertIn("1.5 minutes", text)

    def test_csv_has_a_line_for_each_task(self):
        rows = list(csv.DictReader(io.StringIO(tables.table_csv(self.RECORDS))))
        self.assertEqual(
            [(r["task"], r["us"], r["torch.compile us"], r["cuBLAS us"], r["wins"]) for r in rows],
            [("softmax", "9", "18", "90", "evo"), ("gemm", "20", "10", "", "torch.compile")],
        )

    def test_the_picture_has_the_slowest_task_at_the_bottom(self):
        names, points = tables.plotted(self.RECORDS)
        self.assertEqual(names, ["gemm", "softmax"])
        self.assertEqual(points, {"torch.compile": [(0.5, 0), (2, 1)], "another": [(10, 1)], "baseline": [(5, 1)]})
        with tempfile.TemporaryDirectory() as folder:
            said = tables.draw(self.RECORDS, Path(folder) / "a.svg")
            if said is None:
                self.assertIn("softmax", (Path(folder) / "a.svg").read_text())
            else:
                self.assertIn("no matplotlib", said)
            self.assertIn("no picture", tables.draw([record("c")], Path(folder) / "b.svg"))


class CommandTest(unittest.TestCase):
    """run.py with a program in evo's place."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.out = self.folder / "out"
        for name, text in (("evo", FAKE_EVO), ("python", FAKE_PYTHON)):
            (self.folder / name).write_text(text.format(python=sys.executable))
            (self.folder / name).chmod(0o755)
        (self.folder / "nvidia-smi").write_text("#!/bin/sh\necho Fake GPU\necho Fake GPU\n")
        (self.folder / "nvidia-smi").chmod(0o755)

    def command(self, *words, tasks="softmax", out=None, script="run.py"):
        chosen = ["--tasks", tasks] if tasks else []
        return [
            sys.executable,
            "-B",
            BENCH / "suite" / script,
            out or self.out,
            "--evo",
            self.folder / "evo",
            "--templates",
            TEMPLATES,
            "--python",
            self.folder / "python",
            *chosen,
            *words,
        ]

    def environment(self, **more):
        clean = {k: v for k, v in os.environ.items() if k not in ("CUDA_VISIBLE_DEVICES", "EVO")}
        return {**clean, "CALLS": str(self.folder / "calls"), "PATH": f"{self.folder}:{os.environ['PATH']}", **more}

    def call(self, *words, tasks="softmax", script="run.py", **environment):
        return subprocess.run(
            [str(w) for w in self.command(*words, tasks=tasks, script=script)],
            capture_output=True,
            text=True,
            env=self.environment(**environment),
            timeout=60,
        )

    def calls(self):
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def record(self, name="softmax"):
        return json.loads((self.out / f"{name}.json").read_text())

    def test_dry_run_evolves_twice_and_verifies_both_exports(self):
        done = self.call("--device", "cpu", "--budget", "2s")
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = self.calls()
        self.assertEqual([line.split()[0] for line in calls], ["run", "best", "run", "best", "verify", "verify"])
        self.assertIn("--template naive", calls[0])
        self.assertIn("--time-limit 2s", calls[0])
        self.assertIn("--no-tools", calls[0])
        self.assertNotIn("--template", calls[2])
        self.assertIn("softmax_student.cu", calls[4])
        self.assertIn("| softmax | 2 | 9 | 4.50 |", done.stdout)
        for name in ("results.json", "results.csv", "results.md", "softmax_all.cu", "softmax_student.cu"):
            self.assertTrue((self.out / name).exists(), name)

    def test_a_second_call_does_what_is_missing(self):
        self.call("--device", "cpu")
        self.calls()
        done = self.call("--device", "cpu", tasks="softmax,row_sum")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("softmax: finished before", done.stderr)
        self.assertTrue(all("softmax" not in line for line in self.calls()))
        self.assertIn("| row_sum |", done.stdout)
        self.assertIn("| softmax |", done.stdout)
        self.call("--device", "cpu", "--budget", "3s")
        self.assertEqual(len(self.calls()), 6)  # another budget, everything again

    def test_a_search_that_fails_is_shown_and_tried_again_alone(self):
        done = self.call("--device", "cpu", FAKE="no all")
        self.assertEqual(done.returncode, 1)
        self.assertIn("| softmax | all: evo run: exit status 1: evo: no device |", done.stdout)
        self.calls()
        self.assertEqual(self.call("--device", "cpu").returncode, 0)
        self.assertEqual([line.split()[0] for line in self.calls()], ["run", "best", "verify"])

    def test_a_kernel_that_fails_its_verification_is_shown(self):
        done = self.call("--device", "cpu", FAKE="wrong")
        self.assertIn("not verified: failed: wrong_result", done.stdout)
        self.assertIn("verified: 0 of 1 tasks", done.stdout)

    def test_quick_takes_its_eight_tasks_and_verifies_one_kernel_each(self):
        done = self.call("--device", "cpu", "--quick", tasks="")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = [name for name in operators.QUICK if name in run.find_tasks(TEMPLATES)]
        calls = self.calls()
        self.assertEqual(len([c for c in calls if c.startswith("run")]), len(expected))
        self.assertFalse(any("--template" in c for c in calls))
        self.assertEqual(len([c for c in calls if c.startswith("verify")]), len(expected))
        self.assertTrue(all("--time-limit 10s" in c for c in calls if c.startswith("verify")))
        self.assertTrue(all("--no-check" in c for c in calls if c.startswith("run")))

    def test_quick_from_both_verifies_the_kernel_from_all_templates(self):
        done = self.call("--device", "cpu", "--quick", "--from", "both")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in self.calls()], ["run", "best", "run", "best", "verify"])

    def test_measures_on_every_gpu(self):
        done = self.call("--quick", tasks="softmax,row_sum,gemm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            {word for line in self.calls() for word in line.split() if word.startswith("cuda:")}, {"cuda:0", "cuda:1"}
        )
        one = self.record()
        self.assertEqual(one["kernels"]["torch.compile"]["times"], [20, 20, 20])
        self.assertEqual(one["ceilings"]["bytes_per_s"], 4e12)
        self.assertIn("| softmax | evo all | 10.1 | 3.96 | 1.98 | 1.98 |  |  | evo |", done.stdout)
        self.assertEqual(sorted(f.name for f in self.out.glob("*_times*")), [])

    def test_what_breaks_the_process_is_left_out_of_the_next(self):
        done = self.call("--quick", "--device", "cuda:1", FAKE_BREAKS="eager")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all("cuda:0" not in line for line in self.calls()))
        self.assertIn("torch.compile", self.record()["kernels"])
        self.assertEqual(self.record()["kernels"]["eager"]["times"], [])
        self.assertIn("| softmax | eager: ", done.stdout)

    def test_without_pytorch_evo_is_all_that_is_measured(self):
        done = self.call("--quick", FAKE="no torch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing is measured beside evo", done.stderr)
        self.assertIn("| softmax | 2 | 9 | 4.50 |", done.stdout)

    def test_compares_with_an_earlier_result(self):
        self.call("--quick", "--from", "both")
        old = self.folder / "old.json"
        text = (self.out / "results.json").read_text()
        old.write_text(text.replace("10.1", "15.1").replace("10.0", "15.0").replace("10.2", "15.2"))
        done = self.call("--quick", "--from", "both", "--compare", old)
        self.assertIn("## What moved: 2 of 5 times", done.stdout)
        self.assertIn("| softmax | evo all | 15.1 | 10.1 | 1.50 |", done.stdout)
        again = self.call("--report", "--compare", old)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("## What moved: 2 of 5 times", again.stdout)

    def test_no_task_is_begun_that_would_not_end_in_time(self):
        done = self.call("--device", "cpu", "--stop-after", "1s", "--budget", "5s")
        self.assertEqual(done.returncode, 1)
        self.assertIn("softmax: left out: --stop-after", done.stderr)
        self.assertEqual(self.calls(), [])

    def test_interrupted_it_ends_its_programs_and_goes_on_later(self):
        process = subprocess.Popen(
            [str(w) for w in self.command("--device", "cpu")],
            env=self.environment(FAKE="sleep"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        began = time.monotonic()
        while not (self.folder / "calls").exists() and time.monotonic() - began < 30:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("the same call goes on with it", err)
        self.assertEqual(self.call("--device", "cpu").returncode, 0)

    def seeds(self, *words, **environment):
        rows = ("--rows", "attention_16_16_1024_64,vector_sum", "--seeds", "2")
        return self.call(*rows, *words, tasks=None, script="seeds.py", **environment)

    def test_seeds_are_measured_beside_the_peer_of_their_row(self):
        done = self.seeds()
        self.assertEqual(done.returncode, 0, done.stderr)
        # The fake peers take 20 us, the fake copy 8; 2e7 bytes at the rate of the ceilings are 5 us.
        row = "| attention_16_16_1024_64 | 60 s | 40 | 10.1, 10.1 | 10.1 | 1.00 | eager 20 | 198% | 35% | verified |"
        self.assertIn(row, done.stdout)
        self.assertIn("| vector_sum | 10 s | 40 | 10.1, 10.1 | 10.1 | 1.00 | copy 8 | 79% (50%) | 85% | verified |", done.stdout)
        calls = self.calls()
        runs = [line for line in calls if line.startswith("run")]
        self.assertEqual(sorted(line.split("--seed ")[1].split()[0] for line in runs), ["1", "1", "2", "2"])
        for flag in ("--template naive", "--no-tools", "--no-reuse"):
            self.assertTrue(all(flag in line for line in runs), flag)
        self.assertEqual(sum("--shape B=16,H=16,S=1024,D=64" in line for line in calls), 2)
        [of_search] = [line for line in calls if "attention_16_16_1024_64/" in line and line.startswith("verify")]
        self.assertIn("attention_1.db", of_search)  # at its sizes, which an exported file does not tell evo
        self.assertEqual(self.record("vector_sum")["seeds"]["1"]["file"], "vector_sum_1.cu")
        self.assertTrue((self.out / "vector_sum/vector_sum_1.cu").exists())
        again = self.seeds()
        self.assertEqual((again.returncode, self.calls()), (0, []), again.stderr)
        self.assertEqual(again.stdout, done.stdout)

    def test_seeds_that_fail_or_are_not_begun_leave_their_row_open(self):
        done = self.seeds("--device", "cpu", FAKE="no naive")
        self.assertEqual(done.returncode, 1)
        self.assertIn("vector_sum seed 2: evo run: exit status 1: evo: no device", done.stderr)
        self.calls()
        late = self.seeds("--device", "cpu", "--stop-after", "0.001s")
        self.assertEqual((late.returncode, self.calls()), (1, []), late.stderr)
        alone = self.seeds("--device", "cpu", "--budget", "3s", "--no-verify")
        self.assertEqual((alone.returncode, [line for line in self.calls() if line.startswith("verify")]), (0, []), alone.stderr)
        whole = self.seeds("--device", "cpu", "--budget", "2s")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.assertIn("| vector_sum | 2 s | - | -, - | - | - | copy - | - | 85% | verified |", whole.stdout)
        self.assertIn("no row other", self.call("--rows", "other", tasks=None, script="seeds.py").stderr)

    def test_wrong_calls_say_what_is_wrong(self):
        wrong = {
            ("--evo", "/no/evo"): "no program /no/evo",
            ("--tasks", "softmax,nothing"): "no task nothing",
            ("--compare", "/no/file"): "/no/file: No such file",
            ("--peers", "eager,other"): "--peers: there are",
            ("--device", "gpu"): "--device gpu",
            ("--budget", "soon"): "`soon` is no time",
            ("--device", "cuda:7"): "there are 2 GPUs",
        }
        for words, said in wrong.items():
            with self.subTest(words):
                done = self.call(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
        (self.folder / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
        done = self.call()
        self.assertEqual(done.returncode, 2)
        self.assertIn("--device cpu is a dry run", done.stderr)


class FilesTest(unittest.TestCase):
    def test_results_of_something_else_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for text, said in (
                ("{}", "not written by this program"),
                ("no", "no JSON"),
                ('{"format": 99, "tasks": []}', "another version"),
            ):
                (Path(folder) / "results.json").write_text(text)
                with self.assertRaisesRegex(results.BadResults, said):
                    results.read_results(folder)

    def test_only_a_whole_record_with_equal_settings_is_finished(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.json"
            self.assertIsNone(results.finished(file, {"l2": "hot"}))
            results.write_json(file, record())
            self.assertTrue(results.finished(file, {"l2": "hot"}))
            self.assertIsNone(results.finished(file, {"l2": "cold"}))
            results.write_json(file, {**record(), "failed": "no GPU"})
            self.assertIsNone(results.finished(file, {"l2": "hot"}))
            self.assertNotIn("failed", results.unfinished(file, {"l2": "hot"}))

    def test_times_are_read(self):
        self.assertEqual([run.seconds_of(t) for t in ("90", "1.5m", "2h", "60s")], [90, 90, 7200, 60])
        for text in ("", "0", "-1s", "1d"):
            with self.assertRaises(run.argparse.ArgumentTypeError):
                run.seconds_of(text)


if __name__ == "__main__":
    unittest.main()
