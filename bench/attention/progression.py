#!/usr/bin/env python3
"""The attention ladder at one shape as a table: each rung's time, share of the ceiling, speed-up over the naive kernel, right or wrong.

usage: bench/attention/progression.py [--shape B,H,S,D[,causal]]... [--tune]
Every rung is its template in kernel_templates, at the parameters that best.py names for the shape, else at its defaults, or, with --tune, at the fastest
of some settings tried here; the naive kernel, the baseline of all speed-ups, always at its defaults. All take turns in one process; times are as in compare.py. The ceiling is an fp16 matrix product of 8192 by 8192 by 8192 of
PyTorch (cuBLAS) in the same process. Right: all of the output is finite and the relative L2 error of sampled rows against double precision is
within the bound of the task. PyTorch's back ends stand below for comparison.
"""
import argparse
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from best import BEST, LADDER
from compare import library_calls
from kernels import Kernel   # it makes the folder of `measure` known
from measure.driver import compile_file, target_of
from measure.launch_lines import directives, evaluate
from measure.timing import measure
from problem import Problem

ROUNDS = 20
SLOW_US = 2000.0   # what takes longer than this is timed a few times only
SLOW_ROUNDS = 3
CEILING_SIZE = 8192
RUNGS = [("1", "naive"), ("2", "tiled"), ("3", "warp"), ("4", "wmma"), ("5", "mma"), ("6", "mma_split"), ("6", "wgmma_split"), ("7", "wgmma")]
# Settings tried by --tune, beside the defaults.
GRIDS = {
    "tiled": {"BLOCK_M": [16, 32], "BLOCK_N": [32, 64], "ROW_THREADS": [4, 8], "UNROLL": [8]},
    "warp": {"WARPS": [2, 4], "ROWS": [2, 4, 8], "LANES": [4, 8], "KEYS": [1, 2, 4]},
    "wmma": {"BLOCK_N": [64, 128], "WARPS": [4, 8], "CHUNK": [32, 64]},
}


@dataclass
class Rung:
    number: str
    name: str
    setting: str
    kernel: Kernel
    out: torch.Tensor
    call: object


def architecture():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def compiles_for(file, arch):
    """Whether the template's evo:requires allows it: any later architecture, with an `a` that very one."""
    text = file.read_text()
    base = [line.split('"')[1] for line in text.splitlines() if line.startswith('#include "')]
    wanted = directives((file.parent / base[0]).read_text() if base else text, "requires")
    number = lambda name: int(name.strip("sm_a"))
    return not wanted or (wanted[0] == arch if wanted[0].endswith("a") else number(wanted[0]) <= number(arch))


def meets_constraints(kernel):
    return all(evaluate(c, kernel.values) for c in directives(kernel.text, "constraint"))


def settings_of(name, problem, tune):
    """Parameters to try for a rung, each a text NAME=VALUE,..; the empty one is the defaults."""
    key = (*problem.shape, problem.causal)
    known = [values for template, values in BEST.get(key, []) + LADDER.get(key, []) if template == name]
    grid = GRIDS.get(name, {}) if tune else {}
    if known and not grid:
        return known
    return [""] + [",".join(f"{n}={v}" for n, v in zip(grid, values)) for values in itertools.product(*grid.values()) if grid]


def build(problem, tune, arch):
    """Every (rung, setting) that can be compiled and launched, compiled side by side."""
    wanted = []
    for number, name in RUNGS:
        file = problem.folder / f"{name}.cu"
        if not file.exists():
            continue
        if not compiles_for(file, arch):
            print(f"{name}: not for {arch}", file=sys.stderr)
            continue
        wanted += [(number, name, setting, file) for setting in settings_of(name, problem, tune)]
    with ThreadPoolExecutor() as pool:
        def compile_one(one):
            try:
                compile_file(one[3], target_of(arch), tuple(v for v in one[2].split(",") if v))
                return True
            except Exception as problem_of_one:
                print(f"{one[1]} {one[2]}: {problem_of_one}", file=sys.stderr)
                return False
        compiled = list(pool.map(compile_one, wanted))
    return [one for one, ok in zip(wanted, compiled) if ok]


def prepare_rungs(problem, inputs, candidates, arch):
    rungs = []
    for number, name, setting, file in candidates:
        kernel = Kernel(file, [v for v in setting.split(",") if v], arch)
        if name in GRIDS and not meets_constraints(kernel):
            continue
        out = torch.full_like(inputs[0], float("nan"))
        try:
            call = kernel.launcher(*inputs, out)
            call()
            torch.cuda.synchronize()
        except RuntimeError as failure:
            print(f"{name} {setting}: {failure}", file=sys.stderr)
            continue
        rungs.append(Rung(number, name, setting, kernel, out, call))
    return rungs


def once(call):
    """Roughly, in us, of a call that has run before."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    call()
    end.record()
    end.synchronize()
    return 1000 * begin.elapsed_time(end)


def times_of(calls):
    rough = {name: min(once(call) for _ in range(2)) for name, call in calls.items()}
    slow = {name: call for name, call in calls.items() if rough[name] > SLOW_US}
    times = measure({name: call for name, call in calls.items() if name not in slow}, ROUNDS)
    return {**times, **measure(slow, SLOW_ROUNDS)} if slow else times


def fastest(rungs):
    """Of each template the setting that is fastest, roughly timed."""
    best = {}
    for rung in rungs:
        time = min(once(rung.call) for _ in range(3))
        if rung.name not in best or time < best[rung.name][0]:
            best[rung.name] = time, rung
    return [rung for _, rung in best.values()]


def ceiling():
    """Operations a second of a large fp16 matrix product."""
    a, b = (torch.randn(CEILING_SIZE, CEILING_SIZE, device="cuda", dtype=torch.float16) for _ in range(2))
    time = measure({"product": lambda: torch.mm(a, b)}, ROUNDS)["product"]
    return 2 * CEILING_SIZE ** 3 / time * 1e6


def table(problem, tune, arch, most):
    inputs = problem.inputs()
    rungs = fastest(prepare_rungs(problem, inputs, build(problem, tune, arch), arch))
    outputs = {}
    library = library_calls(problem, *inputs, outputs)
    times = times_of({**{rung.name: rung.call for rung in rungs}, **library})
    first = times.get("naive")
    print(f"\nB, H, S, D = {problem}; ceiling {most / 1e12:.0f} TFLOP/s (fp16 product of {CEILING_SIZE} cubed); bound on the error {problem.bound:.1e}\n")
    print("| rung | kernel | us | TFLOP/s | share of the ceiling | speed-up over naive | right? (relative L2 error) | parameters |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = [(rung.number, f"`{rung.name}`", rung.name, rung.out, rung.setting.replace(",", " ") or "defaults") for rung in rungs]
    rows += [("", f"PyTorch, {name}", name, outputs[name], "") for name in library]
    for number, label, name, out, setting in rows:
        rate = problem.operations / times[name] * 1e6
        off = problem.error(*inputs, out)
        speedup = f"{first / times[name]:,.1f}" if first else ""
        print(f"| {number} | {label} | {times[name]:,.2f} | {rate / 1e12:,.1f} | {100 * rate / most:.2f}% | {speedup} | "
              f"{'right' if off <= problem.bound else 'WRONG'} ({off:.2e}) | {setting} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", help="may be given several times; 1,8,512,64 and 4,16,2048,64 if none is")
    parser.add_argument("--tune", action="store_true", help="try some settings of the lower rungs and take the fastest")
    options = parser.parse_args()
    try:
        problems = [Problem.parse(text) for text in options.shape or ["1,8,512,64", "4,16,2048,64"]]
    except ValueError as wrong:
        sys.exit(f"progression: {wrong}")
    arch = architecture()
    print(f"{torch.cuda.get_device_name()}, {arch}, PyTorch {torch.__version__}")
    most = ceiling()
    for problem in problems:
        table(problem, options.tune, arch, most)


if __name__ == "__main__":
    main()
