#!/usr/bin/env python3
"""Attention kernels of evo against every back end of PyTorch's scaled_dot_product_attention, in one process, taking turns.

usage: bench/attention/compare.py [--shape B,H,S,D[,causal][,bf16][,gqa]]... [--exported DIR] [FILE[:NAME=VALUE,..]]...
--exported DIR: files that `evo best --export` wrote. Each says in the comment at its head what task and sizes it was made for and how it is
compiled and launched; that is done, and the file takes part where task and sizes are those of a shape. FILE is such a file or a template,
launched by its directives for any sizes; NAME=VALUE sets its parameters. A shape for which neither is given has the templates that are best for it,
at the parameters found by hand that docs/attention.md gives. What each line of the table is stands in it. Time is that of a call's kernels and
memsets by CUPTI's records (kineto), gaps between them left out (PyTorch's own calls come too slowly to fill them), median of the rounds, L2 hot. The
error is that of sampled rows against double precision, relative in the L2 norm.
"""
import argparse
import sys
import warnings
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from best import BEST
from kernels import Kernel   # it makes the folder of `measure` known
from measure.exported import ExportedKernel, load_exported
from measure.sources import NotExported
from measure.timing import measure
from problem import Problem

ROUNDS = 60
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}
SHAPES = ["1,8,512,64", "1,8,512,64,causal", "4,8,512,64", "16,16,1024,64", "4,16,2048,64", "4,16,4096,128", "4,16,4096,128,causal"]


def library_calls(problem, q, k, v, outputs):
    """A call for each back end of PyTorch that takes the problem; what each computes goes to outputs[name]."""
    calls = {}
    for name, backend in BACKENDS.items():
        def call(backend=backend, name=name):
            with sdpa_kernel(backend):
                outputs[name] = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=problem.causal, enable_gqa=problem.group > 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")   # PyTorch says of every other back end why it was not taken
                call()
            calls[name] = call
        except RuntimeError as refusal:
            print(f"{problem}: {name} does not take it: {str(refusal).splitlines()[0]}", file=sys.stderr)
    return calls


def chosen_kernels(problem, files, exported, arch):
    """(what it is, kernel) for a problem."""
    fitting = [("exported file", kernel) for kernel in exported if kernel.fits(problem.task, problem.sizes)]
    named = [("file named", Kernel(file, [v for v in values.split(",") if v], arch)) for file, values in files]
    if fitting or named:
        return fitting + named
    key = (*problem.shape, problem.causal) if problem.kinds <= {"causal"} else (*problem.shape, *sorted(problem.kinds))
    if key not in BEST:
        sys.exit(f"compare: {problem}: no exported file fits, and best.py names no templates; give files")
    if exported:
        print(f"{problem}: no exported file is for {problem.task} with these sizes; templates at parameters found by hand take part", file=sys.stderr)
    return [("template, by hand", Kernel(problem.folder / f"{name}.cu", [v for v in values.split(",") if v], arch)) for name, values in BEST[key]]


def launcher(kernel, problem, q, k, v, out):
    if isinstance(kernel, ExportedKernel):
        return kernel.launcher(problem.sizes, {"Q": q, "K": k, "V": v, "O": out})
    return kernel.launcher(q, k, v, out)


def compare(problem, kernels):
    q, k, v = problem.inputs()
    outputs = {}
    calls = library_calls(problem, q, k, v, outputs)
    theirs = list(calls)
    origin = {name: "PyTorch" for name in theirs}
    for what, kernel in kernels:
        outputs[kernel.label] = torch.full_like(q, float("nan"))
        calls[kernel.label] = launcher(kernel, problem, q, k, v, outputs[kernel.label])
        origin[kernel.label] = what
    times = measure(calls, ROUNDS)
    best = min((times[name] for name in theirs), default=float("nan"))
    print(f"\nB, H, S, D = {problem}")
    print("| kernel | what it is | us | times as fast as the best back end | TFLOP/s | relative L2 error |\n| --- | --- | --- | --- | --- | --- |")
    for name, time in times.items():
        off = problem.error(q, k, v, outputs[name])
        verdict = f"{off:.2e}" if off <= problem.bound else f"{off:.2e}: WRONG"
        print(f"| {name} | {origin[name]} | {time:.2f} | {best / time:.2f} | {problem.operations / time / 1e6:.0f} | {verdict} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", help="may be given several times")
    parser.add_argument("--exported", metavar="DIR", help="a folder of files that `evo best --export` wrote")
    parser.add_argument("--arch", default="sm_90a", help="for files and templates; an exported file says itself what it is compiled for")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    try:
        problems = [Problem.parse(text) for text in options.shape or SHAPES]
        exported = load_exported(options.exported) if options.exported else []
        if options.exported and not exported:
            sys.exit(f"compare: --exported {options.exported}: no .cu file in it")
        unused = [kernel for kernel in exported if not any(kernel.fits(problem.task, problem.sizes) for problem in problems)]
        for kernel in unused:
            print(f"{kernel.label}: for {kernel.task}, {list(kernel.cases)}: none of the shapes", file=sys.stderr)
        files = [(Path(f.partition(":")[0]), f.partition(":")[2]) for f in options.files]
        for problem in problems:
            compare(problem, chosen_kernels(problem, files, exported, options.arch))
    except (NotExported, RuntimeError, ValueError) as wrong:
        sys.exit(f"compare: {wrong}")


if __name__ == "__main__":
    main()
