"""Tests of bench/hard_inputs.py that need no GPU: the inputs, the launch lines of every template, and with PyTorch the truths."""
import math
import random
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(sys.argv.pop(1))
sys.path.insert(0, str(BENCH))
import hard_input_rows
import hard_inputs

try:
    import torch
except ImportError:
    torch = None

EXPORTED = """// naive: candidate 7 of run 1, evolved by evo 0.1.0 from template naive (task softmax, seed 3)
//
// evo launch is no directive here

// evo:workspace parts f32 [ROWS, 2 * PARTS]
// evo:memset parts 0
// evo:launch first<PARTS>(X, parts, COLS) grid(ceil_div(ROWS, 4), PARTS) block(32 * WARPS) shared(PARTS * 4)
// evo:launch second(parts, Y, ROWS) \\
//   grid(ROWS) block(64) when(ROWS > 1)
#define PARTS 3
#define WARPS 2
"""


class InputsTest(unittest.TestCase):
    def test_rows_have_their_length_and_follow_from_the_seed(self):
        for name, make in {**hard_input_rows.ROWS, **hard_input_rows.HALF_ROWS}.items():
            for length in (1, 2, 77, 1021):
                row = make(random.Random(5), length)
                self.assertEqual(len(row), length, name)
                self.assertEqual(row, make(random.Random(5), length), name)
                self.assertFalse(any(math.isnan(x) for x in row), name)

    def test_a_masked_row_keeps_a_value(self):
        for name in (n for n in hard_input_rows.ROWS if "mask" in n):
            for seed in range(20):
                row = hard_input_rows.ROWS[name](random.Random(seed), 300)
                self.assertTrue(any(x > -1e8 for x in row), name)
            self.assertTrue(any(x < -1e8 for s in range(20) for x in hard_input_rows.ROWS[name](random.Random(s), 300)), name)

    def test_only_those_who_know_masks_get_infinity(self):
        self.assertIn("mask of -inf in stripes", hard_input_rows.inputs_of("softmax"))
        self.assertNotIn("mask of -inf in stripes", hard_input_rows.inputs_of("gemm"))

    def test_every_attention_input_exists(self):
        known = {*hard_input_rows.ROWS, *hard_input_rows.HALF_ROWS, "heavy last key"}
        for names in hard_input_rows.ATTENTION_INPUTS:
            self.assertLessEqual(set(names), known)

    def test_rows_repeat_in_tall_inputs(self):
        self.assertEqual(len(hard_input_rows.draw("normal", 70001, 5, random.Random(1))), hard_input_rows.DISTINCT_ROWS)
        self.assertEqual(len(hard_input_rows.draw("normal", 3, 5, random.Random(1))), 3)


class SourceTest(unittest.TestCase):
    def make(self, text):
        source = hard_inputs.Source.__new__(hard_inputs.Source)
        source.text, source.steps, source.values = text, hard_inputs.parts_of(text), {"PARTS": 3, "WARPS": 2}
        return source

    def test_reads_an_exported_file(self):
        source = self.make(EXPORTED)
        self.assertEqual(source.task(), "softmax")
        self.assertEqual(list(source.workspaces({"ROWS": 10, "COLS": 5})), [("parts", 240)])
        steps = list(source.launches({"ROWS": 10, "COLS": 5}))
        self.assertEqual(steps[0], ("memset", "parts", "0"))
        self.assertEqual(steps[1][:6], ("launch", "first", ["X", "parts", "COLS"], [3, 3], [64], 12))
        self.assertEqual(steps[2][:6], ("launch", "second", ["parts", "Y", "ROWS"], [10], [64], 0))
        self.assertEqual(len(list(source.launches({"ROWS": 1, "COLS": 5}))), 2)

    def test_understands_every_template(self):
        templates = [f for f in hard_inputs.TEMPLATES.glob("*/*.cu") if f.stem != "reference"]
        self.assertLessEqual(set(hard_inputs.TASKS), {f.parent.name for f in templates})
        for file in (f for f in templates if f.parent.name in hard_inputs.TASKS):
            for sizes in hard_inputs.TASKS[file.parent.name].sizes:
                launches = [s for s in hard_inputs.Source(file).launches(sizes) if s[0] == "launch"]
                self.assertTrue(launches, file)
                for _, _, arguments, grid, block, shared, _ in launches:
                    self.assertTrue(arguments and min(grid + block) > 0 and shared >= 0, file)


class VerdictTest(unittest.TestCase):
    def test_only_an_error_beyond_both_limits_is_wrong(self):
        self.assertEqual(hard_inputs.judge(1e-5, 1e-7, 1e-4), "ok")
        self.assertEqual(hard_inputs.judge(1e-3, 2e-4, 1e-4), "ok")
        self.assertEqual(hard_inputs.judge(1e-3, 1e-6, 1e-4), "WRONG")
        self.assertEqual(hard_inputs.judge(1.1e-4, 0.0, 1e-4, 2e-4), "ok")
        self.assertEqual(hard_inputs.judge(3e-4, 0.0, 1e-4, 2e-4), "WRONG")
        self.assertEqual(hard_inputs.judge(math.inf, 1e-6, 1e-4), "WRONG")
        self.assertEqual(hard_inputs.judge(math.inf, math.inf, 1e-4), hard_inputs.NOT_JUDGED)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TruthTest(unittest.TestCase):
    def test_softmax_without_its_maximum_is_wrong(self):
        x = torch.tensor([[1.0, 200.0], [-1e9, 0.0]])
        truth, scale = hard_inputs.softmax_truth(torch, {"X": x}, {})
        careless = torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)
        self.assertEqual(hard_inputs.error_of(torch, careless, truth, scale), math.inf)
        self.assertLess(hard_inputs.error_of(torch, torch.softmax(x, -1), truth, scale), 1e-6)

    def test_attention_masks_later_keys(self):
        made = {name: torch.randn(1, 1, 3, 64, dtype=torch.float16) for name in "QKV"}
        truth, _ = hard_inputs.attention_truth(True)(torch, made, {"D": 64})
        self.assertTrue(torch.equal(truth[0, 0, 0], made["V"][0, 0, 0].double()))


if __name__ == "__main__":
    unittest.main()
