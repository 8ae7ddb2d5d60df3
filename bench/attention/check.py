#!/usr/bin/env python3
"""The attention templates against double precision, on ragged shapes and several distributions, each twice for equal bits.

usage: bench/attention/check.py [--task NAME]... [--template NAME]...
Every template of the tasks at its defaults and at the parameters that best.py names for it. One line for each kernel; exit status 1 if one is wrong.
"""
import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

from best import BEST
from kernels import Kernel   # it makes the folder of `measure` known
from measure.driver import compile_file, target_of
from problem import TEMPLATES, Problem
from progression import architecture, compiles_for

TASKS = {"attention": "", "attention_causal": ",causal", "attention_d128": "", "attention_causal_d128": ",causal", "attention_bf16": ",bf16",
         "attention_gqa": ",gqa"}
SIZES = [(3, 4, 1), (1, 8, 40), (1, 20, 77), (2, 12, 200), (1, 8, 512), (1, 8, 1030)]   # B, H, S; H suits gqa
DEVIATIONS = [1.0, 6.0, 0.01]


def settings(task, name):
    """The defaults, and what best.py names for the template at this kind and depth."""
    depth = 128 if "128" in task or "gqa" in task else 64
    kinds = TASKS[task][1:]
    found = {values for key, list_of in BEST.items() for template, values in list_of
             if template == name and key[3] == depth and key[4] in (kinds or False, kinds == "causal")}
    return [""] + sorted(found - {""})


def check(task, file, setting, arch):
    """The line for a kernel, and whether it is right."""
    kernel = Kernel(file, [v for v in setting.split(",") if v], arch)
    depth = 128 if "128" in task or "gqa" in task else 64
    worst, wrong = 0.0, []
    for batch, heads, length in SIZES:
        problem = Problem.parse(f"{batch},{heads},{length},{depth}{TASKS[task]}")
        for deviation in DEVIATIONS:
            q, k, v = problem.inputs(deviation, seed=length)
            outs = []
            for _ in range(2):
                outs.append(torch.full_like(q, float("nan")))
                kernel.launcher(q, k, v, outs[-1])()
            torch.cuda.synchronize()
            off = problem.error(q, k, v, outs[0])
            worst = max(worst, off) if off == off else off
            if not off <= problem.bound:
                wrong.append(f"S {length} deviation {deviation}: error {off:.2e}, bound {problem.bound:.1e}")
            elif not torch.equal(outs[0], outs[1]):
                wrong.append(f"S {length} deviation {deviation}: two runs differ")
    return f"{task}/{file.stem} {setting or 'defaults'}: {'WRONG, ' + '; '.join(wrong) if wrong else f'right, worst error {worst:.2e}'}", not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", action="append", choices=list(TASKS))
    parser.add_argument("--template", action="append")
    options = parser.parse_args()
    arch = architecture()
    wanted = [(task, file, setting) for task in options.task or TASKS for file in sorted((TEMPLATES / task).glob("*.cu"))
              if file.stem != "reference" and (not options.template or file.stem in options.template) and compiles_for(file, arch)
              for setting in settings(task, file.stem)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda one: compile_file(one[1], target_of(arch), tuple(v for v in one[2].split(",") if v)), wanted))
    right = True
    for one in wanted:
        line, ok = check(*one, arch)
        print(line, flush=True)
        right = right and ok
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
