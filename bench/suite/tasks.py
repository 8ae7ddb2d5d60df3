"""What a task.json says, for sizes of one of its cases. Needs nothing but Python; evo itself checks the file in full."""
import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure.formulas import BadFormula, evaluate

UNIT_ROUND_OFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
FACTOR, LEAST_PEAK = 6, 6  # those of kernel_templates/tolerance.cc


class BadTask(Exception):
    """The folder has no task that can be measured."""


@dataclass(frozen=True)
class Generator:
    kind: str
    values: tuple = ()


@dataclass(frozen=True)
class Array:
    name: str
    role: str  # in, out or inout
    dtype: str
    dims: tuple  # numbers, for the sizes of the case
    symbols: tuple  # as written
    generator: Generator | None = None
    check: object = None


@dataclass(frozen=True)
class Bound:
    """On the relative L2 error and on the largest error over the root mean square; `exact`: every element must be equal.
    `peak_of_answer`: the bound on the largest error grows with the answer's own peak."""

    l2: float = 0.0
    max: float = 0.0
    exact: bool = False
    peak_of_answer: bool = False


def parse_generator(text, names):
    found = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\)|<(.*))?\s*", text)
    if not found:
        raise BadTask(f"generator `{text}` is not understood")
    kind, values, bound = found.groups()
    numbers = tuple(float(v) for v in values.split(",")) if values else (evaluate(bound, names),) if bound else ()
    counts = {
        "normal": (0, 2),
        "uniform": (2,),
        "constant": (1,),
        "one_hot": (0,),
        "sparse": (1,),
        "log_uniform": (2,),
        "cauchy": (1,),
        "index": (1,),
        "permutation": (0,),
        "offsets": (1,),
    }
    if len(numbers) not in counts.get(kind, ()):
        raise BadTask(f"generator `{text}` is not understood")
    return Generator(kind, numbers or ((0.0, 1.0) if kind == "normal" else ()))


def bound_of(check, dtype, names):
    """The bounds that docs/writing_a_task.md gives for a check."""
    if check == "exact":
        return Bound(exact=True)
    if "l2" in check:
        return Bound(evaluate(check["l2"], names), evaluate(check["max"], names))
    squares = UNIT_ROUND_OFF.get(dtype, 0) ** 2 / 3
    squares += sum(UNIT_ROUND_OFF.get(d, 0) ** 2 / 3 for d in check.get("rounded", []))
    squares += UNIT_ROUND_OFF[check.get("accumulator", "f32")] ** 2 * evaluate(check.get("sum", 1), names) / 6
    squares += (evaluate(check.get("ulps", 0), names) * 2 * UNIT_ROUND_OFF["f32"]) ** 2
    l2 = FACTOR * math.sqrt(squares)
    return Bound(
        l2, l2 * max(LEAST_PEAK, evaluate(check["peak"], names) if "peak" in check else 0), peak_of_answer="peak" not in check
    )


class Task:
    """A task at the sizes of its first search case, or of the case named; `sizes` takes the place of some of them. `inputs` are its
    `in` arrays and then its `inout` ones."""

    def __init__(self, folder, case=None, sizes=None):
        self.folder, self.other_sizes = Path(folder), sizes or {}
        try:
            self.json = json.loads((self.folder / "task.json").read_text())
            self._read(case)
        except OSError as wrong:
            raise BadTask(f"{self.folder}: no task.json can be read there: {wrong.strerror}") from None
        except json.JSONDecodeError as wrong:
            raise BadTask(f"{self.folder}/task.json: {wrong}") from None
        except (KeyError, TypeError, AttributeError) as wrong:
            raise BadTask(
                f"{self.folder}/task.json: {type(wrong).__name__} {wrong}: not as docs/writing_a_task.md says"
            ) from None
        except (BadFormula, ValueError) as wrong:
            raise BadTask(f"{self.folder}/task.json: {wrong}") from None

    def _read(self, case):
        self.name, self.summary, self.baseline = self.json["name"], self.json["summary"], self.json["baseline"]
        cases = {c["name"]: c for c in self.json["cases"]["search"]}
        if case and case not in cases:
            raise BadTask(f"{self.name}: no search case {case}; there are {', '.join(cases)}")
        chosen = cases[case] if case else self.json["cases"]["search"][0]
        if set(self.other_sizes) - set(chosen["sizes"]):
            raise BadTask(f"{self.name}: there is no size {min(set(self.other_sizes) - set(chosen['sizes']))}")
        self.case, self.sizes = chosen["name"], {name: int(value) for name, value in {**chosen["sizes"], **self.other_sizes}.items()}
        self.scalars = {
            a["name"]: (a["dtype"], evaluate(a["value"], self.sizes)) for a in self.json["arguments"] if a["role"] == "scalar"
        }
        self.variables = {**self.sizes, **{name: value for name, (_, value) in self.scalars.items()}}
        self.arrays = [self._array(a) for a in self.json["arguments"] if a["role"] != "scalar"]
        self.bytes = float(evaluate(self.json["bytes"], self.variables))
        self.operations = float(evaluate(self.json["operations"], self.variables))

    def _array(self, a):
        dims = tuple(int(evaluate(d, self.variables)) for d in a["shape"])
        if a.get("derived"):
            raise BadTask(f"{self.name}: {a['name']} is derived by reference.py; inputs of that kind are not made here")
        generator = parse_generator(a["generators"][0], self.variables) if a["role"] in ("in", "inout") else None
        return Array(a["name"], a["role"], a["dtype"], dims, tuple(str(d) for d in a["shape"]), generator, a.get("check"))

    @property
    def inputs(self):
        return [a for a in self.arrays if a.role == "in"] + [a for a in self.arrays if a.role == "inout"]

    @property
    def outputs(self):
        """What kernels write, in declared order."""
        return [a for a in self.arrays if a.role in ("out", "inout")]

    @property
    def dtype(self):
        """That of the first input: it decides which arithmetic counts."""
        floats = [a.dtype for a in self.inputs if a.dtype in UNIT_ROUND_OFF or a.dtype in ("i8", "u8")]
        return floats[0] if floats else self.inputs[0].dtype

    def bound(self, array):
        return bound_of(array.check, array.dtype, self.variables)

    def templates(self):
        """Names of the task's templates."""
        reference = self.json.get("reference", "reference.cu")
        return sorted(f.stem for f in self.folder.glob("*.cu") if f.name != reference and f.stem != "reference")

    @property
    def student(self):
        """The template of a textbook: naive, else the baseline."""
        return "naive" if "naive" in self.templates() else self.baseline


def find_tasks(folder):
    """The folders of tasks, by name."""
    return {f.parent.name: f.parent for f in sorted(Path(folder).glob("*/task.json"))}
