"""Kernels of evo as functions that launch them: exported files by the numbers of their head, templates by their directives."""
import ctypes
from pathlib import Path

import torch

from measure.driver import CUDA, check, compile_file, encode_map, load_function, prepare
from measure.sources import ExportedSource, Launch, Memset, NotExported, TensorMap, Workspace
from measure.torch_types import TORCH_TYPES

SCALAR_TYPES = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32, "u64": ctypes.c_uint64,
                "u32": ctypes.c_uint32, "bool": ctypes.c_bool}


def image_of(source, plan):
    """The cubin for a plan; compiled once. Needs no GPU."""
    return compile_file(source.file, source.target, tuple(option.removeprefix("-D") for option in plan.defines))


def launcher(source, plan, tensors):
    """A function that runs the steps of `plan` once on PyTorch's current stream. `tensors` are the task's arrays by the names of its arguments."""
    image = image_of(source, plan)
    buffers, maps, calls = dict(tensors), {}, []
    for step in plan.steps:
        if isinstance(step, Workspace):
            buffers[step.name] = torch.empty(step.elements, device="cuda", dtype=TORCH_TYPES[step.dtype])
        elif isinstance(step, TensorMap):
            maps[step.name] = encode_map(f"{source.label}: {step.name}", buffers[step.buffer], step.dims, step.box, step.swizzle, step.dtype)
        elif isinstance(step, Memset):
            calls.append(_memset(buffers[step.buffer], step.value))
        elif isinstance(step, Launch):
            calls.append(_launch(source, image, step, buffers, maps))

    def run():
        for call in calls:
            call()
    run.keep = buffers, maps
    return run


def _memset(buffer, value):
    size = buffer.numel() * buffer.element_size()
    return lambda: check(CUDA.cuMemsetD8Async(ctypes.c_uint64(buffer.data_ptr()), ctypes.c_ubyte(value), ctypes.c_size_t(size),
                                              ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)), "memset")


def _launch(source, image, step, buffers, maps):
    values, places = [], []
    for kind, value in step.arguments:
        if kind == "name" and value in maps:
            places.append(ctypes.c_void_p(maps[value][1]))
            continue
        if kind == "name":
            if value not in buffers:
                raise NotExported(f"{source.file}: it wants {value}, which the task does not have")
            values.append(ctypes.c_void_p(buffers[value].data_ptr()))
        else:
            make = SCALAR_TYPES[kind]
            values.append(make(float(value) if kind in ("f64", "f32") else int(value)))
        places.append(ctypes.cast(ctypes.pointer(values[-1]), ctypes.c_void_p))
    launch = prepare(source.label, load_function(source.file, image, step.kernel), places, step.grid, step.block, step.shared, step.cluster,
                     step.cooperative)
    launch.keep += (values, maps, buffers)
    return launch


class ExportedKernel(ExportedSource):
    """One exported file that can be launched."""

    def fits(self, task, sizes):
        return self.task == task and tuple(sorted(sizes.items())) in self.cases

    def launcher(self, sizes, tensors):
        return launcher(self, self.plan(sizes), tensors)


def load_exported(folder):
    """Every exported file of the folder. Raises NotExported for one that is none, but for the launching programs of --with-host."""
    return [ExportedKernel(file) for file in sorted(Path(folder).glob("*.cu")) if not file.stem.endswith("_host")]
