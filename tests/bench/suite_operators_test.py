"""Compares what bench/suite/operators.py computes with the references of the tasks. `evo check` does it: each task gets a case
with recorded data, and the operator's answer in double precision is what stands recorded as right there. Needs PyTorch and NumPy.

usage: suite_operators_test.py BENCH EVO TEMPLATES [TestName..]"""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
BENCH, EVO, TEMPLATES = Path(sys.argv.pop(1)), sys.argv.pop(1), Path(sys.argv.pop(1))
sys.path[:0] = [str(BENCH), str(BENCH / "suite")]
from functions import longs
from operators import check_mapping, keywords_of
from tasks import Task, find_tasks

try:
    import numpy
    import torch
    from arrays import as_tensors, draw
except ImportError as missing:
    numpy, reason = None, str(missing)

CHECK_TIMEOUT = 300


def small_case(json_file):
    """The task with its small case alone, at the sizes of which it is also timed here."""
    task = json.loads(json_file.read_text())
    sizes = task["cases"]["small"]["sizes"]
    task["cases"] = {
        "small": {"name": "recorded", "sizes": sizes},
        **{key: [{"name": f"{key}_case", "sizes": sizes}] for key in task["cases"] if key != "small"},
    }
    json_file.write_text(json.dumps(task))
    return task


def doubled(array):
    return array.double() if array.is_floating_point() else array


def answers(function, operator, task, inputs):
    """By a function of the operator, in double precision where it is given real numbers."""
    arrays = [doubled(a) for a in inputs]
    if operator.prepare and function is not operator.truth:
        arrays = operator.prepare(*arrays)
    keywords = keywords_of(function, task) if function is operator.truth or operator.prepare in (None, longs) else {}
    return as_tensors(function(*arrays, **keywords))


def recorded(task, inputs, outputs):
    """The arrays of the file, in types that evo reads without loss."""
    numbers = lambda tensor: (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    made = {a.name: numbers(tensor) for a, tensor in zip(task.inputs, inputs)}
    integer = {"i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"}
    for array, tensor in zip(task.outputs, outputs):
        values = tensor.reshape(array.dims).contiguous()
        values = (
            values.numpy().astype({"i": "int", "u": "uint"}[array.dtype[0]] + array.dtype[1:])
            if array.dtype in integer
            else values.double().numpy()
        )
        made[f"{array.name}_expected" if array.role == "inout" else array.name] = values
    return made


@unittest.skipIf(numpy is None, "" if numpy else f"not compared with the references: {reason}")
class OperatorsTest(unittest.TestCase):
    """One test for each task; they are added below."""

    def compare(self, name):
        with tempfile.TemporaryDirectory() as folder:
            # Whole, since sources include those of other tasks.
            shutil.copytree(TEMPLATES, f"{folder}/tasks")
            place = Path(folder) / "tasks" / name
            whole = small_case(place / "task.json")
            for template in place.glob("*.cu"):
                if template.stem not in (whole["baseline"], "reference"):
                    template.unlink()
            task = Task(place)
            operator = check_mapping(task)
            inputs = [draw(a, zlib.crc32(a.name.encode()), "cpu") for a in task.inputs]
            tried = []
            for function in filter(None, (operator.function, operator.truth)):
                try:
                    outputs = answers(function, operator, task, inputs)
                except (AttributeError, TypeError, RuntimeError) as wrong:  # an old PyTorch, or a function for GPUs alone
                    tried.append(f"{function.__name__}: {wrong}")
                    continue
                tried.append("")
                self.check(task, whole, recorded(task, inputs, outputs))
            if all(tried):
                self.skipTest("; ".join(tried))

    def check(self, task, whole, arrays):
        numpy.savez(task.folder / "recorded.npz", **arrays)
        whole["cases"]["small"] = {"name": "recorded", "data": "recorded.npz", "sizes": task.sizes}
        (task.folder / "task.json").write_text(json.dumps(whole))
        done = subprocess.run(
            [EVO, "check", task.folder, "--device", "cpu", "--json"], capture_output=True, text=True, timeout=CHECK_TIMEOUT
        )
        (task.folder / "recorded.npz").unlink()
        if done.returncode == 3 and {t["outcome"] for t in json.loads(done.stdout)["templates"]} == {"unsupported"}:
            self.skipTest("the baseline does not run on the cpu device")
        self.assertEqual(
            done.returncode, 0, f"{task.name}: the reference says something else:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )


def add_tests():
    for name in find_tasks(TEMPLATES):
        setattr(OperatorsTest, f"test_{name}", lambda self, name=name: self.compare(name))


add_tests()
if __name__ == "__main__":
    if numpy is None:
        print(f"not compared with the references: {reason}")
    unittest.main()
