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
import landscapes
import rank_test
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
    def bench(self, folder):
        options = argparse.Namespace(out=folder, seeds=3, evaluations=40, device="cpu", replay=None, flags="--population 4", limit=math.inf, run_limit=9, interleaved="none",
                                     evo="evo", task=["t:a,b"])
        return arms.Bench(options, lambda task: [("one", []), ("all", ["--sweep"])])

    def test_commands(self):
        bench = self.bench("out")
        self.assertEqual(bench.command("t:a,b", ["--x"], 2), ["run", "--task", "t", "--template", "a,b", "--seed", "2", "--no-reuse", "--population", "4", "--x",
                                                             "--device", "cpu", "--evaluations", "40"])
        self.assertNotIn("--evaluations", bench.command("t", ["--sweep"], 1))
        self.assertEqual(list(bench.seeds(["--sweep"])), [1])
        self.assertEqual(bench.file("t:a,b", "one", 2), os.path.join("out", "t-a+b", "one", "2.db"))

    def test_reads_no_run_from_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(run_results.Run(os.path.join(folder, "none.db")).status)
            empty = os.path.join(folder, "empty.db")
            sqlite3.connect(empty).close()
            self.assertIsNone(run_results.Run(empty).status)

    def test_words(self):
        self.assertEqual(arms.parse_arm("a: --operators fixed"), ("a", ["--operators", "fixed"]))
        self.assertEqual(arms.seconds("9m"), 540)
        for wrong in ("a", ": x", "a/b: x"):
            self.assertRaises(argparse.ArgumentTypeError, arms.parse_arm, wrong)


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
        options = argparse.Namespace(out="out", seeds=2, evaluations=40, device="cpu", replay=None, flags="", limit=math.inf, run_limit=9, interleaved="none", evo="evo",
                                     task=["t:naive"], time_limit="15s")
        command = unproven_operators.Bench(options, lambda task: []).command("t:naive", ["--proven-only"], 2)
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
