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
    return int(eval(re.sub(r"(?<!/)/(?!/)", "//", python), known, dict(variables)))


class Kernel:
    """One launch line; what has more launches, workspaces or tensor maps is refused."""

    def __init__(self, file, defines=(), arch="sm_90a"):
        self.label = " ".join([Path(file).stem, *defines])
        text = self._included(Path(file))
        lines = directives(text, "launch")
        if len(lines) != 1 or directives(text, "workspace") or directives(text, "tensormap"):
            raise SystemExit(f"{file}: one launch line and nothing else is what this script can launch")
        self.line = lines[0]
        self.values = {m.group(1): int(m.group(2)) for m in re.finditer(r"^#define (\w+) (-?\d+)\s*$", text, re.M)}
        self.values.update({m.group(1): int(m.group(2)) for m in re.finditer(r"^#define (\w+) (-?\d+)\s*$", self.own, re.M)})
        self.values.update({k: int(v) for k, v in (d.split("=") for d in defines)})
        with tempfile.TemporaryDirectory() as folder:
            cubin = Path(folder) / "kernel.cubin"
            subprocess.run([NVCC, "-cubin", f"-arch={arch}", "-o", cubin, *[f"-D{d}" for d in defines], file], check=True)
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
        values = []
        for argument in clause(self.line, re.match(r"\w+", self.line).group(0)):
            if argument in buffers:
                values.append(ctypes.c_void_p(buffers[argument].data_ptr()))
            elif argument == "scale":
                values.append(ctypes.c_float(depth ** -0.5))
            else:
                values.append(ctypes.c_int(evaluate(argument, names)))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(x), ctypes.c_void_p) for x in values])
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
        launch.keep = (values, pointers, attributes, config, q, k, v, out)
        return launch
