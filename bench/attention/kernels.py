"""Kernels of evo, exported files or templates, compiled by nvcc and launched through the driver in a process with PyTorch."""
import ctypes
import re
import subprocess
import tempfile
from pathlib import Path

import torch

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
MAX_DYNAMIC_SHARED = 8      # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def directives(text, word):
    joined = re.sub(r"\\\s*\n\s*//", " ", text)
    return [m.group(1).strip() for m in re.finditer(rf"^\s*// evo:{word} (.*)$", joined, re.M)]


def split_at_commas(text):
    parts, depth, part = [], 0, ""
    for c in text:
        depth += c in "(<["
        depth -= c in ")>]"
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def clause(line, name):
    at = re.search(rf"\b{name}\(", line)
    if not at:
        return None
    depth, end = 1, at.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        end += 1
    return split_at_commas(line[at.end():end - 1])


def evaluate(expression, variables):
    """A formula of evo in integers; Python's // is C's / for what is not negative."""
    known = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "__builtins__": {}}
    python = expression.replace("&&", " and ").replace("||", " or ")
    python = re.sub(r"(\w+) \? (\w+) : (\w+)", r"(\2 if \1 else \3)", python)
    return int(eval(re.sub(r"(?<!/)/(?!/)", "//", python), known, dict(variables)))


FLOAT16 = 6                 # CU_TENSOR_MAP_DATA_TYPE_FLOAT16
L2_PROMOTION_256B = 3       # CU_TENSOR_MAP_L2_PROMOTION_L2_256B
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def tensor_map(directive, buffers, names):
    """A CUtensorMap of 128 bytes, aligned as the driver wants it, of a dense buffer of halves."""
    buffer = buffers[re.match(r"\w+ = (\w+)", directive).group(1)]
    dims = [evaluate(e, names) for e in clause(directive, "dims")]
    box = [evaluate(e, names) for e in clause(directive, "box")]
    swizzle = evaluate((clause(directive, "swizzle") or ["0"])[0], names)
    memory = ctypes.create_string_buffer(128 + 128)
    at = (ctypes.addressof(memory) + 127) // 128 * 128
    strides, step = [], 2
    for size in dims[:-1]:
        step *= size
        strides.append(step)
    rank = len(dims)
    check(CUDA.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), FLOAT16, rank, ctypes.c_void_p(buffer.data_ptr()), (ctypes.c_uint64 * rank)(*dims), (ctypes.c_uint64 * max(1, rank - 1))(*strides),
        (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank), 0, SWIZZLES[swizzle], L2_PROMOTION_256B, 0), directive)
    return memory, at


class Kernel:
    """One launch line; what has more launches or workspaces is refused."""

    def __init__(self, file, defines=(), arch="sm_90a"):
        self.label = " ".join([Path(file).stem, *defines])
        text = self._included(Path(file))
        lines = directives(text, "launch")
        self.maps = {m.split()[0]: m for m in directives(text, "tensormap")}
        if len(lines) != 1 or directives(text, "workspace"):
            raise SystemExit(f"{file}: one launch line and nothing else is what this script can launch")
        self.line = lines[0]
        self.values = {m.group(1): int(m.group(2)) for m in re.finditer(r"^#define (\w+) (-?\d+)\s*$", text, re.M)}
        self.values.update({m.group(1): int(m.group(2)) for m in re.finditer(r"^#define (\w+) (-?\d+)\s*$", self.own, re.M)})
        self.values.update({k: int(v) for k, v in (d.split("=") for d in defines)})
        with tempfile.TemporaryDirectory() as folder:
            cubin = Path(folder) / "kernel.cubin"
            subprocess.run([NVCC, "-cubin", f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}", "-o", cubin, *[f"-D{d}" for d in defines], file], check=True)
            image = cubin.read_bytes()
        torch.cuda.current_stream()   # PyTorch's context is the current one from here on
        torch.zeros(1, device="cuda")
        module, count = ctypes.c_void_p(), ctypes.c_uint()
        check(CUDA.cuModuleLoadData(ctypes.byref(module), image), f"{file}: load")
        check(CUDA.cuModuleGetFunctionCount(ctypes.byref(count), module), "count")
        functions = (ctypes.c_void_p * count.value)()
        check(CUDA.cuModuleEnumerateFunctions(functions, count, module), "enumerate")
        wanted = re.match(r"\w+", self.line).group(0)
        for function in functions:
            name = ctypes.c_char_p()
            check(CUDA.cuFuncGetName(ctypes.byref(name), ctypes.c_void_p(function)), "name")
            if wanted in name.value.decode():
                self.function = ctypes.c_void_p(function)

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
        pointers = (ctypes.c_void_p * len(places))(*places)
        dims = lambda name: Dim3(*([evaluate(e, names) for e in clause(self.line, name)] + [1, 1])[:3])
        shared = evaluate((clause(self.line, "shared") or ["0"])[0], names)
        check(CUDA.cuFuncSetAttribute(self.function, MAX_DYNAMIC_SHARED, shared), f"{self.label}: {shared} bytes of shared memory")
        attributes = (Attribute * 1)()
        clustered = clause(self.line, "cluster") is not None
        if clustered:
            attributes[0].id, attributes[0].value = CLUSTER_DIMENSION, dims("cluster")
        config = Config(dims("grid"), dims("block"), shared, torch.cuda.current_stream().cuda_stream, attributes, int(clustered))

        def launch():
            check(CUDA.cuLaunchKernelEx(ctypes.byref(config), self.function, pointers, None), self.label)
        launch.keep = (values, kept, places, pointers, attributes, config, q, k, v, out)
        return launch
