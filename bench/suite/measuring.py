"""Starts measure_task.py, which times all kernels of a task in one process on one GPU, and starts it again without what breaks
it."""
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from evolution import Failed, last_line
from results import BASELINE, write_json

HERE = Path(__file__).resolve().parent
TIMEOUT = 900
TRIES = 6  # each without one kernel more
HOPELESS = 1  # exit status: no kernel is to blame, another try would not help
BROKEN = 4  # exit status: the GPU cannot be used in that process any more


@dataclass(frozen=True)
class Gpu:
    device: str  # for evo
    visible: str  # CUDA_VISIBLE_DEVICES of the process that measures; empty on the cpu device
    name: str


class Measuring:
    """Files go to `folder`, and what is measured once for each GPU to `shared`."""

    def __init__(self, processes, python, folder, l2, peers, seconds, shared=None):
        self.processes, self.python, self.folder, self.l2, self.peers, self.seconds = (
            processes,
            python,
            Path(folder),
            l2,
            peers,
            seconds,
        )
        self.shared = Path(shared or folder)

    def unusable(self):
        """Why nothing can be measured: the Python has no PyTorch that can use the GPU. Empty if all is well."""
        try:
            status, _, err = self.processes.run(
                [self.python, "-c", "import torch; torch.zeros(1, device='cuda')"], 300, "PyTorch"
            )
            return last_line(err) if status else ""
        except (Failed, OSError) as wrong:
            return str(wrong)

    def start(self, task, gpu, kernels, excluded=()):
        """A process that has what it needs but the GPU; it waits for finish()."""
        command = [
            "--task",
            task.folder,
            "--out",
            self._file(task),
            "--l2",
            self.l2,
            "--peers",
            ",".join(self.peers),
            "--seconds",
            self.seconds,
            "--sizes",
            json.dumps(task.other_sizes),
            "--wait",
        ]
        command += [word for name, file in kernels.items() for word in ("--kernel", f"{name}={file}")]
        return self._start(gpu, command + [word for name in excluded for word in ("--exclude", name)], self._file(task))

    def finish(self, process, task, gpu, kernels):
        """What a started process measures. What leaves the GPU unusable there, or never ends, is left out at the next try. Raises
        Failed."""
        out, excluded, began = self._file(task), {}, time.monotonic()
        for _ in range(TRIES):
            status, reason = self._finish(process, out)
            if status == 0:
                break
            blamed = blamed_in(out)
            if status == HOPELESS or blamed in ("", "timing") or blamed in excluded:
                raise Failed(f"not measured: {reason}")
            excluded[blamed] = reason
            process = self.start(task, gpu, kernels, excluded)
        else:
            raise Failed(f"not measured: {reason}")
        found = {
            **json.loads(out.read_text()),
            "ceilings": self._ceilings(gpu),
            "measure_seconds": round(time.monotonic() - began, 1),
        }
        for name, reason in excluded.items():
            kind = "evo" if name in kernels else "baseline" if name == BASELINE else "peer"
            found["kernels"][name] = {"kind": kind, "times": [], "failed": reason}
        remove(out)
        return found

    def _file(self, task):
        return self.folder / f"{task.name}_times.json"

    def _start(self, gpu, command, out):
        remove(out)
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": gpu.visible, "PYTHONDONTWRITEBYTECODE": "1"}
        # What it says goes to a file, so that nobody has to read while evo verifies.
        with open(f"{out}.log", "w") as log:
            return self.processes.start(
                [self.python, HERE / "measure_task.py", *command],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def _finish(self, process, out):
        """(exit status, what went wrong)."""
        try:
            status, _, _ = self.processes.finish(process, TIMEOUT, "measure_task.py", told="begin\n")
        except Failed as wrong:
            return BROKEN, str(wrong)
        if status == 0 and not out.exists():
            return HOPELESS, "measure_task.py wrote nothing"
        return status, last_line(Path(f"{out}.log").read_text(errors="replace")) if status else ""

    def _ceilings(self, gpu):
        """Measured once for each GPU."""
        file = self.shared / f"ceilings_{gpu.device.replace(':', '')}.json"
        try:
            known = json.loads(file.read_text())
            if known.get("bytes_per_s") and known.get("gpu") == gpu.name:
                return known
        except (OSError, ValueError):
            pass
        status, reason = self._finish(self._start(gpu, ["--ceilings", "--out", file], file), file)
        if status:
            raise Failed(f"no ceilings: {reason}")
        known = {**json.loads(file.read_text()), "gpu": gpu.name}
        remove(file)
        write_json(file, known)
        return known


def blamed_in(out):
    """The name of what was being tried."""
    progress = Path(f"{out}.progress")
    return progress.read_text() if progress.exists() else ""


def remove(out):
    for file in (out, Path(f"{out}.progress"), Path(f"{out}.log")):
        file.unlink(missing_ok=True)
