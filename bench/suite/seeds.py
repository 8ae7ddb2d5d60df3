#!/usr/bin/env python3
"""How far evolution comes from a student's kernel, seed by seed, beside the library that people would use instead.

usage: bench/suite/seeds.py OUT [--evo PATH] [--rows A,B] [--seeds 5] [--budget 30s] [--device cuda|cuda:0,1|cpu]
                            [--stop-after 9m] [--no-verify]

For each row of ROWS and each seed: a search from the student's template alone, its champion checked and exported. Then one process
times the kernels of all seeds, the student's and the peers alternately, by CUPTI, on the same inputs, and evo verify, with all
tools, judges the seed in the middle. The searches are spread over the GPUs. OUT gets a JSON file and a folder for each row, with
databases and exported kernels, and results.md, which is also printed. A call that is repeated does what is missing.
A row that memory bounds has a copy of as many bytes as its peer; in brackets is the share of the rate at which 1 GiB is copied.
--budget: of each search, in the place of the row's own; --rows: some rows; --stop-after: nothing is begun later.
--no-verify: only the searches' own checks judge, without tools.
--device cpu: a dry run without a GPU, in which nothing is measured beside evo.
Exit status: 0; 1 if a row failed or is not finished; 2 for a wrong call; 130 if interrupted."""
import argparse
import json
import math
import os
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from evolution import Evolution, Failed, Processes, Settings, Stopped
from measuring import Measuring
from results import BASELINE, time_of, write_json
from run import CPU_BUDGET, TIMED_SECONDS, digest, fail, gpus, program, say, seconds_of, task_folders, until_interrupted
from tasks import Task

COPY = "copy"  # in the place of a peer: a kernel that copies as many bytes as the task moves
WITHOUT_TENSOR_CORES = ("--without-mutators", "split_tensor_contraction,split_k_split_tensor")


@dataclass(frozen=True)
class Row:
    """A kernel, the share of its peer that is aimed at, and the seconds of each search."""

    name: str
    task: str
    bar: float
    budget: float
    against: str = ""  # COPY, or the fastest right peer
    sizes: dict = field(default_factory=dict)
    flags: tuple = ()


LONG_ATTENTION = {"B": 16, "H": 16, "S": 1024, "D": 64}
# Those that take longest come first, so that no GPU is left with one of them in the end.
ROWS = (
    Row("attention_16_16_1024_64", "attention", 0.35, 60, sizes=LONG_ATTENTION),
    Row("gemm_fp16_4096", "gemm_fp16", 0.5, 25),
    Row("linear_gelu_bf16", "linear_gelu_bf16", 0.6, 25),
    Row("attention_1_8_512_64", "attention", 0.35, 25),
    Row("stencil_27_point", "stencil_27_point", 0.85, 25, COPY),
    Row("gemm_2048_fp32_arithmetic", "gemm", 0.8, 20, flags=WITHOUT_TENSOR_CORES),
    Row("gemm_2048", "gemm", 1.1, 30),
    Row("linear_gelu", "linear_gelu", 0.6, 20),
    Row("conv2d_3x3_fp16", "conv2d_3x3_fp16", 0.4, 15),
    Row("vector_sum", "vector_sum", 0.85, 10, COPY),
    Row("prefix_sum", "prefix_sum", 0.6, 10),
    Row("histogram", "histogram", 0.6, 10),
    Row("stencil_5_point", "stencil_5_point", 0.85, 10, COPY),
)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--evo", help="the program (default: $EVO, else evo of the PATH)")
    parser.add_argument("--templates", type=Path, help="folder of tasks (default: that of the program, else this repository's)")
    parser.add_argument("--rows", help=f"some of {','.join(row.name for row in ROWS)}")
    parser.add_argument("--seeds", type=int, default=5, help="searches of each row, with the seeds 1, 2, ..")
    parser.add_argument("--budget", type=seconds_of)
    parser.add_argument("--device", default="cuda", help="cuda (all GPUs), cuda:N,M or cpu")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch (default: this one)")
    parser.add_argument("--stop-after", type=seconds_of, default=math.inf, metavar="TIME")
    parser.add_argument("--no-verify", action="store_true")
    options = parser.parse_args()
    known = {row.name: row for row in ROWS}
    names = options.rows.split(",") if options.rows else list(known)
    if set(names) - set(known):
        parser.error(f"--rows: no row {min(set(names) - set(known))}; there are {', '.join(known)}")
    if options.seeds < 1:
        parser.error("--seeds: one at least")
    options.rows = [known[name] for name in names]
    options.tasks = ",".join(dict.fromkeys(row.task for row in options.rows))
    return options


def size_flags(row):
    return ("--shape", ",".join(f"{name}={value}" for name, value in row.sizes.items())) if row.sizes else ()


class Work:
    """One row: its searches, then what measures them. The fields are guarded by the lock of Seeds."""

    def __init__(self, row, task, file, settings, seeds):
        self.row, self.task, self.file, self.folder = row, task, file, file.with_suffix("")
        self.folder.mkdir(exist_ok=True)
        self.record = self.stored(settings) or {"row": row.name, "task": task.name, "settings": settings, "seeds": {}}
        self.waiting = [seed for seed in seeds if not self.done(seed)]
        self.open = len(self.waiting)

    def stored(self, settings):
        try:
            record = json.loads(self.file.read_text())
            return record if record["settings"] == settings else None
        except (OSError, ValueError, KeyError):
            return None

    def done(self, seed):
        part = self.record["seeds"].get(str(seed))
        return bool(part) and not part.get("failed")

    def store(self):
        write_json(self.file, self.record)

    def kernels(self):
        """{name: file} of what was found."""
        found = ((seed, part) for seed, part in self.record["seeds"].items() if not part.get("failed"))
        return {f"seed {seed}": self.folder / part["file"] for seed, part in found}

    def middle(self):
        """The seed whose kernel is in the middle by its time; the first one where nothing was measured. None if there is none."""
        seeds = [seed for seed, part in self.record["seeds"].items() if not part.get("failed")]
        times = {seed: time_of(self.record, f"seed {seed}") for seed in seeds}
        right = sorted((time, seed) for seed, time in times.items() if time is not None)
        return right[(len(right) - 1) // 2][1] if right else seeds[0] if seeds and not self.record.get("kernels") else None


class Seeds:
    """All rows on all GPUs, a thread for each GPU. A row that has all its searches is measured before another search begins."""

    def __init__(self, options, evo, devices, folders):
        self.options, self.evo, self.devices, self.processes = options, evo, devices, Processes()
        reason = "" if options.device == "cpu" else self.measuring(options.out).unusable()
        self.measures = options.device != "cpu" and not reason
        if reason:
            say(f"nothing is measured beside evo: {options.python}: {reason}")
        self.changed, self.began = threading.Condition(), time.monotonic()
        self.works = []
        for row in options.rows:
            folder = folders[row.task]
            task = Task(folder, sizes=row.sizes)
            settings = {
                "budget": self.budget(row),
                "gpu": devices[0].name,
                "evo": digest(evo),
                "task": digest(*sorted(f for f in folder.iterdir() if f.is_file())),
                "flags": list(row.flags),
                "sizes": row.sizes,
            }
            self.works.append(Work(row, task, options.out / f"{row.name}.json", settings, range(1, options.seeds + 1)))

    def measuring(self, folder):
        options = self.options
        return Measuring(self.processes, options.python, folder, "hot", ["eager", "library", COPY], TIMED_SECONDS, options.out)

    def budget(self, row):
        return self.options.budget or (CPU_BUDGET if self.options.device == "cpu" else row.budget)

    def late(self):
        return time.monotonic() - self.began > self.options.stop_after

    def take(self):
        """(work, seed) to search, (work, None) to measure; None if there is nothing left to begin. Waits for searches that run."""
        with self.changed:
            while not self.late() and not self.processes.stopped:
                for work in self.works:
                    if work.open == 0:
                        work.open = None  # it is being measured, or was
                        if not work.record.get("finished"):
                            return work, None
                for work in self.works:
                    if work.waiting:
                        return work, work.waiting.pop(0)
                if all(work.open is None for work in self.works):
                    return None
                self.changed.wait(1)
        return None

    def evolution(self, work, gpu):
        share = max(1, (os.cpu_count() or 1) // len(self.devices))
        return Evolution(
            self.processes, self.evo, work.task, gpu.device, work.folder, Settings(self.budget(work.row), "hot", share, False)
        )

    def search(self, work, seed, gpu):
        # Minimised is what people read; what is timed here may have edits that do nothing.
        flags = ("--seed", seed, "--no-reuse", "--minimise", "off", *size_flags(work.row), *work.row.flags)
        part = self.evolution(work, gpu).evolve(str(seed), work.task.student, flags)
        with self.changed:
            work.record["seeds"][str(seed)] = part
            work.open -= 1
            work.store()
            self.changed.notify_all()
        outcome = part.get("failed") or f"{part['candidates']} candidates"
        say(f"{gpu.device}: {work.row.name} seed {seed}: {outcome}, {part['evolve_seconds']} s")

    def measure(self, work, gpu):
        work.record.pop("failed", None)
        if self.measures and work.kernels():
            measuring = self.measuring(work.folder)
            process = measuring.start(work.task, gpu, work.kernels())
            work.record.update(measuring.finish(process, work.task, gpu, work.kernels()))
        middle = work.middle()
        if middle and not self.options.no_verify:
            part = work.record["seeds"][middle]
            self.evolution(work, gpu).verify(middle, part, of_search=bool(work.row.sizes))
        failed = [part["failed"] for part in work.record["seeds"].values() if part.get("failed")]
        work.record["finished"] = middle is not None and not failed
        work.store()
        say(f"{gpu.device}: {line_of(work.row, work.record)}")

    def work(self, gpu):
        """A thread: searches and measures until there is nothing left."""
        try:
            while taken := self.take():
                work, seed = taken
                try:
                    self.measure(work, gpu) if seed is None else self.search(work, seed, gpu)
                except Failed as wrong:
                    work.record["failed"] = str(wrong)
                    work.store()
                    say(f"{gpu.device}: {work.row.name}: {wrong}")
        except Stopped:
            pass

    def run(self):
        threads = [threading.Thread(target=self.work, args=(gpu,)) for gpu in self.devices]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)


def peer_of(row, record):
    """(name, us) of what the row is compared with: the fastest right peer, or a copy of as many bytes."""
    if row.against == COPY:
        return COPY, time_of(record, COPY)
    peers = [name for name, kernel in (record.get("kernels") or {}).items() if kernel["kind"] == "peer"]
    times = [(time_of(record, name), name) for name in peers if time_of(record, name) is not None]
    return (min(times)[1], min(times)[0]) if times else ("-", None)


def number(value):
    return "-" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def line_of(row, record):
    """A line of the table."""
    seeds = sorted(record["seeds"], key=int)
    times = [time_of(record, f"seed {seed}") for seed in seeds]
    right = [time for time in times if time is not None]
    middle = statistics.median(right) if right else None
    name, peer = peer_of(row, record)
    share = f"{100 * peer / middle:.0f}%" if peer and middle else "-"
    if row.against == COPY and middle and (rate := (record.get("ceilings") or {}).get("bytes_per_s")):
        share += f" ({100 * record['bytes'] / rate * 1e6 / middle:.0f}%)"
    verdicts = [part["verdict"] for part in record["seeds"].values() if "verdict" in part]
    cells = [
        row.name,
        f"{record['settings']['budget']:g} s",
        number(time_of(record, BASELINE)),
        ", ".join(map(number, times)) or "-",
        number(middle),
        f"{max(right) / middle:.2f}" if right else "-",
        f"{name} {number(peer)}",
        share,
        f"{100 * row.bar:.0f}%",
        record.get("failed") or "; ".join(verdicts) or "-",
    ]
    return "| " + " | ".join(cells) + " |"


def report(options, works):
    head = ("kernel", "search", "student's, us", "seeds, us", "median", "slowest / median", "peer, us", "share", "bar", "middle seed")
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    lines += [line_of(work.row, work.record) for work in works if work.record["seeds"]]
    text = "\n".join(lines) + "\n"
    (options.out / "results.md").write_text(text)
    sys.stdout.write(text)


def main():
    options = arguments()
    evo = program(options)
    options.quick = False  # of task_folders
    folders = task_folders(options, evo)
    options.out.mkdir(parents=True, exist_ok=True)
    seeds = Seeds(options, evo, gpus(options), folders)

    status = until_interrupted(seeds.run, seeds.processes)
    report(options, seeds.works)
    return status or (0 if all(work.record.get("finished") for work in seeds.works) else 1)


if __name__ == "__main__":
    sys.exit(main())
