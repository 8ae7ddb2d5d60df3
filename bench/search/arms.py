#!/usr/bin/env python3
"""Compares ways to search: runs `evo run` for each task, arm and seed with equally many evaluations, and says which found the faster kernels.

    bench/search/arms.py --evo bin/evo --out arms --task softmax:naive --task gemm:tiled --seeds 5 --evaluations 400 \\
        --arm "fixed: --operators fixed" --arm "adaptive: --operators adaptive"

An arm is a name and flags of `evo run`; the first one is what the others are compared with. --preset names arms that are asked for often:
operators, populations, surrogate, classes (which has tasks of its own). Every run has a database of its own in OUT and
knows nothing of the others. What is finished there is not run again, and a run that was cut off goes on, or begins anew where --seconds is its
budget: a script that ran into --limit goes on when it is started once more.

With --gpus N runs go side by side, one on each GPU; all arms of one task and seed are on the same GPU, and the cores are divided:

    bench/search/arms.py --evo bin/evo --out classes --preset classes --gpus 4 --seeds 12 --evaluations 400 --limit 9m

The tables are printed, and written to OUT/results.md and OUT/results.json.
Exit status: 0; 1 if a run failed; 3 if runs are left for lack of time.
"""
import argparse
import concurrent.futures
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import threading
import time

import rank_test
import reached
from run_results import Run

UNFINISHED = 3
PRESETS = {
    "operators": [("fixed", ["--operators", "fixed"]), ("adaptive", ["--operators", "adaptive"])],
    "populations": [(kind, ["--population-kind", kind]) for kind in ("elitist", "islands", "map-elites")],
    "surrogate": [("off", ["--surrogate", "off"]), ("on", ["--surrogate", "on"])],
    "classes": [("off", ["--operators-by-class", "off"]), ("on", ["--operators-by-class", "on"])],
}
# Naive kernels that different things hold back; on the way to fast ones they pass through most classes.
PRESET_TASKS = {"classes": [task + ":naive" for task in ("softmax", "layer_norm", "transpose", "gemm", "conv2d_3x3_fp16", "stencil_5_point")]}
# One core gives the run worker its work, one is for the system.
SPARE_CORES = 2


def parse_arm(text):
    name, colon, flags = text.partition(":")
    if not colon or not name.strip() or "/" in name:
        raise argparse.ArgumentTypeError(f"{text!r}: give NAME: FLAGS")
    return name.strip(), shlex.split(flags)


def seconds(text):
    units = {"s": 1, "m": 60, "h": 3600}
    number, factor = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        return float(number) * factor
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give seconds, or a number with s, m or h") from None


def whole_seconds(text):
    value = seconds(text)
    if value < 1 or value != int(value):
        raise argparse.ArgumentTypeError(f"{text!r}: give whole seconds, or a number with s, m or h")
    return int(value)


def devices_of(options):
    """The devices on which runs go side by side; None: one run at a time on --device."""
    if options.gpus and not options.devices:
        return [f"cuda:{gpu}" for gpu in range(options.gpus)]
    return options.devices


def options_of(description, **defaults):
    """The options that all scripts of this folder share; `defaults` are theirs."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evo", default="evo", help="the program")
    parser.add_argument("--out", required="out" not in defaults, help="folder of the databases")
    parser.add_argument("--task", action="append", metavar="TASK[:TEMPLATE,..]", help="may be given more than once")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each arm, with the seeds 1, 2, ..")
    parser.add_argument("--evaluations", type=int, default=400, help="of each run")
    parser.add_argument("--seconds", type=whole_seconds, metavar="15", help="budget of each run in place of --evaluations")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--gpus", type=int, metavar="N", help="runs of different seeds side by side on cuda:0 to cuda:N-1; the cores are divided")
    parser.add_argument("--devices", type=lambda text: text.split(","), metavar="D,D", help="the same with these devices, such as cuda:2,cuda:3 or cpu,cpu")
    parser.add_argument("--replay", metavar="DB", help="answer from this database instead of a device")
    parser.add_argument("--flags", default="", help="of evo run, for every arm")
    parser.add_argument("--limit", type=seconds, default=math.inf, metavar="9m", help="start no run that would not be done by then")
    parser.add_argument("--run-limit", type=seconds, default=600, metavar="2m", help="a run that takes longer has failed")
    parser.add_argument("--interleaved", choices=("median", "all", "none"), default="none",
                        help="time the champions of two arms interleaved in one process: those of the runs in the middle, of all, of none")
    parser.set_defaults(**defaults)
    return parser


class Bench:
    """Runs, results and where they are kept. `arms_of(task)` gives (name, flags) in order."""

    def __init__(self, options, arms_of):
        self.options, self.arms_of = options, arms_of
        self.devices = devices_of(options)
        self.start, self.longest, self.left, self.failed = time.monotonic(), 0.0, 0, 0
        self.lock = threading.Lock()  # of those three counts, and of lines on stderr

    def file(self, task, arm, seed):
        return os.path.join(self.options.out, task.replace(":", "-").replace(",", "+"), arm, f"{seed}.db")

    def seeds(self, flags):
        # A sweep is the same with every seed.
        return range(1, 2 if "--sweep" in flags else self.options.seeds + 1)

    def place(self, task, seed):
        """The number of its device; the next task begins at the next one, so that a few seeds are spread over all."""
        return (seed - 1 + self.options.task.index(task)) % len(self.devices or [None])

    def where(self, task, flags, seed):
        """Flags for the place of a run: arms of one task and seed share it."""
        if not self.devices:
            return [] if self.options.replay else ["--device", self.options.device]
        device = [] if self.options.replay else ["--device", self.devices[self.place(task, seed)]]
        if self.options.replay or any(flag.partition("=")[0] == "--compile-workers" for flag in flags):
            return device
        return [*device, "--compile-workers", str(max(1, len(os.sched_getaffinity(0)) // len(self.devices) - SPARE_CORES))]

    def command(self, task, flags, seed):
        name, _, templates = task.partition(":")
        flags = [*shlex.split(self.options.flags), *flags]
        command = ["run", "--task", name, *(["--template", templates] if templates else []), "--seed", str(seed), "--no-reuse", *flags]
        command += [*(["--replay", self.options.replay] if self.options.replay else []), *self.where(task, flags, seed)]
        if "--sweep" in flags:
            return command
        if self.options.seconds:
            return [*command, "--time-limit", f"{self.options.seconds}s"]
        return [*command, "--evaluations", str(self.options.evaluations)]

    def fits(self):
        return time.monotonic() - self.start + 1.3 * self.longest < self.options.limit

    def timed(self, command, limit):
        begun = time.monotonic()
        try:
            done = subprocess.run([self.options.evo, *command], capture_output=True, text=True, timeout=limit)
            return done.returncode, done.stdout, done.stderr, time.monotonic() - begun
        except subprocess.TimeoutExpired:
            return 124, "", f"not done after {limit:.0f} s", limit

    def begin(self, file, command, note):
        """The command that makes the run of `file`. One that was cut off goes on; in a time budget it has lost its clock and begins anew."""
        if os.path.exists(note) and not self.options.seconds and Run(file).status in ("running", "interrupted"):
            return ["run", "--resume", *not_stored(command)]
        for rest in (file, file + "-wal", file + "-shm"):
            if os.path.exists(rest):
                os.remove(rest)
        with open(note, "w") as text:
            json.dump(command, text)
        return command

    def run(self, task, arm, flags, seed):
        file = self.file(task, arm, seed)
        command = self.command(task, flags, seed)
        note = note_of(file)
        if os.path.exists(note) and Run(file).status == "finished":
            return
        if not self.fits():
            with self.lock:
                self.left += 1
            return
        os.makedirs(os.path.dirname(file), exist_ok=True)
        status, _, errors, took = self.timed([*self.begin(file, command, note), "--db", file], self.options.run_limit)
        result = Run(file)
        failed = status != 0 or result.status != "finished"
        if failed:
            said = f"failed: {errors.strip().splitlines()[-1] if errors.strip() else status}"
        else:
            said = f"{len(result.scores())} evaluations, best {result.best_after(10**9):.3f} us, {took:.1f} s"
        with self.lock:
            self.longest = max(self.longest, took)
            self.failed += failed
            print(f"{task} {arm} seed {seed}: {said}", file=sys.stderr, flush=True)

    def runs_of(self, place):
        """(task, arm, flags, seed) of all that belongs to the device of that place, in order: arms of one task and seed go to one device."""
        side_by_side = len(self.devices or [None])
        for seed in range(1, self.options.seeds + 1):
            for index, task in enumerate(self.options.task):
                if self.place(task, seed) != place:
                    continue
                arms = self.arms_of(task)
                # Each arm goes first as often as the others: a machine that grows warm must not favour one.
                turn = place + (seed - 1) // side_by_side
                for rank in range(len(arms)):
                    name, flags = arms[(rank + turn) % len(arms)]
                    if seed in self.seeds(flags):
                        yield task, name, flags, seed

    def check(self, task, arm, flags, seed):
        file, command = self.file(task, arm, seed), self.command(task, flags, seed)
        if not os.path.exists(note_of(file)):
            return
        with open(note_of(file)) as text:
            if json.load(text) != command:
                sys.exit(f"{file}: made by another command than `evo {shlex.join(command)}`; name another --out")

    def run_all(self):
        places = range(len(self.devices or [None]))
        for place in places:
            for run in self.runs_of(place):
                self.check(*run)
        # A thread waits for the process that it starts. What one of them raises is raised here.
        with concurrent.futures.ThreadPoolExecutor(len(places)) as pool:
            for done in [pool.submit(lambda place: [self.run(*run) for run in self.runs_of(place)], place) for place in places]:
                done.result()

    def results(self, task, arm, flags):
        runs = [Run(self.file(task, arm, seed)) for seed in self.seeds(flags)]
        return [run for run in runs if run.status == "finished"]

    def ratio_interleaved(self, ours, theirs):
        """How many times as fast the champion of `ours` is; nan if that was not found out."""
        note = f"{ours.file[:-3]}_against_{os.path.relpath(theirs.file[:-3], self.options.out).replace(os.sep, '_')}.json"
        if not os.path.exists(note):
            if not self.fits():
                self.left += 1
                return math.nan
            status, found, errors, took = self.timed(["verify", "--db", ours.file, "--against", theirs.file, "--json"], self.options.run_limit)
            self.longest = max(self.longest, took)
            if status != 0:
                print(f"{ours.file} against {theirs.file}: {errors.strip() or found.strip()}", file=sys.stderr, flush=True)
                return math.nan
            with open(note, "w") as text:
                text.write(found)
        with open(note) as text:
            return json.load(text)["check"]["speedup"]

    def interleaved(self, ours, theirs):
        """The ratios of the pairs that were asked for."""
        if self.options.interleaved == "none" or self.options.replay or not ours or not theirs:
            return []
        if self.options.interleaved == "all":
            pairs = [(run, theirs[i % len(theirs)]) for i, run in enumerate(ours)]
        else:
            pairs = [(in_the_middle(ours), in_the_middle(theirs))]
        return [ratio for ratio in (self.ratio_interleaved(*pair) for pair in pairs) if not math.isnan(ratio)]


def not_stored(command):
    """The flags that a database does not keep for a run that goes on."""
    kept = [flag for flag in command if flag in ("--no-check", "--no-tools") or flag.startswith("--compile-workers=")]
    return kept + (command[command.index("--compile-workers"):][:2] if "--compile-workers" in command else [])


def note_of(file):
    """Where the command that made a database is kept."""
    return file[:-3] + ".json"


def in_the_middle(runs):
    return sorted(runs, key=lambda run: run.best_after(10**9))[(len(runs) - 1) // 2]


def median(values):
    values = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.median(values) if values else math.nan


def number(value, digits=3):
    return "-" if math.isnan(value) else f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:.0f}"


def comparison(bench, task):
    """Rows of one task, each a list of cells, and for each arm but the first its p-value."""
    arms = bench.arms_of(task)
    found = [(name, bench.results(task, name, flags)) for name, flags in arms]
    reference = found[0][1]
    rows = []
    for name, runs in found:
        bests = [run.best_after(10**9) for run in runs]
        cells = [task, name, str(len(runs)), number(median([len(run.scores()) for run in runs]), 6), number(median([run.best_after(len(run.scores()) // 2) for run in runs]), 4),
                 f"{number(median(bests), 4)} ({number(min(bests, default=math.nan), 4)} to {number(max(bests, default=math.nan), 4)})",
                 number(median([run.speedup() for run in runs]), 4), number(median([run.edits() for run in runs]), 2)]
        p = math.nan
        if runs is not reference and runs and reference:
            others = [run.best_after(10**9) for run in reference]
            p = rank_test.p_value(others, bests) if len(runs) > 1 and len(others) > 1 else math.nan
            turns = bench.interleaved(runs, reference)
            cells += [number(median(others) / median(bests)), number(median(turns)), number(rank_test.win_probability(others, bests), 2)]
        else:
            cells += ["", "", ""]
        rows.append((cells, p))
    return rows


def table(bench):
    """What the searches ended with, as lines of Markdown."""
    rows = [row for task in bench.options.task for row in comparison(bench, task)]
    tested = [i for i, (_, p) in enumerate(rows) if not math.isnan(p)]
    adjusted = dict(zip(tested, rank_test.holm([rows[i][1] for i in tested])))
    first = bench.arms_of(bench.options.task[0])[0][0]
    yield (f"Best: lowest score of the search. Against the baseline: interleaved, in the champion's check. Ratios are times as fast as {first}: of the medians, and of "
           f"champions timed interleaved. p: Mann-Whitney U, two-sided, on the best of each run; Holm: adjusted for {len(tested)} tests.")
    yield ""
    head = ["task", "arm", "runs", "evaluations", "best after half, us", "best, us: median (range)", "interleaved with the baseline", "edits", "ratio", "interleaved",
            "P(faster)", "p", "Holm"]
    yield "| " + " | ".join(head) + " |"
    yield "| --- " * len(head) + "|"
    for i, (cells, p) in enumerate(rows):
        yield "| " + " | ".join([*cells, number(p, 2) if i in adjusted else "", number(adjusted[i], 2) if i in adjusted else ""]) + " |"


def report(bench):
    """Prints what was found, and keeps it in OUT as Markdown and JSON."""
    found = {task: [(name, flags, bench.results(task, name, flags)) for name, flags in bench.arms_of(task)] for task in bench.options.task}
    entries = []
    for task, arms in found.items():
        entries += reached.measures_of(task, [(name, [run.scores() for run in runs]) for name, _, runs in arms])
    reached.add_holm(entries)
    text = "\n".join([*table(bench), "", *reached.lines_of(entries)]) + "\n"
    sys.stdout.write(text)
    runs = [{"task": task, "arm": name, "flags": flags, "file": os.path.relpath(run.file, bench.options.out), "evaluations": len(run.scores()),
             "best_us": run.best_after(10**9), "speedup": run.speedup()} for task, arms in found.items() for name, flags, of in arms for run in of]
    os.makedirs(bench.options.out, exist_ok=True)
    with open(os.path.join(bench.options.out, "results.md"), "w") as file:
        file.write(text)
    with open(os.path.join(bench.options.out, "results.json"), "w") as file:
        json.dump(reached.without_nan({"runs": runs, "share": reached.SHARE, "reached": entries, "left": bench.left, "failed": bench.failed}), file, indent=1)


def compare(options, arms_of):
    """Runs everything, prints the tables last; the exit status."""
    bench = Bench(options, arms_of)
    bench.run_all()
    report(bench)
    if bench.left:
        print(f"{bench.left} runs are left; start it again with the same --out", file=sys.stderr)
        return UNFINISHED
    return 1 if bench.failed else 0


def main():
    parser = options_of(__doc__)
    parser.add_argument("--arm", action="append", type=parse_arm, default=[], metavar="'NAME: FLAGS'", help="two at least")
    parser.add_argument("--preset", choices=PRESETS, help="these arms, before those of --arm")
    options = parser.parse_args()
    arms = PRESETS.get(options.preset, []) + options.arm
    options.task = options.task or PRESET_TASKS.get(options.preset)
    if not options.task or len(arms) < 2:
        parser.error("give --task, and --preset or --arm twice at least")
    return compare(options, lambda task: arms)


if __name__ == "__main__":
    sys.exit(main())
