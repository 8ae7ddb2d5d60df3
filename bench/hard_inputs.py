#!/usr/bin/env python3
"""Runs exported kernels on hard inputs and compares them with PyTorch in double precision, beside the naive template of their task. The
inputs are made here, apart from evo's own battery, so that a mistake in one of them is no mistake of the other.

    evo best --export DIR/softmax.cu            # for each champion, on a machine with a GPU
    bench/hard_inputs.py DIR [--seeds N]

Prints a line for each task and input: the errors of the champion and of the naive template, and a verdict. Exit status 3 if the error of a
champion exceeds ten times the naive one and the bound of its task, or if it is not finite where the naive template is right.
    bench/hard_inputs.py --self-test            # needs nothing but Python; with PyTorch it also checks the truths"""
import argparse
import ctypes
import math
import random
import re
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent / "kernel_templates"
sys.path.insert(0, str(HERE / "attention"))
from hard_input_rows import INFINITY, draw, inputs_of
from measure.launch_lines import clause, directives, evaluate

FACTOR = 10
ROUNDING = 2.0 ** -23   # of a float, relative
NOT_JUDGED = "not judged: the naive template is not finite"
BYTES = {"f64": 8, "i64": 8, "u64": 8, "f32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2, "i8": 1, "u8": 1}

ATTENTION_SIZES = [dict(B=1, H=4, S=s) for s in (1, 7, 33, 257)] + [dict(B=2, H=8, S=131), dict(B=1, H=4, S=1499)]
MATRIX_SIZES = [dict(ROWS=r, COLS=c) for r, c in ((37, 1021), (5, 6007), (1, 1), (130, 64), (9, 257), (3, 70001), (70001, 5), (200, 200))]
LARGE_MATRIX = dict(ROWS=4099, COLS=4111)   # more than 2^24 elements
GEMM_SIZES = [dict(M=m, N=n, K=k) for m, n, k in ((61, 83, 127), (1, 1, 1), (17, 130, 6151), (70003, 3, 5), (130, 257, 64), (96, 96, 96))]


def parts_of(text):
    """The launches and memsets of a kernel's text, in their order."""
    joined = re.sub(r"\\\s*\n\s*//", " ", text)
    return [(m.group(1), m.group(2).strip()) for m in re.finditer(r"^\s*// evo:(launch|memset) (.*)$", joined, re.M)]


class Source:
    """A .cu file, exported or a template: its text, its parameters, its steps."""

    def __init__(self, file):
        self.file = Path(file)
        own = self.file.read_text()
        base = re.search(r'^#include "(.*\.cu)"', own, re.M)
        self.text = (self.file.parent / base.group(1)).read_text() if base else own
        self.steps = parts_of(self.text)
        self.values = {name: int(value) for text in (self.text, own) for name, value in re.findall(r"^#define (\w+) (-?\d+)\s*$", text, re.M)}

    def task(self):
        found = re.match(r"// .*\(task (\w+), ", self.text)
        return found.group(1) if found else None

    def workspaces(self, sizes):
        names = {**self.values, **sizes}
        for line in directives(self.text, "workspace"):
            name, dtype, shape = re.match(r"(\w+) (\w+) \[(.*)\]", line).groups()
            yield name, BYTES[dtype] * math.prod(evaluate(e, names) for e in shape.split(","))

    def launches(self, sizes):
        """For each step that runs at these sizes: ("memset", buffer, value), or ("launch", kernel, arguments, grid, block, shared, line)."""
        names = {**self.values, **sizes}
        for kind, line in self.steps:
            if kind == "memset":
                yield ("memset", *line.split())
                continue
            when = clause(line, "when")
            if when and not evaluate(when[0], names):
                continue
            kernel = re.match(r"\w+", line).group(0)
            dims = [[evaluate(e, names) for e in clause(line, what)] for what in ("grid", "block")]
            arguments = clause(re.sub(rf"^{kernel}<.*?>\(", f"{kernel}(", line), kernel)
            yield ("launch", kernel, arguments, *dims, evaluate((clause(line, "shared") or ["0"])[0], names), line)


class Program:
    """A source compiled by nvcc."""

    def __init__(self, source, arch):
        import kernels
        self.kernels, self.source, self.functions = kernels, source, {}
        self.image = kernels.compile_file(source.file, kernels.target_of(arch))

    def run(self, buffers, scalars, sizes):
        import torch
        source, names = self.source, {**self.source.values, **sizes}
        buffers = {**buffers, **{name: torch.full((size,), 0x5a, dtype=torch.uint8, device="cuda") for name, size in source.workspaces(sizes)}}
        maps = {line.split()[0]: self.kernels.tensor_map(line, buffers, names) for line in directives(source.text, "tensormap")}
        for step in source.launches(sizes):
            if step[0] == "memset":
                buffers[step[1]].view(torch.uint8).fill_(int(step[2]))
                continue
            _, kernel, arguments, grid, block, shared, line = step
            values, places = [], []
            for argument in arguments:
                if argument in maps:
                    places.append(ctypes.c_void_p(maps[argument][1]))
                    continue
                values.append(ctypes.c_void_p(buffers[argument].data_ptr()) if argument in buffers else
                              ctypes.c_float(scalars[argument]) if argument in scalars else ctypes.c_int(evaluate(argument, names)))
                places.append(ctypes.cast(ctypes.pointer(values[-1]), ctypes.c_void_p))
            cluster = [evaluate(e, names) for e in clause(line, "cluster")] if clause(line, "cluster") else None
            if kernel not in self.functions:
                self.functions[kernel] = self.kernels.load_function(source.file, self.image, kernel)
            self.kernels.prepare(source.file.name, self.functions[kernel], places, grid, block, shared, cluster, " cooperative" in line)()
        torch.cuda.synchronize()


# The truth in double precision, and the sizes that errors are relative to: the truth itself, or the sum of magnitudes where terms cancel.
def softmax_truth(torch, a, sizes):
    truth = torch.softmax(a["X"].double(), -1)
    return truth, truth


def layer_norm_truth(torch, a, sizes):
    x = a["X"].double()
    normalised = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + float(torch.tensor(1e-5))).sqrt()
    truth = normalised * a["gamma"].double() + a["beta"].double()
    return truth, truth


def row_sum_truth(torch, a, sizes):
    return a["X"].double().sum(-1), a["X"].double().abs().sum(-1)


def transpose_truth(torch, a, sizes):
    truth = a["X"].double().T.contiguous()
    return truth, truth


def gemm_truth(torch, a, sizes):
    return a["A"].double() @ a["B"].double(), a["A"].double().abs() @ a["B"].double().abs()


def attention_truth(causal):
    def truth_of(torch, a, sizes):
        q, k, v = (a[name].double() for name in "QKV")
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        scores = q @ k.transpose(-1, -2) * sizes["D"] ** -0.5
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), -INFINITY)
        truth = scores.softmax(-1) @ v
        return truth, truth
    return truth_of


def fp32_bound(terms):
    return 6 * math.sqrt(2.0 ** -48 / 3 + 2.0 ** -48 * terms / 6)


class Task:
    """With `cancels`, a kernel may be off by what rounding each element of the first input changes, too: x - mean of equal numbers is
    rounding alone, whatever the order of the sum. The scales of row_sum and gemm, sums of magnitudes, say the same of theirs."""

    def __init__(self, truth, sizes, bound, out, inputs, dtype="float32", depth=None, cancels=False):
        self.truth, self.sizes, self.bound, self.out, self.inputs, self.dtype = truth, sizes, bound, out, inputs, dtype
        self.cancels = cancels
        if depth:
            self.sizes = [{**s, "D": depth} for s in sizes]


def attention(depth, causal=False, bf16=False, group=1):
    shape = lambda s: (s["B"], s["H"], s["S"], s["D"])
    keys = lambda s: (s["B"], s["H"] // group, s["S"], s["D"])
    return Task(attention_truth(causal), ATTENTION_SIZES, lambda s: 1.9e-2 if bf16 else 2.4e-3, {"O": shape}, {"Q": shape, "K": keys, "V": keys},
                "bfloat16" if bf16 else "float16", depth)


MATRIX = {"X": lambda s: (s["ROWS"], s["COLS"])}
TASKS = {
    "softmax": Task(softmax_truth, MATRIX_SIZES, lambda s: 4.7e-5, {"Y": MATRIX["X"]}, MATRIX),
    "layer_norm": Task(layer_norm_truth, MATRIX_SIZES, lambda s: 1e-4, {"Y": MATRIX["X"]},
                       {**MATRIX, "gamma": lambda s: (s["COLS"],), "beta": lambda s: (s["COLS"],)}, cancels=True),
    "row_sum": Task(row_sum_truth, MATRIX_SIZES + [LARGE_MATRIX], lambda s: fp32_bound(s["COLS"]), {"Y": lambda s: (s["ROWS"],)}, MATRIX),
    "transpose": Task(transpose_truth, MATRIX_SIZES + [LARGE_MATRIX], lambda s: 0.0, {"Y": lambda s: (s["COLS"], s["ROWS"])}, MATRIX),
    "gemm": Task(gemm_truth, GEMM_SIZES, lambda s: fp32_bound(s["K"]), {"C": lambda s: (s["M"], s["N"])},
                 {"A": lambda s: (s["M"], s["K"]), "B": lambda s: (s["K"], s["N"])}),
    "attention": attention(64), "attention_causal": attention(64, causal=True), "attention_bf16": attention(64, bf16=True),
    "attention_d128": attention(128), "attention_causal_d128": attention(128, causal=True), "attention_gqa": attention(128, group=4),
}


def tensors(torch, task, pattern, sizes, seed):
    made = {}
    dtype = getattr(torch, task.dtype)
    for i, (name, shape) in enumerate(task.inputs.items()):
        chosen = pattern[i] if isinstance(pattern, tuple) else pattern if name in "XA" else "normal"
        dims = shape(sizes)
        count = math.prod(dims[:-1])
        rows = torch.tensor(draw(chosen, count, dims[-1], random.Random(f"{seed} {pattern} {name} {sizes}")), dtype=torch.float64, device="cuda")
        values = rows[torch.arange(count, device="cuda") % len(rows)].reshape(dims)
        limit = torch.finfo(dtype).max
        made[name] = torch.where(values.isinf(), values, values.clamp(-limit, limit)).to(dtype).contiguous()
    return made


def error_of(torch, out, truth, scale):
    """Relative in the L2 norm; infinity where a value should be finite and is not, or should be infinite and is not."""
    right = truth.isfinite()
    if not out[right].isfinite().all() or not torch.equal(out[~right].double(), truth[~right]):
        return INFINITY
    whole = scale[right].double().norm().item()
    difference = (out[right].double() - truth[right]).norm().item()
    return difference / whole if whole > 0 else (0.0 if difference == 0 else INFINITY)


def judge(error, naive, bound, rounding=0.0):
    if not math.isfinite(naive):
        return NOT_JUDGED
    return "WRONG" if error > max(FACTOR * naive, bound, rounding) else "ok"


def rounding_of(torch, task, made, sizes, truth, scale):
    """The error of an exact answer to inputs that differ by a rounding, up or down."""
    first = next(iter(made))
    signs = 1 - 2 * (torch.arange(made[first].numel(), device=truth.device).reshape(made[first].shape) % 2)
    other, _ = task.truth(torch, {**made, first: made[first].double() * (1 + ROUNDING * signs)}, sizes)
    error = error_of(torch, other, truth, scale)
    return error if math.isfinite(error) else 0.0


def worst_of(programs, name, pattern, seeds):
    """Runs the champion and the naive template on one input, all sizes and seeds. Prints the worst line and returns its verdict."""
    import torch
    task, worst = TASKS[name], None
    for sizes in task.sizes:
        bound = task.bound(sizes)
        for seed in range(seeds):
            made = tensors(torch, task, pattern, sizes, seed)
            truth, scale = task.truth(torch, made, sizes)
            errors = []
            for program in programs:
                out = {o: torch.full(shape(sizes), 77.0, dtype=getattr(torch, task.dtype), device="cuda") for o, shape in task.out.items()}
                program.run({**{k: v.clone() for k, v in made.items()}, **out}, {"scale": sizes.get("D", 1) ** -0.5, "eps": 1e-5}, sizes)
                errors.append(error_of(torch, *out.values(), truth, scale))
            verdict = judge(*errors, bound, rounding_of(torch, task, made, sizes, truth, scale) if task.cancels else 0.0)
            rank = ("WRONG", "ok", NOT_JUDGED).index(verdict), -errors[0] / max(errors[1], bound, 1e-300) if verdict == "ok" else 0
            if worst is None or rank < worst[0]:
                worst = rank, errors, sizes, verdict
    _, (error, naive), sizes, verdict = worst
    where = " ".join(f"{k}={v}" for k, v in sizes.items())
    said = pattern if isinstance(pattern, str) else " | ".join(pattern)
    print(f"{programs[0].source.file.name:<28} {name:<22} {said:<36} {error:9.2e} naive {naive:9.2e}  {where:<26} {verdict}", flush=True)
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        sys.argv[1:] = [str(HERE)]
        runpy.run_path(str(HERE.parent / "tests" / "bench" / "hard_inputs_test.py"), run_name="__main__")
    if options.folder is None:
        parser.error("a folder of exported kernels is needed")
    wrong = checked = 0
    for file in sorted(f for f in options.folder.glob("*.cu") if not f.stem.endswith("_host")):
        source = Source(file)
        name = source.task()
        if name not in TASKS:
            raise SystemExit(f"{file}: not exported by evo, or of an unknown task")
        naive = next(f for f in (TEMPLATES / name / n for n in ("naive.cu", "warp.cu", "mma.cu")) if f.exists())
        programs = [Program(source, options.arch), Program(Source(naive), options.arch)]
        for pattern in inputs_of(name):
            checked += 1
            wrong += worst_of(programs, name, pattern, options.seeds) == "WRONG"
    print(f"{checked} lines, {wrong} of them wrong")
    if checked == 0:
        raise SystemExit(f"{options.folder}: no exported kernel in it")
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
