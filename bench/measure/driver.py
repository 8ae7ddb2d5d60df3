"""Kernels compiled by nvcc and launched through the driver in a process with PyTorch."""
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch

from measure.torch_types import TORCH_TYPES

CUDA = ctypes.CDLL("libcuda.so.1")
COMPILE_TIMEOUT = 300   # seconds


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


# CU_TENSOR_MAP_DATA_TYPE_.. by evo's names of types. Of 8 and 16 bits there are none with a sign: a copy moves bits.
TENSOR_MAP_TYPES = {"u8": 0, "i8": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
NAMES_OF_TYPES = {its: name for name, its in TORCH_TYPES.items()}
L2_PROMOTION_256B = 3       # CU_TENSOR_MAP_L2_PROMOTION_L2_256B
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def encode_map(what, buffer, dims, box, swizzle, dtype=""):
    """A CUtensorMap of 128 bytes, aligned as the driver wants it, of a dense buffer, whose bytes are elements of `dtype` if that is not empty."""
    dtype = dtype or NAMES_OF_TYPES[buffer.dtype]
    memory = ctypes.create_string_buffer(128 + 128)
    at = (ctypes.addressof(memory) + 127) // 128 * 128
    strides, step = [], int(dtype.strip("bfiu")) // 8
    for size in dims[:-1]:
        step *= size
        strides.append(step)
    rank = len(dims)
    check(CUDA.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), TENSOR_MAP_TYPES[dtype], rank, ctypes.c_void_p(buffer.data_ptr()), (ctypes.c_uint64 * rank)(*dims),
        (ctypes.c_uint64 * max(1, rank - 1))(*strides), (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank), 0, SWIZZLES[swizzle],
        L2_PROMOTION_256B, 0), what)
    return memory, at


def nvcc():
    """That of CUDA_HOME, else of the usual folder, else of PATH."""
    usual = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "nvcc"
    found = str(usual) if usual.exists() else shutil.which("nvcc")
    if not found:
        raise RuntimeError("no nvcc: neither in $CUDA_HOME/bin, /usr/local/cuda/bin nor in PATH")
    return found


@functools.cache
def compile_file(file, target, defines=()):
    """The cubin; once for the same arguments. `target` is nvcc's options for the architecture."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        subprocess.run([nvcc(), "-cubin", *target, "-o", cubin, *[f"-D{d}" for d in defines], file], check=True, timeout=COMPILE_TIMEOUT)
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
        if name.value.decode() == wanted or name.value.decode().startswith((f"_Z{len(wanted)}{wanted}", f"_ZL{len(wanted)}{wanted}")):
            return ctypes.c_void_p(function)
    raise RuntimeError(f"{file}: no kernel {wanted} in it")


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
