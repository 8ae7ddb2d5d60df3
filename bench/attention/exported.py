"""Kernels that `evo best --export FILE` wrote, launched as the comment at the head of each file says: nvcc's options, and for every case
grid, block, shared memory, clusters, tensor maps, workspaces. docs/command_line.md describes the file."""
import ctypes
import re
from pathlib import Path

import torch

from kernels import CUDA, check, clause, compile_file, directives, encode_map, load_function, prepare

TORCH_TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
               "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8}
SCALARS = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32, "u64": ctypes.c_uint64, "u32": ctypes.c_uint32}


class NotExported(Exception):
    """The file is not what evo exports, or its head leaves something out that is needed."""


def numbers(line, name):
    return [int(n) for n in clause(line, name)]


class ExportedKernel:
    """One exported file. `cases` has the lines of each case that it tells how to launch, by its sizes."""

    def __init__(self, file):
        self.file = Path(file)
        text = self.file.read_text()
        head = text.split("\n\n", 1)[0].split("\n")
        first = re.match(r"// \w+: candidate (\d+) of run (\d+), evolved by evo \S+ from template (\w+) \(task (\w+), ", head[0])
        if not first:
            raise NotExported(f"{file}: the first line is not that of a file that `evo best --export` wrote")
        candidate, run, self.template, self.task = first.groups()
        self.label = f"{self.file.name}: candidate {candidate} of run {run}, from {self.template}"
        compiled = [re.match(r"// Compile: nvcc (.*) -c FILE", line) for line in head]
        self.target = tuple(next(m for m in compiled if m).group(1).split())
        scalars = [re.match(r"//   (\w+): scalar (\w+)", line) for line in head]
        self.scalars = {m.group(1): m.group(2) for m in scalars if m}
        # The head has the arguments' values, the directives have their names.
        kernels = [(re.match(r"\w+", line).group(0), line) for line in directives(text, "launch")]
        self.names = [(kernel, clause(line, kernel)) for kernel, line in kernels]
        self.cases = {}
        lines = None
        for line in head:
            case = re.match(r"// Launches of case \w+ \((.*)\), in this order:", line)
            if case:
                sizes = {name: int(value) for name, value in (pair.split("=") for pair in case.group(1).split())}
                lines = self.cases.setdefault(tuple(sorted(sizes.items())), [])
            elif not line.startswith("//   "):
                lines = None
            elif lines is not None:
                lines.append(line[5:])
        if not self.cases:
            raise NotExported(f"{file}: its head has no launch numbers; export it again where the task's files are")

    def fits(self, problem):
        return self.task == problem.task and tuple(sorted(problem.sizes.items())) in self.cases

    def launcher(self, problem, q, k, v, out):
        """A function that runs the file's sequence once, on PyTorch's current stream."""
        buffers, maps, steps = {"Q": q, "K": k, "V": v, "O": out}, {}, []
        image = compile_file(self.file, self.target)
        launches = iter(self.names)
        for line in self.cases[tuple(sorted(problem.sizes.items()))]:
            if found := re.match(r"workspace (\w+): (\d+) x (\w+)$", line):
                buffers[found.group(1)] = torch.empty(int(found.group(2)), device="cuda", dtype=TORCH_TYPES[found.group(3)])
            elif found := re.match(r"tensor map (\w+) of (\w+): \w+ ", line):
                swizzle = int(re.search(r"swizzle (\d+) bytes", line).group(1))
                maps[found.group(1)] = encode_map(line, buffers[found.group(2)], numbers(line, "dims"), numbers(line, "box"), swizzle)
            elif found := re.match(r"memset of (\w+) to bytes of (\d+)$", line):
                steps.append(self._memset(buffers[found.group(1)], int(found.group(2))))
            else:
                # A line of the source that its when() skips for these sizes is not in the head.
                names = next((names for kernel, names in launches if line.startswith(kernel + "(")), None)
                steps.append(self._launch(line, names, image, buffers, maps))

        def run():
            for step in steps:
                step()
        run.keep = buffers, maps
        return run

    def _memset(self, buffer, value):
        size = buffer.numel() * buffer.element_size()
        return lambda: check(CUDA.cuMemsetD8Async(ctypes.c_uint64(buffer.data_ptr()), ctypes.c_ubyte(value), ctypes.c_size_t(size),
                                                  ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)), "memset")

    def _launch(self, line, names, image, buffers, maps):
        kernel = re.match(r"(\w+)\(", line)
        said = clause(line, kernel.group(1)) if kernel else None
        if not kernel or names is None or len(names) != len(said):
            raise NotExported(f"{self.file}: `{line}` is not understood: a kernel that is no template, launched once a directive, is expected")
        values, places = [], []
        for name, value in zip(names, said):
            if value in maps:
                places.append(ctypes.c_void_p(maps[value][1]))
                continue
            if value in buffers:
                values.append(ctypes.c_void_p(buffers[value].data_ptr()))
            elif name in self.scalars:
                kind = SCALARS[self.scalars[name]]
                values.append(kind(float(value) if kind in (ctypes.c_double, ctypes.c_float) else int(value)))
            else:
                values.append(ctypes.c_int(int(value)))
            places.append(ctypes.cast(ctypes.pointer(values[-1]), ctypes.c_void_p))
        shared = int(re.search(r" shared (\d+) bytes", line).group(1))
        cluster = numbers(line, "cluster") if clause(line, "cluster") else None
        launch = prepare(self.label, load_function(self.file, image, kernel.group(1)), places, numbers(line, "grid"), numbers(line, "block"), shared, cluster,
                         line.endswith(" cooperative"))
        launch.keep += (values, maps, buffers)
        return launch


def load_exported(folder):
    """Every exported file of the folder. Raises NotExported for one that is none, but for the launching programs of --with-host."""
    return [ExportedKernel(file) for file in sorted(Path(folder).glob("*.cu")) if not file.stem.endswith("_host")]
