"""What evo does for one task: evolve, export, verify. Needs nothing but Python and the program evo."""
import json
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tasks import Task

RUN_BEYOND_BUDGET = 900  # seconds for workers to start, the last generation, the champion's check, minimisation
VERIFY_TIMEOUT = 900
# Seconds at least, of which searched inputs and unlisted sizes get half; with --quick; where nothing is measured, on the cpu device.
VERIFY_SEARCH, QUICK_SEARCH, DRY_VERIFY_SEARCH = 30, 12, 3
END_TIMEOUT = 15  # from SIGTERM to SIGKILL; evo ends within two seconds


class Stopped(Exception):
    """The user has interrupted the suite."""


class Failed(Exception):
    """A program ended with an error, or never."""


class Processes:
    """Starts programs and ends those that run when the suite is interrupted. Safe to use from several threads."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def start(self, command, **options):
        with self.lock:
            if self.stopped:
                raise Stopped
            # A group of its own: a Ctrl-C of the terminal reaches it through stop() alone.
            process = subprocess.Popen([str(word) for word in command], text=True, start_new_session=True, **options)
            self.running.add(process)
        return process

    def finish(self, process, timeout, what, told=None):
        """(exit status, stdout, stderr) of a process. Raises Failed if it does not end in time, Stopped if the suite was
        interrupted."""
        try:
            out, err = process.communicate(told, timeout=timeout)
        except subprocess.TimeoutExpired:
            end(process)
            process.communicate()
            raise Failed(f"{what}: no end within {timeout:.0f} s") from None
        finally:
            with self.lock:
                self.running.discard(process)
        if self.stopped:
            raise Stopped
        return process.returncode, out or "", err or ""

    def run(self, command, timeout, what):
        process = self.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return self.finish(process, timeout, what)

    def stop(self):
        with self.lock:
            self.stopped = True
            processes = list(self.running)
        for process in processes:
            process.terminate()
        for process in processes:
            end(process)


def end(process):
    """Ends a process that this program started."""
    process.terminate()
    try:
        process.wait(END_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


@dataclass(frozen=True)
class Settings:
    """How each task is evolved and checked."""

    budget: float  # seconds of each search
    l2: str
    compile_workers: int
    quick: bool  # the searches do not check their champions; only the kernel from all templates is verified


class Evolution:
    """One task on one device; its databases and exported files go to a folder."""

    def __init__(self, processes, evo, task: Task, device, folder, settings):
        self.processes, self.evo, self.task, self.device, self.settings = processes, evo, task, device, settings
        self.folder = Path(folder)

    def file(self, name, ending):
        return self.folder / f"{self.task.name}_{name}.{ending}"

    def evolve(self, name, template=None, flags=()):
        """Evolves, with further flags of evo run, and exports the best kernel. Returns what is known of it; `failed` says why there
        is none."""
        settings, db, export = self.settings, self.file(name, "db"), self.file(name, "cu")
        part = {"template": template or "all", "file": export.name}
        began = time.monotonic()
        for old in [export, *self.folder.glob(db.name + "*")]:  # what an interrupted search left, with SQLite's own files
            old.unlink(missing_ok=True)
        command = [
            self.evo,
            "run",
            "--task",
            self.task.folder,
            "--device",
            self.device,
            "--l2",
            settings.l2,
            "--time-limit",
            f"{settings.budget:g}s",
            "--compile-workers",
            settings.compile_workers,
            "--db",
            db,
            "--json",
        ]
        command += ["--template", template] if template else []
        command += flags
        # The champion is checked in the search, so that another takes its place if it fails. compute-sanitizer is left to evo
        # verify.
        command += ["--no-check", "--minimise", "off"] if settings.quick else ["--no-tools"]
        try:
            status, out, err = self.processes.run(command, settings.budget + RUN_BEYOND_BUDGET, "evo run")
            if status:
                raise Failed(f"evo run: exit status {status}: {last_line(err)}")
            part.update(search_of(json.loads(out)))
            status, _, err = self.processes.run([self.evo, "best", "--db", db, "--export", export], VERIFY_TIMEOUT, "evo best")
            if status:
                raise Failed(f"evo best: exit status {status}: {last_line(err)}")
        except (Failed, ValueError, KeyError, OSError) as wrong:
            part["failed"] = str(wrong)
        part["evolve_seconds"] = round(time.monotonic() - began, 1)
        return part

    def verify(self, name, part, of_search=False):
        """Puts the exported file through evo verify, and notes the verdict and the time beside the baseline's. `of_search`: the best
        candidate of the search instead, at the sizes of the search."""
        began = time.monotonic()
        measured = QUICK_SEARCH if self.settings.quick else VERIFY_SEARCH
        search = DRY_VERIFY_SEARCH if self.device == "cpu" else measured
        exported = ["--task", self.task.folder, "--kernel", self.file(name, "cu"), "--device", self.device, "--l2", self.settings.l2]
        what = ["--db", self.file(name, "db")] if of_search else exported
        command = [self.evo, "verify", *what, "--time-limit", f"{max(search, self.settings.budget):g}s", "--json"]
        try:
            status, out, err = self.processes.run(command, VERIFY_TIMEOUT, "evo verify")
            if status not in (0, 3):
                raise Failed(f"evo verify: exit status {status}: {last_line(err)}")
            part.update(verdict_of(json.loads(out), status == 0))
        except (Failed, ValueError, KeyError, OSError) as wrong:
            part.update(verified=False, verdict=str(wrong))
        part["verify_seconds"] = round(time.monotonic() - began, 1)


def search_of(said):
    """Of the JSON of `evo run`: how many candidates there were, and what became of the champion."""
    run, best = said["run"], said.get("best") or {}
    return {
        "candidates": run["evaluated"],
        "valid": run["valid"],
        "tool_version": run["tool_version"],
        "device_name": run["device_name"],
        "candidate": best.get("id"),
        "from_template": best.get("template"),
    }


def verdict_of(said, passed):
    """Of the JSON of `evo verify`, which is that of a candidate itself where one of a database was verified."""
    reason = "" if passed else said.get("reason")
    found = {"verified": passed, "verdict": f"{said['verdict']}: {reason}" if reason else said["verdict"]}
    check = (said if "check" in said else said.get("candidate") or {}).get("check") or {}
    if check.get("candidate_ns") and check.get("baseline_ns"):
        found.update(
            evo_us=check["candidate_ns"] / 1000, evo_baseline_us=check["baseline_ns"] / 1000, evo_speed_up=check["speedup"]
        )
    return found
