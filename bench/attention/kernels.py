"""Kernels of evo, exported files or templates, compiled by nvcc and launched through the driver in a process with PyTorch: by their
directives, for any sizes. exported.py launches exported files by the numbers of their own head."""
import ctypes
import functools
import re
import subprocess
import tempfile
from pathlib import Path

import torch

from launch_lines import clause, directives, evaluate

CUDA = ctypes.CDLL("libcuda.so.1")
NVCC = "/usr/local/cuda/bin/nvcc"


def check(status, what):
    if status != 0:
        text = ctypes.c_char_p()
        CUDA.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else status}")


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Attribute(ctypes.Structure):
    """CUlaunchAttribute: an id, padding to 8 bytes, a value of 64 bytes."""
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", Dim3), ("rest", ctypes.c_char * 52)]


class Config(ctypes.Structure):
    _fields_ = [("grid", Dim3), ("block", Dim3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


CLUSTER_DIMENSION = 4       # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
COOPERATIVE = 2             # CU_LAUNCH_ATTRIBUTE_COOPERATIVE
MAX_DYNAMIC_SHARED = 8      # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


TENSOR_MAP_TYPES = {torch.float16: 6, torch.bfloat16: 9}   # CU_TENSOR_MAP_DATA_TYPE_FLOAT16 and _BFLOAT16
L2_PROMOTION_256B = 3       # CU_TENSOR_MAP_L2_PROMOTION_L2_256B
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def encode_map(what, buffer, dims, box, swizzle):
    """A CUtensorMap of 128 bytes, aligned as the driver wants it, of a dense buffer of 16-bit elements."""
    memory = ctypes.create_string_buffer(128 + 128)
    at = (ctypes.addressof(memory) + 127) // 128 * 128
    strides, step = [], 2
    for size in dims[:-1]:
        step *= size
        strides.append(step)
    rank = len(dims)
    check(CUDA.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), TENSOR_MAP_TYPES[buffer.dtype], rank, ctypes.c_void_p(buffer.data_ptr()), (ctypes.c_uint64 * rank)(*dims),
        (ctypes.c_uint64 * max(1, rank - 1))(*strides), (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank), 0, SWIZZLES[swizzle],
        L2_PROMOTION_256B, 0), what)
    return memory, at


def tensor_map(directive, buffers, names):
    dims = [evaluate(e, names) for e in clause(directive, "dims")]
    box = [evaluate(e, names) for e in clause(directive, "box")]
    swizzle = evaluate((clause(directive, "swizzle") or ["0"])[0], names)
    return encode_map(directive, buffers[re.match(r"\w+ = (\w+)", directive).group(1)], dims, box, swizzle)


@functools.cache
def compile_file(file, target, defines=()):
    """The cubin; once for the same arguments. `target` is nvcc's options for the architecture."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        subprocess.run([NVCC, "-cubin", *target, "-o", cubin, *[f"-D{d}" for d in defines], file], check=True)
        return cubin.read_bytes()


def target_of(arch):
    return (f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}",)


def load_function(file, image, wanted):
    """The kernel of that name, in PyTorch's context."""
    torch.zeros(1, device="cuda")   # the context is the current one from here on
    module, count = ctypes.c_void_p(), ctypes.c_uint()
    check(CUDA.cuModuleLoadData(ctypes.byref(module), image), f"{file}: load")
    check(CUDA.cuModuleGetFunctionCount(ctypes.byref(count), module), "count")
    functions = (ctypes.c_void_p * count.value)()
    check(CUDA.cuModuleEnumerateFunctions(functions, count, module), "enumerate")
    for function in functions:
        name = ctypes.c_char_p()
        check(CUDA.cuFuncGetName(ctypes.byref(name), ctypes.c_void_p(function)), "name")
        if name.value.decode() == wanted or name.value.decode().startswith(f"_Z{len(wanted)}{wanted}"):
            return ctypes.c_void_p(function)
    raise SystemExit(f"{file}: no kernel {wanted} in it")


def prepare(label, function, places, grid, block, shared, cluster=None, cooperative=False):
    """A function that launches once on PyTorch's current stream. `places` are the addresses of the arguments' values; what they point to is
    the caller's to keep, in the function's `keep`."""
    pointers = (ctypes.c_void_p * len(places))(*places)
    three = lambda sizes: Dim3(*(list(sizes) + [1, 1])[:3])
    check(CUDA.cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED, shared), f"{label}: {shared} bytes of shared memory")
    attributes, count = (Attribute * 2)(), 0
    if cluster:
        attributes[count].id, attributes[count].value = CLUSTER_DIMENSION, three(cluster)
        count += 1
    if cooperative:
        attributes[count].id, attributes[count].value = COOPERATIVE, Dim3(1, 0, 0)
        count += 1
    config = Config(three(grid), three(block), shared, torch.cuda.current_stream().cuda_stream, attributes, count)

    def launch():
        check(CUDA.cuLaunchKernelEx(ctypes.byref(config), function, pointers, None), label)
    launch.keep = (places, pointers, attributes, config)
    return launch


class Kernel:
    """One launch line; what has more launches or workspaces is refused."""

    def __init__(self, file, defines=(), arch="sm_90a"):
        self.label = " ".join([Path(file).stem, *defines])
        text = self.text = self._included(Path(file))
        lines = directives(text, "launch")
        self.maps = {m.split()[0]: m for m in directives(text, "tensormap")}
        if len(lines) != 1 or directives(text, "workspace"):
            raise SystemExit(f"{file}: one launch line and nothing else is what this script can launch")
        self.line = lines[0]
        self.values = {m.group(1): int(m.group(2)) for m in re.finditer(r"^#define (\w+) (-?\d+)\s*$", text, re.M)}
        self.values.update({m.group(1): int(m.group(2)) for m in re.finditer(r"^#define (\w+) (-?\d+)\s*$", self.own, re.M)})
        self.values.update({k: int(v) for k, v in (d.split("=") for d in defines)})
        self.function = load_function(file, compile_file(file, target_of(arch), tuple(defines)), re.match(r"\w+", self.line).group(0))

    def _included(self, file):
        """The text; of a variant of a template, that of the template."""
        self.own = file.read_text()
        base = re.search(r'^#include "(.*\.cu)"', self.own, re.M)
        return (file.parent / base.group(1)).read_text() if base else self.own

    def launcher(self, q, k, v, out):
        """A function that launches once on PyTorch's current stream."""
        batch, heads, length, depth = q.shape
        names = {**self.values, "B": batch, "H": heads, "S": length, "D": depth}
        buffers = {"Q": q, "K": k, "V": v, "O": out}
        values, kept, places = [], [], []
        for argument in clause(self.line, re.match(r"\w+", self.line).group(0)):
            if argument in self.maps:
                memory, at = tensor_map(self.maps[argument], buffers, names)
                kept.append(memory)
                places.append(ctypes.c_void_p(at))
                continue
            if argument in buffers:
                values.append(ctypes.c_void_p(buffers[argument].data_ptr()))
            elif argument == "scale":
                values.append(ctypes.c_float(depth ** -0.5))
            else:
                values.append(ctypes.c_int(evaluate(argument, names)))
            places.append(ctypes.cast(ctypes.pointer(values[-1]), ctypes.c_void_p))
        dims = lambda name: [evaluate(e, names) for e in clause(self.line, name)]
        shared = evaluate((clause(self.line, "shared") or ["0"])[0], names)
        cluster = dims("cluster") if clause(self.line, "cluster") is not None else None
        launch = prepare(self.label, self.function, places, dims("grid"), dims("block"), shared, cluster)
        launch.keep += (values, kept, q, k, v, out)
        return launch
