"""Templates and other files of one launch line, compiled by nvcc and launched by their directives for any sizes. measure/exported.py launches exported
files by the numbers of their own head."""
import ctypes
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure.driver import compile_file, encode_map, load_function, prepare, target_of
from measure.launch_lines import clause, directives, evaluate


def tensor_map(directive, buffers, names):
    dims = [evaluate(e, names) for e in clause(directive, "dims")]
    box = [evaluate(e, names) for e in clause(directive, "box")]
    swizzle = evaluate((clause(directive, "swizzle") or ["0"])[0], names)
    return encode_map(directive, buffers[re.match(r"\w+ = (\w+)", directive).group(1)], dims, box, swizzle, (clause(directive, "type") or [""])[0])


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
