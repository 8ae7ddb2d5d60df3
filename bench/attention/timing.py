"""Times of calls by CUPTI's records (kineto), the calls taking turns in one process."""
import statistics
import sys
import warnings

import torch
from torch.profiler import ProfilerActivity, profile

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
    device_events(lambda: [call() for call in calls.values()])   # CUPTI's own first time
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
            spans[name].append(sum(end - start for start, end in events[at:at + count]) / 1000)
            at += count
    return {name: statistics.median(values) for name, values in spans.items()}
