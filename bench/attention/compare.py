#!/usr/bin/env python3
"""Attention kernels of evo against every back end of PyTorch's scaled_dot_product_attention, in one process, taking turns.

usage: bench/attention/compare.py [--shape B,H,S,D[,causal]]... [FILE[:NAME=VALUE,..]]...
FILE is what `evo best --export` wrote, or a template; NAME=VALUE sets its parameters. Without files: the templates that are best for the
shapes of docs/attention.md, at the parameters given there. Time is that of a call's kernels and memsets by CUPTI's records (kineto), gaps
between them left out (PyTorch's own calls come too slowly to fill them), median of the rounds, L2 hot. The error is that of sampled rows against double precision, relative in the L2 norm.
"""
import argparse
import statistics
import sys
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

from best import BEST
from kernels import Kernel

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent.parent / "kernel_templates"
ROUNDS = 60
CHECKED_ROWS = 512
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}


def device_events(body):
    """Kernels, copies and memsets that `body` made run, as (start, end) in ns, in order."""
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as run:
        body()
        torch.cuda.synchronize()
    events = [e for e in run.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA]
    return sorted((e.start_ns(), e.start_ns() + e.duration_ns()) for e in events if e.duration_ns() > 0)


def measure(calls):
    """Median time in us of the kernels of each call; the calls take turns."""
    for call in calls.values():
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    device_events(lambda: [call() for call in calls.values()])   # CUPTI's own first time
    steps = {name: len(device_events(call)) for name, call in calls.items()}

    def rounds():
        for _ in range(ROUNDS):
            for call in calls.values():
                call()
    events = device_events(rounds)
    if len(events) != ROUNDS * sum(steps.values()):
        sys.exit(f"compare: {len(events)} records of {ROUNDS * sum(steps.values())}; is another profiler running?")
    spans = {name: [] for name in calls}
    at = 0
    for _ in range(ROUNDS):
        for name, count in steps.items():
            spans[name].append(sum(end - start for start, end in events[at:at + count]) / 1000)
            at += count
    return {name: statistics.median(values) for name, values in spans.items()}


def error(q, k, v, out, causal):
    batch, heads, length, depth = q.shape
    rows = torch.randperm(batch * heads * length, generator=torch.Generator().manual_seed(1))[:CHECKED_ROWS].to(q.device)
    head, row = rows // length, rows % length
    difference = total = 0.0
    for h in head.unique():
        mine = row[head == h]
        at = (h // heads, h % heads)
        scores = q[at][mine].double() @ k[at].double().T * depth ** -0.5
        if causal:
            scores.masked_fill_(torch.arange(length, device=q.device)[None, :] > mine[:, None], float("-inf"))
        truth = scores.softmax(-1) @ v[at].double()
        difference += (out[at][mine].double() - truth).square().sum().item()
        total += truth.square().sum().item()
    return (difference / total) ** 0.5


def best_of_templates(shape, causal):
    """(file, parameters) that docs/attention.md names for a shape."""
    depth = shape[3]
    folder = TEMPLATES / ("attention" + ("_causal" if causal else "") + ("_d128" if depth == 128 else ""))
    return [(folder / f"{name}.cu", values) for name, values in BEST[(*shape, causal)]]


def compare(shape, causal, kernels):
    torch.manual_seed(0)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(3))
    calls, outputs = {}, {}
    for name, backend in BACKENDS.items():
        def call(backend=backend, name=name):
            with sdpa_kernel(backend):
                outputs[name] = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        try:
            call()
            calls[name] = call
        except RuntimeError as problem:
            print(f"{name}: {str(problem).splitlines()[0]}", file=sys.stderr)
    theirs = list(calls)
    for kernel in kernels:
        outputs[kernel.label] = torch.full_like(q, float("nan"))
        calls[kernel.label] = kernel.launcher(q, k, v, outputs[kernel.label])
    times = measure(calls)
    best = min(times[name] for name in theirs)
    print(f"\nB, H, S, D = {', '.join(map(str, shape))}{', causal' if causal else ''}")
    print(f"| kernel | us | times as fast as the best back end | TFLOP/s | relative L2 error |\n| --- | --- | --- | --- | --- |")
    work = 4 * shape[0] * shape[1] * shape[2] * (shape[2] + 1 if causal else shape[2]) * shape[3] / (2 if causal else 1)
    for name, time in times.items():
        print(f"| {name} | {time:.2f} | {best / time:.2f} | {work / time / 1e6:.0f} | {error(q, k, v, outputs[name], causal):.2e} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", help="B,H,S,D or B,H,S,D,causal; may be given several times")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    texts = options.shape or ["1,8,512,64", "1,8,512,64,causal", "4,8,512,64", "16,16,1024,64", "4,16,2048,64", "4,16,4096,128",
                              "4,16,4096,128,causal"]
    for text in texts:
        parts = text.split(",")
        causal = parts[4:] == ["causal"]
        if len(parts) - causal != 4:
            sys.exit(f"compare: --shape {text}: B,H,S,D or B,H,S,D,causal expected")
        shape = tuple(int(part) for part in parts[:4])
        chosen = [(Path(f.partition(":")[0]), f.partition(":")[2]) for f in options.files] or best_of_templates(shape, causal)
        compare(shape, causal, [Kernel(file, [v for v in values.split(",") if v], options.arch) for file, values in chosen])


if __name__ == "__main__":
    main()
