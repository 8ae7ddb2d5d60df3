#!/usr/bin/env python3
"""The suite of operators: evolves every task and measures the exported kernels beside what people use today, on every GPU of this
machine.

usage: bench/suite/run.py OUT [--evo PATH] [--quick] [--tasks A,B] [--from student|all|both] [--budget 60s]
                          [--device cuda|cuda:0,1|cpu] [--l2 hot|cold] [--peers eager,library,triton,compile,max-autotune]
                          [--stop-after 9m] [--compare OLD] [--report]

For each task: a search from the student's template alone, one from all templates, evo verify of both exported files, and one
process that times them, the baseline, PyTorch eager, torch.compile, vendor libraries and Triton kernels alternately, by CUPTI, on
the same inputs. OUT gets a JSON file for each task, its databases and exported kernels, and of all tasks results.json, .csv, .md
and .svg. A call that is repeated does what is missing.
--quick: 8 tasks, one search of 10 s each, from all templates (with --from both the student's as well, and only the kernel from all
templates is verified), peers are eager and torch.compile.
--from student: the search from the student's template alone; all: the one from all templates.
--device cpu: a dry run without a GPU; evo's kernels are emulated and nothing else is measured.
--stop-after: no task is begun that by the time of the others would end later; --report: only the tables of what OUT has.
--compare: another OUT, or its results.json; the tables then say which times have moved by more than noise.
Exit status: 0; 1 if a task failed or was left out; 2 for a wrong call; 130 if interrupted."""
import argparse
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import tables
from evolution import Evolution, Failed, Processes, Settings, Stopped
from measuring import Gpu, Measuring
from operators import QUICK, NotMapped, check_mapping
from results import FORMAT, PARTS, BadResults, compare, finished, part_of, read_results, unfinished, write_json
from tasks import BadTask, Task, find_tasks

PEERS = ("eager", "library", "triton", "compile", "max-autotune")  # those of measure_task.py
BUDGET, QUICK_BUDGET, CPU_BUDGET = 60.0, 10.0, 10.0  # seconds
TIMED_SECONDS, QUICK_SECONDS = 0.6, 0.3  # of kernels in all rounds of a task
QUICK_PEERS = ("eager", "compile")
SEARCHES = {"student": ("student",), "all": ("all",), "both": PARTS}  # by --from


def seconds_of(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text)
    if not found or not float(found.group(1)):
        raise argparse.ArgumentTypeError(f"`{text}` is no time such as 60s or 10m")
    return float(found.group(1)) * {"": 1, "s": 1, "m": 60, "h": 3600}[found.group(2)]


def say(line):
    print(line, file=sys.stderr, flush=True)


def fail(line):
    say(f"run.py: {line}")
    sys.exit(2)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--evo", help="the program (default: $EVO, else evo of the PATH)")
    parser.add_argument(
        "--templates", type=Path, help="the folder of tasks (default: that of the program, else this repository's)"
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tasks", help="names, separated by commas (default: all)")
    parser.add_argument("--from", dest="searches", choices=SEARCHES, help="what the searches start from (default: both; all with --quick)")
    parser.add_argument(
        "--budget",
        type=seconds_of,
        help="of one search; each task has two (default: 60s; 10s with --quick and on the cpu device)",
    )
    parser.add_argument("--device", default="cuda", help="cuda (all GPUs), cuda:N,M or cpu")
    parser.add_argument("--l2", choices=("hot", "cold"), default="hot")
    parser.add_argument("--peers", help=f"some of {','.join(PEERS)} (default: all)")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch (default: this one)")
    parser.add_argument("--stop-after", type=seconds_of, metavar="TIME")
    parser.add_argument("--compare", type=Path, metavar="OLD")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    options.peers = options.peers.split(",") if options.peers else list(QUICK_PEERS if options.quick else PEERS)
    if set(options.peers) - set(PEERS):
        parser.error(f"--peers: there are {', '.join(PEERS)}")
    if not re.fullmatch(r"cpu|cuda(:\d+(,\d+)*)?", options.device):
        parser.error(f"--device {options.device}: cuda, cuda:N,M or cpu")
    options.searches = options.searches or ("all" if options.quick else "both")
    options.budget = options.budget or (CPU_BUDGET if options.device == "cpu" else QUICK_BUDGET if options.quick else BUDGET)
    return options


def program(options):
    wanted = options.evo or os.environ.get("EVO") or "evo"
    found = shutil.which(wanted)
    if not found:
        fail(f"no program {wanted}; name it by --evo PATH")
    return Path(found).resolve()


def task_folders(options, evo):
    """{name: folder} of the tasks that were asked for. A package of evo has its tasks beside the program."""
    places = (
        [options.templates]
        if options.templates
        else [evo.parent.parent / "share/evo/kernel_templates", HERE.parent.parent / "kernel_templates"]
    )
    found = next((f for f in map(find_tasks, places) if f), None)
    if not found:
        fail(f"no tasks in {' or '.join(map(str, places))}; name their folder by --templates")
    names = options.tasks.split(",") if options.tasks else [n for n in QUICK if n in found] if options.quick else sorted(found)
    missing = [name for name in names if name not in found]
    if missing:
        fail(f"no task {missing[0]}; there are {', '.join(sorted(found))}")
    return {name: found[name] for name in dict.fromkeys(names)}


def gpus(options):
    if options.device == "cpu":
        return [Gpu("cpu", "", "cpu")]
    try:
        said = subprocess.run(
            ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as wrong:
        fail(f"no GPU: nvidia-smi: {wrong}; --device cpu is a dry run without one")
    names = [line.strip() for line in said.splitlines() if line.strip()]
    visible = [
        v.strip()
        for v in os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(str(i) for i in range(len(names)))).split(",")
        if v.strip()
    ]
    numbers = [int(n) for n in options.device.partition(":")[2].split(",") if n] or range(len(visible))
    if not visible or any(n >= len(visible) for n in numbers):
        fail(f"--device {options.device}: there are {len(visible)} GPUs")
    name_of = lambda v: names[int(v)] if v.isdigit() and int(v) < len(names) else names[0]
    return [Gpu(f"cuda:{n}", visible[n], name_of(visible[n])) for n in numbers]


def digest(*files):
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.name.encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()[:16]


class Suite:
    """All tasks on all GPUs, one thread for each GPU; what takes time runs in other processes."""

    def __init__(self, options, evo, devices):
        self.options, self.evo, self.devices, self.processes = options, evo, devices, Processes()
        self.measuring = Measuring(
            self.processes,
            options.python,
            options.out,
            options.l2,
            options.peers,
            QUICK_SECONDS if options.quick else TIMED_SECONDS,
        )
        reason = "" if options.device == "cpu" else self.measuring.unusable()
        self.measures = options.device != "cpu" and not reason
        if reason:
            say(f"nothing is measured beside evo: {options.python}: {reason}")
        self.program_digest = digest(evo)
        self.began, self.durations, self.left_out = time.monotonic(), [], []

    def settings(self, task, gpu):
        """What a finished task must have in common with this call to be left as it is."""
        options = self.options
        return {
            "budget": options.budget,
            "quick": options.quick,
            "from": options.searches,
            "l2": options.l2,
            "peers": options.peers if self.measures else [],
            "gpu": gpu.name,
            "evo": self.program_digest,
            "task": digest(*sorted(f for f in task.folder.iterdir() if f.is_file())),
        }

    def record_file(self, name):
        return self.options.out / f"{name}.json"

    def work(self, gpu, tasks):
        """A thread: takes tasks until there are none."""
        try:
            while True:
                folder = tasks.get_nowait()
                if self.too_late():
                    self.left_out.append(folder.name)
                    say(f"{folder.name}: left out: --stop-after")
                    continue
                began = time.monotonic()
                if self.one_task(gpu, folder):
                    self.durations.append(time.monotonic() - began)
        except (queue.Empty, Stopped):
            pass

    def too_late(self):
        if not self.options.stop_after:
            return False
        mean = sum(self.durations) / len(self.durations) if self.durations else 2 * self.options.budget
        return time.monotonic() - self.began + mean > self.options.stop_after

    def one_task(self, gpu, folder):
        """Does what is missing of a task; false if nothing is. Each part is stored as soon as it is there."""
        file = self.record_file(folder.name)
        record = {"format": FORMAT, "task": folder.name, "device": gpu.name}
        try:
            task = Task(folder)
            settings = self.settings(task, gpu)
            if finished(file, settings):
                say(f"{task.name}: finished before")
                return False
            record = unfinished(file, settings) or {**record, "settings": settings, "summary": task.summary}
            check_mapping(task)
            self.do(task, gpu, record, file)
            record["finished"] = not any(part_of(record, name).get("failed") for name in PARTS)
        except (BadTask, NotMapped, Failed) as wrong:
            record["failed"] = str(wrong)
        except Stopped:
            raise
        except Exception as wrong:  # a fault of this program ends one task, not the suite
            record["failed"] = f"{type(wrong).__name__}: {wrong}"
        write_json(file, record)
        say(f"{gpu.device}: {folder.name}: {tables.line_of(record)}")
        return True

    def do(self, task, gpu, record, file):
        options, templates = self.options, task.templates()
        share = max(1, (os.cpu_count() or 1) // len(self.devices))
        evolution = Evolution(
            self.processes, self.evo, task, gpu.device, options.out, Settings(options.budget, options.l2, share, options.quick)
        )
        searches = SEARCHES[options.searches]
        for name, template in (("student", task.student), ("all", None)):
            if name not in searches:
                continue
            if name == "all" and templates == [task.student] and "student" in searches:
                record["all"] = {"same": True}
            elif not record.get(name) or record[name].get("failed"):
                say(f"{gpu.device}: {task.name}: evolves from {template or ', '.join(templates)}")
                record[name] = evolution.evolve(name, template) | {"from_baseline": template == task.baseline}
                write_json(file, record)
        kernels = {
            f"evo {name}": options.out / record[name]["file"]
            for name in searches
            if "file" in record[name] and not record[name].get("failed")
        }
        # It loads PyTorch while evo verifies, and uses the GPU afterwards.
        waiting = self.measuring.start(task, gpu, kernels) if self.measures else None
        for name in searches:
            part = record[name]
            if (
                "file" in part
                and not part.get("failed")
                and "verified" not in part
                and (name == searches[-1] or not options.quick or record["all"].get("same"))
            ):
                evolution.verify(name, part)
                write_json(file, record)
        if self.measures:
            record.update(self.measuring.finish(waiting, task, gpu, kernels))

    def run(self, folders):
        tasks = queue.Queue()
        for folder in folders:
            tasks.put(folder)
        threads = [threading.Thread(target=self.work, args=(gpu, tasks)) for gpu in self.devices]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)


def records_of(options, names):
    """The records that the folder has, in the order of the names; without names all."""
    files = [options.out / f"{name}.json" for name in names] if names else sorted(options.out.glob("*.json"))
    records = []
    for file in files:
        try:
            record = json.loads(file.read_text())
        except (OSError, ValueError):
            continue
        if isinstance(record, dict) and record.get("format") == FORMAT and "task" in record:
            records.append(record)
    return records


def report(options, records, seconds=None):
    """Writes and prints the tables."""
    moved = compare(read_results(options.compare), records) if options.compare else None
    text = tables.markdown(records, compared=moved, seconds=seconds)
    write_json(options.out / "results.json", {"format": FORMAT, "tasks": records})
    (options.out / "results.csv").write_text(tables.table_csv(records))
    (options.out / "results.md").write_text(text)
    picture = tables.draw(records, options.out / "results.svg")
    print(text)
    if picture:
        say(picture)


def until_interrupted(work, processes):
    """The exit status of what is done until Ctrl-C or SIGTERM, which ends its programs: 0 or 130."""

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    try:
        work()
        return 0
    except KeyboardInterrupt:
        say("interrupted; the same call goes on with it")
        processes.stop()
        return 130


def main():
    options = arguments()
    try:
        if options.compare:
            read_results(options.compare)
        if options.report:
            records = records_of(options, options.tasks and options.tasks.split(","))
            if not records:
                fail(f"{options.out}: no results in it")
            report(options, records)
            return 0
        evo = program(options)
        folders = task_folders(options, evo)
        options.out.mkdir(parents=True, exist_ok=True)
        suite = Suite(options, evo, gpus(options))
    except (BadResults, OSError) as wrong:
        fail(str(wrong))

    status = until_interrupted(lambda: suite.run(folders.values()), suite.processes)
    records = records_of(options, list(folders))
    report(options, records, time.monotonic() - suite.began)
    whole = len(records) == len(folders) and all(r.get("finished") and not r.get("failed") for r in records)
    return status or (0 if whole and not suite.left_out else 1)


if __name__ == "__main__":
    sys.exit(main())
