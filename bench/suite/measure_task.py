#!/usr/bin/env python3
"""Measures one task on the first GPU that is visible: evo's exported kernels, the baseline, and every peer, interleaved. run.py
starts it.

usage: measure_task.py --task DIR --out FILE [--kernel NAME=FILE.cu].. [--l2 hot|cold] [--peers eager,..] [--exclude NAME]..
                       [--sizes JSON] [--seconds S] [--wait]
       measure_task.py --ceilings --out FILE
Writes JSON. While it works, FILE.progress has the name of what is being tried. Exit status 4: the GPU cannot be used in this
process any more, after what that file names."""
import argparse
import importlib
import json
import os
import signal
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import torch

from measure.driver import target_of
from measure.exported import ExportedKernel, image_of, launcher
from measure.sources import Launch, NotExported, Plan, TemplateSource
from measure.timing import samples
from arrays import as_tensors, draw, empty_output, error_of
from functions import longs
from operators import NotMapped, check_mapping, keywords_of
from results import BASELINE, COMPILE, EAGER, MAX_AUTOTUNE, write_json
from tasks import Task

UNUSABLE = 4  # exit status
PEERS = ("eager", "library", "triton", "compile", "max-autotune")
COPY = "copy"  # beside the peers: a kernel that copies as many bytes as the task moves
TRY_SECONDS = {COMPILE: 60, MAX_AUTOTUNE: 150}  # torch.compile builds kernels; max-autotune times many
OTHER_SECONDS = 60
TIMED_SECONDS = 0.6  # of kernels in all rounds of a task
ROUNDS = (7, 101)
COPIED_BYTES = 1 << 30  # far more than any L2
FLUSHED_BYTES = 1 << 28
PRODUCT = 8192
SEED = 20


class TookTooLong(Exception):
    pass


@contextmanager
def at_most(seconds):
    """Raises TookTooLong in the main thread; a call that never returns to Python is the parent's to end."""

    def late(*_):
        raise TookTooLong(f"not ready within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def arch():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def baseline_of(task, target):
    return TemplateSource(task.folder / f"{task.baseline}.cu", target)


def plan_of(source, task):
    """Of a template at the task's sizes."""
    return source.plan(task.sizes, task.scalars, {a.name for a in task.arrays})


class Measurement:
    def __init__(self, task, options):
        self.task, self.options = task, options
        self.operator, self.kernels, self.calls, self.restores = check_mapping(task), {}, {}, {}
        self.inputs = {a.name: draw(a, SEED + i, "cuda") for i, a in enumerate(task.inputs)}
        arrays = list(self.inputs.values())
        self.peer_arrays = self.operator.prepare(*arrays) if self.operator.prepare else arrays
        self.truths = self._truth(arrays)

    def _truth(self, arrays):
        function = self.operator.truth or self.operator.function
        doubles = [a.double() if a.is_floating_point() else a for a in arrays]
        if not self.operator.truth and self.operator.prepare:
            doubles = self.operator.prepare(*doubles)
        truths = as_tensors(function(*doubles, **keywords_of(function, self.task)))
        if len(truths) != len(self.task.outputs):
            raise NotMapped(f"operators.py gives {len(truths)} outputs, the task has {len(self.task.outputs)}")
        return truths

    def progress(self, name):
        Path(f"{self.options.out}.progress").write_text(name)

    def check(self, name, answers):
        """Notes how far the answers are from the truth."""
        if len(answers) != len(self.truths):
            raise NotMapped(f"{len(answers)} outputs, the task has {len(self.truths)}")
        found = [error_of(out, truth, self.task.bound(a)) for out, truth, a in zip(answers, self.truths, self.task.outputs)]
        error, allowed, _ = max(found, key=lambda f: (not f[2], f[0] / f[1] if f[1] else f[0]))
        self.kernels[name].update(error=error, bound=allowed, right=all(f[2] for f in found))

    def attempt(self, name, kind, make, note=""):
        """Makes a call, runs it, checks its answer. A failure is noted and ends nothing but this."""
        if name in self.options.exclude:
            return
        self.progress(name)
        entry = self.kernels[name] = {"kind": kind, "times": [], "note": note}
        try:
            with at_most(TRY_SECONDS.get(name, OTHER_SECONDS)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call, answers = make()
                got = answers(call())
                torch.cuda.synchronize()
                self.check(name, got)
            self.calls[name] = call
        except Exception as wrong:  # whatever a compiler or a library raises
            entry["failed"] = first_line(wrong)
            print(f"{self.task.name}: {name}: {entry['failed']}", file=sys.stderr)
            self.still_usable()

    def still_usable(self):
        try:
            torch.cuda.synchronize()
            torch.zeros(1, device="cuda").add_(1).item()
        except RuntimeError:
            print(f"{self.task.name}: the GPU cannot be used any more in this process", file=sys.stderr)
            sys.stderr.flush()
            # Destructors of a broken context may hang.
            os._exit(UNUSABLE)
        torch.cuda.empty_cache()

    def add_kernel(self, name, kind, source, plan):
        """A kernel of evo, on its own outputs."""

        def make():
            tensors = {}
            for array in self.task.arrays:
                if array.role == "in":
                    tensors[array.name] = self.inputs[array.name]
                else:
                    tensors[array.name] = (
                        self.inputs[array.name].clone() if array.role == "inout" else empty_output(array, "cuda")
                    )
            changed = [(tensors[a.name], self.inputs[a.name]) for a in self.task.arrays if a.role == "inout"]
            if changed:
                self.restores[name] = lambda: [mine.copy_(first) for mine, first in changed]
            outputs = [tensors[a.name] for a in self.task.outputs]
            return launcher(source, plan(), tensors), lambda _: outputs

        self.attempt(name, kind, make, source.label)

    def add_evolved(self, name, file):
        try:
            kernel = ExportedKernel(file)
            if kernel.task != self.task.name:
                raise NotExported(f"{file}: it is for task {kernel.task}")
            self.add_kernel(name, "evo", kernel, lambda: kernel.plan(self.task.sizes))
        except (NotExported, OSError, ValueError) as wrong:
            self.kernels[name] = {"kind": "evo", "times": [], "failed": first_line(wrong)}

    def add_baseline(self, target):
        try:
            source = baseline_of(self.task, target)
            self.add_kernel(BASELINE, "baseline", source, lambda: plan_of(source, self.task))
        except (NotExported, OSError, ValueError) as wrong:
            self.kernels[BASELINE] = {"kind": "baseline", "times": [], "failed": first_line(wrong)}

    def add_peer(self, name, function, wrap=lambda f: f, note=""):
        def make():
            keywords = keywords_of(function, self.task) if self.operator.prepare in (None, longs) else {}
            plain = wrap(lambda *arrays: function(*arrays, **keywords))
            return lambda: plain(*self.peer_arrays), as_tensors

        self.attempt(name, "peer", make, note)

    def add_peers(self, wanted):
        operator = self.operator
        if "eager" in wanted:
            self.add_peer(EAGER, operator.function, note=operator.eager_is and f"calls {operator.eager_is}")
        if "library" in wanted:
            for name, function in operator.libraries.items():
                self.add_peer(name, function)
        if "triton" in wanted and operator.triton:
            try:
                self.add_peer("Triton", getattr(importlib.import_module("triton_kernels"), operator.triton))
            except ImportError as wrong:
                self.kernels["Triton"] = {"kind": "peer", "times": [], "failed": first_line(wrong)}
        if operator.compiles and "compile" in wanted:
            self.add_peer(COMPILE, operator.function, lambda f: torch.compile(f, dynamic=False))
        if operator.compiles and "max-autotune" in wanted:
            # Without CUDA graphs: kernel time is what is compared, and graphs would copy the inputs.
            self.add_peer(
                MAX_AUTOTUNE, operator.function, lambda f: torch.compile(f, dynamic=False, mode="max-autotune-no-cudagraphs")
            )

    def add_copy(self):
        """A copy that reads half of the task's bytes and writes the other half, timed alternately with the others."""
        elements = int(self.task.bytes) // 32
        a, b = (torch.zeros(4 * elements, device="cuda") for _ in range(2))
        blocks = min(-(-elements // 256), 8 * torch.cuda.get_device_properties(0).multi_processor_count)
        self.kernels[COPY] = {"kind": COPY, "times": [], "right": True}
        self.calls[COPY] = copy_of(a, b, elements, blocks)

    def time(self):
        """All calls take turns. L2 hot: each call runs once more before the one that is timed; cold: 256 MiB are written before
        it."""
        if not self.calls:
            return
        flush = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda") if self.options.l2 == "cold" else None

        def before(name):
            restore = self.restores.get(name, lambda: None)
            restore()
            if flush is not None:
                flush.zero_()
            else:
                self.calls[name]()
                restore()

        self.progress("timing")
        first = samples(self.calls, 3, before)
        whole = sum(sorted(times)[1] for times in first.values()) / 1e6
        rounds = max(ROUNDS[0], min(ROUNDS[1], int(self.options.seconds / max(whole, 1e-9))))
        for name, times in samples(self.calls, rounds, before).items():
            self.kernels[name]["times"] = [round(t, 4) for t in times]

    def result(self):
        task = self.task
        return {
            "case": task.case,
            "sizes": task.sizes,
            "bytes": task.bytes,
            "operations": task.operations,
            "arithmetic": task.dtype,
            "kernels": self.kernels,
            "gpu": torch.cuda.get_device_name(),
            "torch": torch.__version__,
        }


def first_line(wrong):
    lines = [line for line in str(wrong).splitlines() if line.strip()]
    return f"{type(wrong).__name__}: {lines[0].strip()[:300]}" if lines else type(wrong).__name__


def copy_of(a, b, elements, blocks):
    """A call that copies `elements` of 16 bytes from one tensor to the other."""
    source = SimpleNamespace(file=Path(__file__).resolve().parent / "ceilings.cu", target=target_of(arch()), label="copy")
    launch = Launch("copy_all", (("name", "A"), ("name", "B"), ("i64", elements)), (blocks,), (256,), 0)
    return launcher(source, Plan((launch,)), {"A": a, "B": b})


def measure_ceilings():
    """Bytes a second of a copy kernel; operations a second of fp32 multiply-adds and of matrix products."""
    source = SimpleNamespace(file=Path(__file__).resolve().parent / "ceilings.cu", target=target_of(arch()), label="ceilings")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    elements = COPIED_BYTES // 16
    a, b = (torch.zeros(COPIED_BYTES // 4, device="cuda") for _ in range(2))
    calls, amounts = {}, {}
    for blocks in (8, 32):
        calls[f"copy {blocks}"], amounts[f"copy {blocks}"] = copy_of(a, b, elements, processors * blocks), 2 * COPIED_BYTES
    calls["copy PyTorch"], amounts["copy PyTorch"] = lambda: b.copy_(a), 2 * COPIED_BYTES
    iterations, blocks = 4096, processors * 8
    launch = Launch("multiply_add", (("name", "A"), ("i32", iterations), ("f32", 0.5)), (blocks,), (256,), 0)
    calls["f32"], amounts["f32"] = launcher(source, Plan((launch,)), {"A": a}), 32 * iterations * blocks * 256
    for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16)):
        x, y = (torch.randn(PRODUCT, PRODUCT, device="cuda").to(dtype) for _ in range(2))
        calls[name], amounts[name] = lambda x=x, y=y: x @ y, 2 * PRODUCT**3
    try:
        u, w = (torch.randint(-127, 127, (PRODUCT, PRODUCT), device="cuda", dtype=torch.int8) for _ in range(2))
        product = lambda: torch._int_mm(u, w.t())
        product()
        torch.cuda.synchronize()
        calls["i8"], amounts["i8"] = product, 2 * PRODUCT**3
    except RuntimeError as wrong:
        print(f"ceilings: no int8 product: {first_line(wrong)}", file=sys.stderr)
    for call in calls.values():
        call()
    torch.cuda.synchronize()
    rates = {name: amounts[name] / (sorted(times)[len(times) // 2] / 1e6) for name, times in samples(calls, 15).items()}
    copies = {name: rate for name, rate in rates.items() if name.startswith("copy")}
    return {
        "bytes_per_s": max(copies.values()),
        "copies": copies,
        "device": torch.cuda.get_device_name(),
        "operations_per_s": {name: rate for name, rate in rates.items() if name not in copies},
    }


def files_of(options):
    """(name, file) of evo's kernels."""
    return [(name, file) for name, _, file in (pair.partition("=") for pair in options.kernel)]


def compile_all(options):
    """All kernels by nvcc at once, without the GPU. What fails here fails again, and is noted, where the kernel is added. Returns
    the target of the first of evo's kernels, which the baseline is then compiled for as well; None if there is none."""
    task, wanted = Task(options.task, sizes=options.sizes), []
    for _, file in files_of(options):
        with suppress(NotExported, OSError, ValueError):
            kernel = ExportedKernel(file)
            wanted.append((kernel, kernel.plan(task.sizes)))
    target = wanted[0][0].target if wanted else None
    if target:
        with suppress(NotExported, OSError, ValueError):
            baseline = baseline_of(task, target)
            wanted.append((baseline, plan_of(baseline, task)))
    with ThreadPoolExecutor() as pool:
        for made in [pool.submit(image_of, *one) for one in wanted]:
            with suppress(Exception):
                made.result()
    return target


def load_compiler(peers):
    """What torch.compile would load at its first call. Uses no GPU."""
    if {"compile", "max-autotune"} & set(peers):
        try:
            importlib.import_module("torch._inductor.compile_fx")
        except Exception as wrong:  # torch.compile itself says so again, where it is asked
            print(f"torch.compile: {first_line(wrong)}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--l2", choices=("hot", "cold"), default="hot")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--sizes", type=json.loads, default={}, help="JSON; in the place of those of the task's search case")
    parser.add_argument("--seconds", type=float, default=TIMED_SECONDS)
    parser.add_argument("--ceilings", action="store_true")
    parser.add_argument("--wait", action="store_true", help="load what is needed, and use the GPU only when a line has come")
    options = parser.parse_args()
    target = None
    if options.wait:
        target = compile_all(options)
        load_compiler(options.peers.split(","))
        sys.stdin.readline()
    torch.set_grad_enabled(False)
    # fp32 is fp32: the tasks' bounds fail tf32.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        torch.zeros(1, device="cuda")
        if options.ceilings:
            result = measure_ceilings()
        else:
            measurement = Measurement(Task(options.task, sizes=options.sizes), options)
            for name, file in files_of(options):
                measurement.add_evolved(name, file)
            measurement.add_baseline(target or target_of(arch()))
            measurement.add_peers(options.peers.split(","))
            if COPY in options.peers.split(","):
                measurement.add_copy()
            measurement.time()
            result = measurement.result()
    except Exception as wrong:  # the reason goes into the table
        write_json(options.out, {"failed": first_line(wrong)})
        sys.exit(f"measure_task: {first_line(wrong)}")
    write_json(options.out, result)


if __name__ == "__main__":
    main()
