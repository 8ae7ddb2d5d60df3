"""Tests of bench/search: the statistics, what is read from a database, and which runs are made."""
import argparse
import collections
import math
import os
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
import arms
import from_students
import landscapes
import rank_test
import reached
import run_results
import unproven_operators


class RankTest(unittest.TestCase):
    def test_counts_every_order_once(self):
        self.assertEqual(sum(rank_test.exact_counts(5, 7)), math.comb(12, 5))
        self.assertEqual(rank_test.exact_counts(2, 2), [1, 1, 2, 1, 1])

    def test_is_exact_without_ties(self):
        self.assertAlmostEqual(rank_test.p_value([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252)
        self.assertAlmostEqual(rank_test.p_value([1, 4], [2, 3]), 1)

    def test_approximation_is_near_the_exact_value(self):
        a, b = list(range(0, 40, 2)), [x + 9.5 for x in range(0, 40, 2)]
        exact = rank_test.p_value(a, b)
        tied = rank_test.p_value(a + [5, 5], b + [5, 5])
        self.assertLess(exact, 0.05)
        self.assertLess(abs(math.log(tied / exact)), 1.2)

    def test_equal_samples_differ_by_chance(self):
        self.assertEqual(rank_test.p_value([3] * 5, [3] * 5), 1)
        self.assertEqual(rank_test.win_probability([3] * 5, [3] * 5), 0.5)
        self.assertTrue(math.isnan(rank_test.p_value([], [1])))

    def test_faster_wins(self):
        self.assertEqual(rank_test.win_probability([10, 11], [1, 2]), 1)

    def test_holm_keeps_the_order(self):
        self.assertEqual(rank_test.holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])


class Landscapes(unittest.TestCase):
    def test_are_the_same_again_and_have_an_optimum(self):
        for heading, parts in landscapes.computed():
            for names, points in parts:
                scores = [score for _, score in points if score is not None]
                self.assertGreater(min(scores), 0, heading)
                self.assertEqual(len({tuple(levels) for levels, _ in points}), len(points), heading)
        self.assertEqual(landscapes.chance("a", 1), landscapes.chance("a", 1))


class Arms(unittest.TestCase):
    def bench(self, folder, **more):
        options = argparse.Namespace(out=folder, seeds=3, evaluations=40, seconds=None, device="cpu", gpus=None, devices=None, replay=None, flags="--population 4",
                                     limit=math.inf, run_limit=9, interleaved="none", evo="evo", task=["t:a,b"])
        for name, value in more.items():
            setattr(options, name, value)
        return arms.Bench(options, lambda task: [("one", []), ("all", ["--sweep"])])

    def test_commands(self):
        bench = self.bench("out")
        self.assertEqual(bench.command("t:a,b", ["--x"], 2), ["run", "--task", "t", "--template", "a,b", "--seed", "2", "--no-reuse", "--population", "4", "--x",
                                                             "--device", "cpu", "--evaluations", "40"])
        self.assertNotIn("--evaluations", bench.command("t", ["--sweep"], 1))
        self.assertEqual(list(bench.seeds(["--sweep"])), [1])
        self.assertEqual(bench.file("t:a,b", "one", 2), os.path.join("out", "t-a+b", "one", "2.db"))

    def test_a_budget_of_seconds(self):
        command = self.bench("out", seconds=15).command("t", [], 1)
        self.assertNotIn("--evaluations", command)
        self.assertEqual(command[-2:], ["--time-limit", "15s"])
        self.assertNotIn("--time-limit", self.bench("out", seconds=15).command("t", ["--sweep"], 1))

    def test_arms_of_a_seed_share_a_gpu(self):
        bench = self.bench("out", gpus=2, seeds=4)
        bench.arms_of = lambda task: [("off", ["--x"]), ("on", [])]
        runs = [list(bench.runs_of(place)) for place in range(2)]
        self.assertEqual([[(name, seed) for _, name, _, seed in of] for of in runs], [[("off", 1), ("on", 1), ("on", 3), ("off", 3)],
                                                                                     [("on", 2), ("off", 2), ("off", 4), ("on", 4)]])
        for place, of in enumerate(runs):
            for task, _, flags, seed in of:
                command = bench.command(task, flags, seed)
                self.assertEqual(command[command.index("--device") + 1], f"cuda:{place}")
                self.assertGreaterEqual(int(command[command.index("--compile-workers") + 1]), 1)

    def test_a_few_seeds_of_several_tasks_are_spread_over_the_gpus(self):
        bench = self.bench("out", gpus=4, seeds=2, task=["a", "b", "c", "d"])
        bench.arms_of = lambda task: [("off", []), ("on", [])]
        runs = [list(bench.runs_of(place)) for place in range(4)]
        self.assertEqual([len(of) for of in runs], [4] * 4)
        self.assertEqual({(task, seed) for of in runs for task, _, _, seed in of}, {(task, seed) for task in "abcd" for seed in (1, 2)})

    def test_alone_each_arm_goes_first_in_turn(self):
        bench = self.bench("out", seeds=4)
        bench.arms_of = lambda task: [("off", []), ("on", [])]
        self.assertEqual([name for _, name, _, _ in bench.runs_of(0)][::2], ["off", "on", "off", "on"])

    def test_compile_workers_of_the_flags_stay(self):
        command = self.bench("out", devices=["cpu", "cpu"], flags="--compile-workers 5").command("t:a,b", [], 2)
        self.assertEqual(command.count("--compile-workers"), 1)
        self.assertEqual(command[command.index("--compile-workers") + 1], "5")

    def test_a_replay_has_no_device(self):
        command = self.bench("out", devices=["cpu", "cpu"], replay="r.db").command("t:a,b", [], 2)
        self.assertNotIn("--device", command)
        self.assertEqual(command[command.index("--replay") + 1], "r.db")

    def test_a_run_that_was_cut_off_goes_on_with_equal_evaluations(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "1.db")
            for status, evaluations, seconds in (("running", "goes on", "anew"), ("interrupted", "goes on", "anew"), ("failed", "anew", "anew")):
                for bench, wanted in ((self.bench(folder), evaluations), (self.bench(folder, seconds=9), seconds)):
                    with sqlite3.connect(file) as db:
                        db.executescript(f"CREATE TABLE run (run, status, status_message, options); INSERT INTO run VALUES (1, '{status}', '', '{{}}');")
                    db.close()
                    with open(arms.note_of(file), "w") as note:
                        note.write("[]")
                    new = ["run", "--task", "t", "--no-check", "--compile-workers", "3", "--evaluations", "40"]
                    command = bench.begin(file, new, arms.note_of(file))
                    self.assertEqual(command, ["run", "--resume", "--no-check", "--compile-workers", "3"] if wanted == "goes on" else new, status)
                    self.assertEqual(os.path.exists(file), wanted == "goes on")
                    if os.path.exists(file):
                        os.remove(file)

    def test_the_preset_of_classes_has_tasks(self):
        self.assertEqual([name for name, _ in arms.PRESETS["classes"]], ["off", "on"])
        self.assertEqual(len(arms.PRESET_TASKS["classes"]), 6)

    def test_reads_no_run_from_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(run_results.Run(os.path.join(folder, "none.db")).status)
            empty = os.path.join(folder, "empty.db")
            sqlite3.connect(empty).close()
            self.assertIsNone(run_results.Run(empty).status)

    def test_words(self):
        self.assertEqual(arms.parse_arm("a: --operators fixed"), ("a", ["--operators", "fixed"]))
        self.assertEqual(arms.seconds("9m"), 540)
        self.assertEqual(arms.whole_seconds("2m"), 120)
        self.assertRaises(argparse.ArgumentTypeError, arms.whole_seconds, "0.5")
        for wrong in ("a", ": x", "a/b: x"):
            self.assertRaises(argparse.ArgumentTypeError, arms.parse_arm, wrong)


class Reached(unittest.TestCase):
    def test_counts_failed_candidates(self):
        self.assertEqual(reached.evaluations_until([None, 100, None, 95, 90], 95), 4)
        self.assertEqual(reached.evaluations_until([None, 100], 95), math.inf)

    def test_own_best_and_the_best_of_the_task(self):
        slow, fast = [200, 100, 100, 100], [200, 190, 60, 50]
        entries = reached.measures_of("t", [("off", [slow, slow]), ("on", [fast, fast])])
        self.assertEqual([(e["target"], e["arm"], e["evaluations"]) for e in entries],
                         [("own", "off", [2, 2]), ("own", "on", [4, 4]), ("first", "off", [2, 2]), ("first", "on", [3, 3]), ("task", "off", [None, None]),
                          ("task", "on", [4, 4])])
        # By its own best the slow search seems twice as quick; it never reaches the task's.
        self.assertEqual((entries[1]["ratio"], entries[1]["bound"]), (0.5, ""))
        self.assertEqual((entries[5]["ratio"], entries[5]["bound"]), (1.0, ">"))
        self.assertEqual(entries[5]["sooner"], 1)

    def test_all_tasks_together(self):
        off, on = [[300], [310], [320], [330]], [[100], [110], [320], [330]]
        strata = [(off[i], on[i]) for i in range(2)] * 4
        self.assertLess(rank_test.stratified_p_value([(a + [a[0] + 1], b + [b[0] + 1]) for a, b in strata]), 0.001)
        self.assertEqual(rank_test.stratified_p_value([([1, 2], [1, 2])] * 5), 1)
        self.assertTrue(math.isnan(rank_test.stratified_p_value([([], [1])])))
        # Strata of different sizes weigh differently; 0.1762 with equal weights.
        self.assertAlmostEqual(rank_test.stratified_p_value([([4, 5, 6, 7], [1, 2, 3, 8]), ([2, 4], [1, 3])]), 0.164394, places=6)
        slow, fast = [200, 150, 120, 100], [100, 90, 80, 70]
        entries = [entry for task in "abcde" for entry in reached.measures_of(task, [("off", [slow, slow]), ("on", [fast, fast])])]
        self.assertLess(reached.overall_p_values(entries)["task", "on"], 0.001)

    def test_says_what_the_mean_leaves_out(self):
        fast, slow = [[100, 50, 50, 50]] * 2, [[100, 90, 80, 70]] * 2
        entries = [*reached.measures_of("a", [("off", fast), ("on", slow)]), *reached.measures_of("b", [("off", fast), ("on", fast)])]
        lines = "\n".join(reached.lines_of(entries))
        self.assertIn("on, the first arm's median: geometric mean of the ratios 1.000 over 1 tasks, without 1 that the arm does not reach; all runs", lines)

    def test_one_task_together_is_the_test_of_that_task(self):
        a, b = [3, 4, 4, 9, 11, 12, 14, 18], [1, 2, 4, 5, 6, 7, 13, 15]
        n = len(a)
        plain = rank_test.wins(a, b) - n * n / 2
        z = plain / math.sqrt(rank_test.variance_of_wins(a, b))
        self.assertAlmostEqual(rank_test.stratified_p_value([(a, b)]), math.erfc(abs(z) / math.sqrt(2)))

    def test_within_the_share_is_enough(self):
        entry = reached.measures_of("t", [("off", [[100, 52, 50]])])[0]
        self.assertEqual(entry["evaluations"], [2])

    def test_holm_is_over_the_tasks_of_a_target(self):
        entries = [{"target": target, "arm": "on", "p": p} for target in ("own", "task") for p in (0.01, 0.04, 0.03)]
        reached.add_holm([{"target": "own", "arm": "off"}, *entries])
        self.assertEqual([entry["holm"] for entry in entries], [0.03, 0.06, 0.06] * 2)

    def test_bounds_are_not_in_the_mean(self):
        entries = [{"target": "own", "arm": "on", "ratio": ratio, "bound": bound} for ratio, bound in ((2, ""), (8, ""), (9, ">"))]
        mean, tasks = reached.overall_ratios(entries)["own", "on"]
        self.assertAlmostEqual(mean, 4)
        self.assertEqual(tasks, 2)

    def test_a_task_without_runs_has_a_table(self):
        entries = reached.measures_of("t", [("off", []), ("on", [[None, None]])])
        reached.add_holm(entries)
        self.assertIn("| t | its own | on | 0 of 1 | over 2 |  |  |  |  |", list(reached.lines_of(entries)))


class FromStudents(unittest.TestCase):
    def test_every_task_has_a_student(self):
        tasks = dict(task.split(":") for task in from_students.tasks_of(from_students.TEMPLATES))
        self.assertGreaterEqual(len(tasks), 56)
        self.assertEqual((tasks["gemm"], tasks["attention_gqa"]), ("naive", "naive"))

    def test_without_a_template_naive_the_baseline_is_the_student(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(from_students.student_of(folder))
            with open(os.path.join(folder, "task.json"), "w") as task:
                task.write('{"baseline": "warp"}')
            self.assertEqual(from_students.student_of(folder), "warp")

    def test_tasks_are_divided_among_the_devices(self):
        options = arms.options_of("", out="out", task=["a:naive", "b:naive", "c:naive"], seconds=6).parse_args(["--devices", "cuda:0,cuda:1"])
        bench = from_students.Alone(options)
        self.assertEqual([[(run[0], run[3]) for run in bench.runs_of(place)] for place in (0, 1)], [[("a:naive", 1), ("c:naive", 1)], [("b:naive", 2)]])
        self.assertIn("cuda:1", bench.command("b:naive", [], 2))

    def test_what_did_not_pass_is_no_speed_up(self):
        rows = [("a", 3, 100.0, 20.0, 5.0, 2), ("b", 1, math.nan, math.nan, math.nan, 0), ("c", 3, 10.0, 10.0, 1.0, 0)]
        text = "\n".join(from_students.lines_of(rows))
        self.assertIn("| b | 1 | - | - | - | 0 |", text)
        self.assertIn("Median over 3 tasks: 3 times", text)


class FakeRun:
    """A run with a speed-up and a best kernel with edits of these operators."""

    def __init__(self, speedup, *ops):
        self.number, self.factor = 1, speedup
        self.db = sqlite3.connect(":memory:")
        genome = '{"edits": [' + ", ".join(f'{{"op": "{op}"}}' for op in ops) + "]}"
        self.db.executescript(f"CREATE TABLE best (run, candidate); CREATE TABLE candidate (run, candidate, genome);"
                              f"INSERT INTO best VALUES (1, 7); INSERT INTO candidate VALUES (1, 7, '{genome}');")

    def speedup(self):
        return self.factor


class UnprovenOperators(unittest.TestCase):
    def test_a_run_ends_after_a_time(self):
        options = argparse.Namespace(out="out", seeds=2, evaluations=40, seconds=15, device="cpu", gpus=None, devices=None, replay=None, flags="", limit=math.inf,
                                     run_limit=9, interleaved="none", evo="evo", task=["t:naive"])
        command = arms.Bench(options, lambda task: []).command("t:naive", ["--proven-only"], 2)
        self.assertNotIn("--evaluations", command)
        self.assertEqual(command[command.index("--time-limit") + 1], "15s")
        self.assertIn("--proven-only", command)

    def test_counts_champions_that_keep_unproven_edits(self):
        promised = {"delete": "unproven", "swap": "exact"}
        runs = {"all": [FakeRun(3.0, "swap", "delete", "delete"), FakeRun(4.0, "swap"), FakeRun(math.nan, "later")],
                "proven-only": [FakeRun(2.0), FakeRun(1.0, "swap")]}
        kept_by = collections.Counter()
        row, ratio = unproven_operators.row_of("t", runs, promised, kept_by)
        self.assertAlmostEqual(ratio, 3.5 / 1.5)
        self.assertEqual(row[1:4] + row[6:], ["2 and 2", "3.5", "1.5", "2 of 3"])
        self.assertEqual(kept_by, {"delete": 2, "later": 1})


if __name__ == "__main__":
    unittest.main()
