"""Inputs of a task, and answers compared as its checks say. Needs PyTorch, on any device."""
import math

import torch

from measure.torch_types import TORCH_TYPES
from operators import NotMapped
from tasks import BadTask


def draw(array, seed, device):
    """Values of an input as its first generator says, in its type."""
    kind, values, count = array.generator.kind, array.generator.values, math.prod(array.dims)
    random = torch.Generator(device=device).manual_seed(seed)
    uniform = lambda: torch.rand(count, device=device, generator=random)
    normal = lambda: torch.randn(count, device=device, generator=random)
    if kind == "normal":
        made = normal() * values[1] + values[0]
    elif kind == "uniform":
        made = uniform() * (values[1] - values[0]) + values[0]
    elif kind == "constant":
        made = torch.full((count,), values[0], device=device)
    elif kind == "sparse":
        made = torch.where(uniform() < values[0], normal(), torch.zeros(count, device=device))
    elif kind == "log_uniform":
        magnitudes = torch.exp(math.log(values[0]) + (math.log(values[1]) - math.log(values[0])) * uniform())
        made = torch.where(uniform() < 0.5, magnitudes, -magnitudes)
    elif kind == "cauchy":
        made = values[0] * torch.tan(math.pi * (uniform() - 0.5))
    elif kind == "one_hot":
        row = array.dims[-1] if array.dims else 1
        made = torch.zeros(count // row, row, device=device)
        made[torch.arange(count // row, device=device), torch.randint(row, (count // row,), device=device, generator=random)] = 1
    elif kind == "index":
        made = torch.randint(int(values[0]), (count,), device=device, generator=random)
    elif kind == "permutation":
        made = torch.randperm(count, device=device, generator=random)
    elif kind == "offsets":
        made = torch.randint(int(values[0]) + 1, (count,), device=device, generator=random).sort().values
        made[0], made[-1] = 0, int(values[0])
    else:
        raise BadTask(f"generator {kind} is not drawn here")
    return made.reshape(array.dims).to(TORCH_TYPES[array.dtype]).contiguous()


def empty_output(array, device):
    """An output that holds nothing right."""
    dtype = TORCH_TYPES[array.dtype]
    return torch.full(array.dims, float("nan") if dtype.is_floating_point else 77, device=device, dtype=dtype)


def as_tensors(answer):
    """What a function returned, as a list of tensors; CuPy's arrays become tensors."""
    answers = answer if isinstance(answer, (tuple, list)) else (answer,)
    return [a if isinstance(a, torch.Tensor) else torch.from_dlpack(a) for a in answers]


def error_of(out, truth, bound):
    """(error, allowed, right): relative in the L2 norm, or of exact outputs the share of elements that differ."""
    if out.numel() != truth.numel():
        raise NotMapped(f"an output has {out.numel()} elements, {truth.numel()} expected")
    out, truth = out.reshape(-1), truth.reshape(-1)
    if bound.exact:
        if truth.is_floating_point() and out.is_floating_point():
            equal = out == truth.to(out.dtype)
        else:
            equal = out.double() == truth.double()
        # Counted, because a mean of ones may be less than one by its rounding.
        different = (~equal).sum().item()
        return different / truth.numel(), 0.0, different == 0
    out, truth = out.double(), truth.double()
    if not torch.isfinite(out).all():
        return float("inf"), bound.l2, False
    difference, whole = out - truth, truth.norm().item()
    if whole == 0:
        worst = difference.abs().max().item()
        return worst, bound.l2, worst == 0
    rms = whole / truth.numel() ** 0.5
    peak = max(6.0, truth.abs().max().item() / rms)
    largest_allowed = max(bound.max, bound.l2 * peak) if bound.peak_of_answer else bound.max
    error = difference.norm().item() / whole
    return error, bound.l2, error <= bound.l2 and difference.abs().max().item() / rms <= largest_allowed
