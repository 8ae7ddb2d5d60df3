"""What is computed from the measurements of a task: scores, sums over all tasks, what moved since an earlier run. Needs nothing
but Python.

A task's JSON has `settings`, `student` and `all` (what evo did), `kernels` (name: {kind, times, error, right, note}), `ceilings`,
or `failed`."""
import json
import math
import os
import statistics
import tempfile
from pathlib import Path

FORMAT = 1
PARTS = ("student", "all")  # the searches of a task
EVOLVED = ("evo student", "evo all")  # what their kernels are called
BASELINE = "baseline"
EAGER, COMPILE, MAX_AUTOTUNE = "eager", "torch.compile", "max-autotune"
MEMORY_SHARE = 0.85  # a memory-bound task above this share of the copy kernel's bandwidth counts as done
LEAST_NOISE = 0.02  # clocks and allocations differ from process to process by about as much


def median(values):
    return statistics.median(values) if values else None


def spread(times):
    """Half of what lies between the 10th and the 90th percentile, over the median."""
    if len(times) < 3:
        return 0.0
    ordered = sorted(times)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return (at(0.9) - at(0.1)) / 2 / statistics.median(ordered)


def geometric_mean(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def speed_of_light_us(record):
    """The least time that the ceilings of the run allow, in us, and what it comes from: memory or arithmetic."""
    ceilings = record.get("ceilings") or {}
    bandwidth, arithmetic = ceilings.get("bytes_per_s"), ceilings.get("operations_per_s", {}).get(record.get("arithmetic"))
    memory = record["bytes"] / bandwidth * 1e6 if bandwidth else None
    compute = record["operations"] / arithmetic * 1e6 if arithmetic else None
    if memory is None and compute is None:
        return None, None
    if compute is None or (memory is not None and memory >= compute):
        return memory, "memory"
    return compute, "arithmetic"


def score(time, light, peer):
    """1 / (1 + (T - T_sol) / (T_peer - T_sol)): 1 at the speed of light, 1/2 at the peer's time. None where the peer is at the
    ceiling itself."""
    if None in (time, light, peer) or peer <= light:
        return None
    return 1 / (1 + max(0.0, time - light) / (peer - light))


def time_of(record, name):
    """Median in us of a kernel that ran and is right."""
    kernel = (record.get("kernels") or {}).get(name)
    return median(kernel["times"]) if kernel and kernel.get("right") and kernel.get("times") else None


def part_of(record, name):
    """What is known of one search of a task."""
    return record.get(name) or {}


def evolved(record):
    """The faster one of evo's kernels: (name, us). One that was verified goes before one that was not, and one that failed does
    not count."""
    times = []
    for part, name in zip(PARTS, EVOLVED):
        time, verified = time_of(record, name), part_of(record, part).get("verified")
        if time is not None and verified is not False:
            times.append((verified is None, time, name))
    return (min(times)[2], min(times)[1]) if times else (None, None)


def own_times(record):
    """What evo verify itself timed, of the faster kernel that it verified: (us, us of the baseline, speed-up)."""
    found = [part for part in map(lambda name: part_of(record, name), PARTS) if part.get("verified") and part.get("evo_us")]
    best = min(found, key=lambda part: part["evo_us"], default={})
    return best.get("evo_us"), best.get("evo_baseline_us"), best.get("evo_speed_up")


def peers(record):
    """Medians of what is compared with, right ones only, by name."""
    names = [name for name, kernel in (record.get("kernels") or {}).items() if kernel.get("kind") == "peer"]
    return {name: time_of(record, name) for name in names if time_of(record, name) is not None}


def row_of(record):
    """What the tables show of one task. Times in us; None for what is not known."""
    name, time = evolved(record)
    light, bound_by = speed_of_light_us(record) if "bytes" in record else (None, None)
    others = peers(record)
    best_peer = min(others, key=others.get) if others else None
    over = lambda peer: peer / time if peer and time else None
    baseline = time_of(record, BASELINE)
    student = time_of(record, EVOLVED[0]) if part_of(record, "student").get("verified") is not False else None
    # A student's template may take seconds where the baseline does not; its own time is not measured.
    from_baseline = part_of(record, "student").get("from_baseline", True)
    own = own_times(record)
    return {
        "task": record["task"],
        "case": record.get("case"),
        "kernel": name,
        "us": time,
        "noise": spread(record["kernels"][name]["times"]) if name else None,
        "student_us": student,
        "baseline_us": baseline,
        "student_speed_up": baseline / student if baseline and student and from_baseline else None,
        "peers_us": others,
        "speed_ups": {peer: over(value) for peer, value in others.items()},
        "best_peer": best_peer,
        "over_best_peer": over(others[best_peer]) if best_peer else None,
        "light_us": light,
        "bound_by": bound_by,
        "share_of_ceiling": light / time if light and time else None,
        "score": score(time, light, others[best_peer]) if best_peer else None,
        "score_over_compile": score(time, light, others.get(COMPILE)),
        "wins": None if not time or not best_peer else ("evo" if time <= others[best_peer] else best_peer),
        "verified": {name: part_of(record, name).get("verified") for name in PARTS},
        "own_us": own[0],
        "own_baseline_us": own[1],
        "own_speed_up": own[2],
        "failed": record.get("failed"),
        "notes": notes_of(record),
    }


def notes_of(record):
    """One line each for what went wrong or was left out."""
    said = []
    for key in PARTS:
        part = part_of(record, key)
        said += [f"{key}: {part['failed']}"] if part.get("failed") else []
        said += [f"{key}: not verified: {part['verdict']}"] if part.get("verified") is False else []
    for name, kernel in (record.get("kernels") or {}).items():
        if kernel.get("failed"):
            said.append(f"{name}: {kernel['failed']}")
        elif kernel.get("right") is False:
            said.append(f"{name}: answer off by {error_text(kernel)}; not compared")
    return said + ([record["failed"]] if record.get("failed") else [])


def error_text(kernel):
    error, bound = kernel.get("error"), kernel.get("bound")
    return "an unknown error" if error is None else f"{error:.1e} (allowed {bound:.1e})" if bound is not None else f"{error:.1e}"


def summary_of(rows):
    """Over all tasks that were measured."""
    measured = [r for r in rows if r["us"]]
    with_compile = [r for r in measured if r["speed_ups"].get(COMPILE)]
    memory = [r for r in measured if r["bound_by"] == "memory"]
    share = lambda part, whole: len(part) / len(whole) if whole else None
    return {
        "tasks": len(rows),
        "measured": len(measured),
        "failed": [r["task"] for r in rows if not r["us"] and not r["own_us"]],
        "verified": len([r for r in rows if any(r["verified"].values())]),
        "own_speed_up_median": median([r["own_speed_up"] for r in rows if r["own_speed_up"]]),
        "student_speed_up_median": median([r["student_speed_up"] for r in measured if r["student_speed_up"]]),
        "over_compile_geometric_mean": geometric_mean([r["speed_ups"][COMPILE] for r in with_compile]),
        "with_compile": len(with_compile),
        "faster_than_compile": share([r for r in with_compile if r["speed_ups"][COMPILE] > 1], with_compile),
        "memory_bound": len(memory),
        "memory_bound_done": share([r for r in memory if r["share_of_ceiling"] > MEMORY_SHARE], memory),
        "faster_than_every_peer": share([r for r in measured if r["wins"] == "evo"], [r for r in measured if r["wins"]]),
        "peer_wins": [r["task"] for r in measured if r["wins"] and r["wins"] != "evo"],
        "score_median": median([r["score"] for r in measured if r["score"] is not None]),
    }


def compare(old, new):
    """What moved from one list of records to another, kernel by kernel: [{task, kernel, old_us, new_us, ratio, noise, moved}].
    `noise` is the spread of the samples of both; a kernel has moved where it differs by more."""
    before = {r["task"]: r for r in old}
    lines = []
    for record in new:
        earlier = before.get(record["task"])
        if not earlier or earlier.get("case") != record.get("case"):
            continue
        for name in dict.fromkeys([*(record.get("kernels") or {}), *(earlier.get("kernels") or {})]):
            a, b = time_of(earlier, name), time_of(record, name)
            if a is None or b is None:
                if (a is None) != (b is None):
                    lines.append(
                        {
                            "task": record["task"],
                            "kernel": name,
                            "old_us": a,
                            "new_us": b,
                            "ratio": None,
                            "noise": None,
                            "moved": True,
                        }
                    )
                continue
            noise = max(LEAST_NOISE, spread(earlier["kernels"][name]["times"]) + spread(record["kernels"][name]["times"]))
            lines.append(
                {
                    "task": record["task"],
                    "kernel": name,
                    "old_us": a,
                    "new_us": b,
                    "ratio": a / b,
                    "noise": noise,
                    "moved": abs(math.log(a / b)) > math.log1p(noise),
                }
            )
    return lines


class BadResults(Exception):
    """The file has no results of this program."""


def write_json(file, value):
    """The file is never half written."""
    file = Path(file)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name + ".")
    try:
        with os.fdopen(handle, "w") as out:
            json.dump(value, out, indent=1)
        os.replace(temporary, file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_results(file):
    """The records of a results.json, or of the task files of a folder. Raises BadResults."""
    file = Path(file)
    try:
        if file.is_dir():
            if (file / "results.json").exists():
                return read_results(file / "results.json")
            raise BadResults(f"{file}: no results.json in it")
        value = json.loads(file.read_text())
    except OSError as wrong:
        raise BadResults(f"{file}: {wrong.strerror}") from None
    except ValueError as wrong:
        raise BadResults(f"{file}: no JSON: {wrong}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT or not isinstance(value.get("tasks"), list):
        raise BadResults(f"{file}: not written by this program, or by another version of it")
    return value["tasks"]


def stored(file, settings):
    """The record of a task if it has these settings, else None."""
    try:
        record = json.loads(Path(file).read_text())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("format") == FORMAT and record.get("settings") == settings else None


def finished(file, settings):
    """That record if it is whole, else None."""
    record = stored(file, settings)
    return record if record and record.get("finished") and not record.get("failed") else None


def unfinished(file, settings):
    """That record, with what it has so far, else None."""
    record = stored(file, settings)
    return {key: value for key, value in record.items() if key not in ("failed", "finished")} if record else None
