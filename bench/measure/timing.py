"""Times of calls by CUPTI's records (kineto), the calls taking turns in one process."""
import statistics
import sys
import warnings

import torch
from torch.profiler import ProfilerActivity, profile

from measure.intervals import busy

# Each profile here is one cycle.
warnings.filterwarnings("ignore", message="Warning: Profiler clears events")


def device_events(body):
    """Kernels, copies and memsets that `body` made run, as (start, end) in ns, in order."""
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as run:
        body()
        torch.cuda.synchronize()
    events = [e for e in run.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA]
    return sorted((e.start_ns(), e.start_ns() + e.duration_ns()) for e in events if e.duration_ns() > 0)


def measure(calls, rounds):
    """Median time in us of the kernels of each call, gaps between them left out; the calls take turns, `rounds` times."""
    for call in calls.values():
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    device_events(lambda: [call() for call in calls.values()])  # CUPTI's own first time
    steps = {name: len(device_events(call)) for name, call in calls.items()}

    def all_rounds():
        for _ in range(rounds):
            for call in calls.values():
                call()

    events = device_events(all_rounds)
    if len(events) != rounds * sum(steps.values()):
        sys.exit(f"{len(events)} records of {rounds * sum(steps.values())}; is another profiler running?")
    spans = {name: [] for name in calls}
    at = 0
    for _ in range(rounds):
        for name, count in steps.items():
            spans[name].append(sum(end - start for start, end in events[at : at + count]) / 1000)
            at += count
    return {name: statistics.median(values) for name, values in spans.items()}


class Interrupted(RuntimeError):
    """Records of the profiler do not match what ran."""


def marker():
    """A kernel that runs nowhere else: it divides the records."""
    torch.cuda._sleep(1)


def named_events(body):
    """As device_events, with names: (start, end, name)."""
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as run:
        body()
        torch.cuda.synchronize()
    events = [e for e in run.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA]
    return sorted((e.start_ns(), e.start_ns() + e.duration_ns(), e.name()) for e in events if e.duration_ns() > 0)


def samples(calls, rounds, before=None):
    """Times in us of the kernels of each call, gaps between them left out, one for each round: {name: [us, ..]}. The calls take
    turns. `before(name)` runs ahead of every call and is not counted; with it each call can have the same state of its inputs and
    of L2. A call may launch another number of kernels each time: kernels that mark its begin and end divide the records."""
    before = before or (lambda name: None)
    named_events(marker)  # CUPTI's own first time
    names = {name for _, _, name in named_events(lambda: [marker() for _ in range(4)])}
    if len(names) != 1:
        raise Interrupted(f"a marker should be one kernel; the profiler saw {sorted(names)}")
    mark = names.pop()

    def all_rounds():
        for _ in range(rounds):
            for name, call in calls.items():
                before(name)
                marker()
                call()
                marker()

    events = named_events(all_rounds)
    marks = [i for i, (_, _, name) in enumerate(events) if name == mark]
    if len(marks) != 2 * rounds * len(calls):
        raise Interrupted(f"{len(marks)} records of markers, {2 * rounds * len(calls)} expected; is another profiler running?")
    spans, pairs = {name: [] for name in calls}, iter(zip(marks[::2], marks[1::2]))
    for _ in range(rounds):
        for name in calls:
            first, last = next(pairs)
            spans[name].append(busy(events[first + 1 : last]) / 1000)
    return spans
