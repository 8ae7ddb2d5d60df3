"""What it takes to launch a kernel of evo, read from its text: the numbers in the head of a file that `evo best --export` wrote, or the directives of
a template evaluated for some sizes. Needs nothing but Python."""
import math
import re
from dataclasses import dataclass
from pathlib import Path

from measure import formulas
from measure.launch_lines import clause, directives, evaluate, split_at_commas

SCALARS = ("f64", "f32", "i64", "i32", "u64", "u32", "bool")


class NotExported(Exception):
    """The file is not what evo exports, or it needs something that is not launched here."""


@dataclass(frozen=True)
class Workspace:
    name: str
    elements: int
    dtype: str


@dataclass(frozen=True)
class TensorMap:
    name: str
    buffer: str
    dims: tuple
    box: tuple
    swizzle: int
    dtype: str      # empty if it is the buffer's


@dataclass(frozen=True)
class Memset:
    buffer: str
    value: int


@dataclass(frozen=True)
class Launch:
    """`arguments` are ("name", buffer or tensor map) or (type of a scalar, value)."""
    kernel: str
    arguments: tuple
    grid: tuple
    block: tuple
    shared: int
    cluster: tuple = ()
    cooperative: bool = False


@dataclass(frozen=True)
class Plan:
    """One case: its steps in order, workspaces and tensor maps before what uses them, and nvcc's -D options for it."""
    steps: tuple
    defines: tuple = ()


def key_of(sizes):
    return tuple(sorted(sizes.items()))


def numbers(line, name):
    return tuple(int(n) for n in clause(line, name))


def arguments_of(line, kernel):
    """What stands in the brackets of the kernel, and whether there are template arguments before them."""
    plain = re.sub(rf"^{re.escape(kernel)}\s*<.*?>\(", f"{kernel}(", line)
    return clause(plain, kernel), plain != line


class ExportedSource:
    """An exported file. `cases` has a Plan for each case whose launches the head tells, by its sizes."""

    def __init__(self, file):
        self.file = Path(file)
        self.text = text = self.file.read_text()
        head = text.split("\n\n", 1)[0].split("\n")
        first = re.match(r"// \w+: candidate (\d+) of run (\d+), evolved by evo \S+ from template (\w+) \(task (\w+), ", head[0])
        if not first:
            raise NotExported(f"{file}: the first line is not that of a file that `evo best --export` wrote")
        candidate, run, self.template, self.task = first.groups()
        self.label = f"{self.file.name}: candidate {candidate} of run {run}, from {self.template}"
        compiled = next((m for m in (re.match(r"// Compile: nvcc (.*) -c FILE", line) for line in head) if m), None)
        if not compiled:
            raise NotExported(f"{file}: its head does not say how it is compiled")
        self.target = tuple(compiled.group(1).split())
        scalars = [re.match(r"//   (\w+): scalar (\w+)", line) for line in head]
        self.scalars = {m.group(1): m.group(2) for m in scalars if m}
        self.buffers = {m.group(1) for m in (re.match(r"//   (\w+): (?:in|out|inout) \w+ \[", line) for line in head) if m}
        self.cases = self._cases(head)
        if not self.cases:
            raise NotExported(f"{file}: its head has no launch numbers; export it again where the task's files are")

    def plan(self, sizes):
        """Raises NotExported for sizes that the head does not tell."""
        if key_of(sizes) not in self.cases:
            wanted = " ".join(f"{name}={value}" for name, value in key_of(sizes))
            raise NotExported(f"{self.file}: its head has no launches for {wanted}")
        return self._plan(*self.cases[key_of(sizes)])

    def _cases(self, head):
        cases, lines = {}, None
        for line in head:
            case = re.match(r"// Launches of case \w+ \((.*?)\)(?:, compiled with(.*?))?, in this order:", line)
            if case:
                sizes = {name: int(value) for name, value in (pair.split("=") for pair in case.group(1).split())}
                lines = []
                cases[key_of(sizes)] = (lines, tuple((case.group(2) or "").split()))
            elif not line.startswith("//   "):
                lines = None
            elif lines is not None:
                lines.append(line[5:])
        return cases

    def _plan(self, lines, defines):
        # The head has the arguments' values, the directives have their names. A line that its when() skips is not in the head.
        launches = iter([(re.match(r"[\w:]+", line).group(0), line) for line in directives(self.text, "launch")])
        known, steps = set(self.buffers), []
        for line in lines:
            if found := re.match(r"workspace (\w+): (\d+) x (\w+)$", line):
                known.add(found.group(1))
                steps.append(Workspace(found.group(1), int(found.group(2)), found.group(3)))
            elif found := re.match(r"tensor map (\w+) of (\w+): (\w+) ", line):
                known.add(found.group(1))
                swizzle = int(re.search(r"swizzle (\d+) bytes", line).group(1))
                steps.append(TensorMap(found.group(1), found.group(2), numbers(line, "dims"), numbers(line, "box"), swizzle, found.group(3)))
            elif found := re.match(r"memset of (\w+) to bytes of (\d+)$", line):
                steps.append(Memset(found.group(1), int(found.group(2))))
            else:
                directive = next((d for kernel, d in launches if re.match(rf"{re.escape(kernel)}\s*[<(]", line)), None)
                steps.append(self._launch(line, directive, known))
        return Plan(tuple(steps), defines)

    def _launch(self, line, directive, known):
        kernel = re.match(r"(\w+)\(", line)
        names = clause(directive, kernel.group(1)) if kernel and directive else None
        said = clause(line, kernel.group(1)) if kernel else None
        if not kernel or names is None or len(names) != len(said) or any(s.startswith("{") for s in said):
            raise NotExported(f"{self.file}: `{line}` is not understood: a kernel that is no template, launched once a directive, is expected")
        arguments = []
        for name, value in zip(names, said):
            typed = re.match(r"(\w+)\(", name)
            kind = typed.group(1) if typed and typed.group(1) in SCALARS else self.scalars.get(name, "i32")
            arguments.append(("name", value) if value in known else (kind, number(value, self.file)))
        cluster = numbers(line, "cluster") if clause(line, "cluster") else ()
        return Launch(kernel.group(1), tuple(arguments), numbers(line, "grid"), numbers(line, "block"),
                      int(re.search(r" shared (\d+) bytes", line).group(1)), cluster, line.endswith(" cooperative"))


def number(text, file):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise NotExported(f"{file}: `{text}` is neither a buffer nor a number") from None


class TemplateSource:
    """A template at its default parameters. Its directives are evaluated for the sizes that are asked for."""

    def __init__(self, file, target):
        self.file, self.target, self.label = Path(file), tuple(target), Path(file).stem
        own = self.file.read_text()
        base = re.search(r'^#include "(.*\.cu)"', own, re.M)
        self.text = (self.file.parent / base.group(1)).read_text() if base else own
        self.values = {name: int(value) for text in (self.text, own) for name, value in re.findall(r"^#define (\w+) (-?\d+)\s*$", text, re.M)}
        joined = re.sub(r"\\\s*\n\s*//", " ", self.text)
        self.lines = [(m.group(1), m.group(2).strip()) for m in re.finditer(r"^\s*// evo:(\w+) (.*)$", joined, re.M)]
        refused = sorted({word for word, _ in self.lines} & {"repeat", "constant", "swap"})
        if refused:
            raise NotExported(f"{file}: evo:{refused[0]} is not launched here")
        if not any(word == "launch" for word, _ in self.lines):
            raise NotExported(f"{file}: it has no evo:launch line")

    def plan(self, sizes, scalars, buffers):
        """`scalars` are (type, value) by name; `buffers` are the names of the task's arrays."""
        names = {**self.values, **sizes, **{name: value for name, (_, value) in scalars.items()}}
        defines = []
        for word, line in self.lines:
            if word == "size":
                macro, _, expression = (part.strip() for part in line.partition("="))
                names[macro] = evaluate(expression or macro, names)
                defines.append(f"-D{macro}={names[macro]}")
        known, steps, maps = set(buffers), [], {}
        for word, line in self.lines:
            if word == "workspace":
                name, dtype, shape = re.match(r"(\w+) (\w+) \[(.*)\]", line).groups()
                known.add(name)
                steps.append(Workspace(name, math.prod(evaluate(e, names) for e in split_at_commas(shape)), dtype))
            elif word == "tensormap":
                name, buffer = re.match(r"(\w+) = (\w+)", line).groups()
                every = lambda what: tuple(evaluate(e, names) for e in clause(line, what))
                maps[name] = TensorMap(name, buffer, every("dims"), every("box"), every("swizzle")[0] if clause(line, "swizzle") else 0,
                                       (clause(line, "type") or [""])[0])
        steps += maps.values()
        known |= set(maps)
        for word, line in self.lines:
            if word == "memset":
                buffer, value = line.split()
                steps.append(Memset(buffer, int(value)))
            elif word == "launch" and evaluate((clause(line, "when") or ["1"])[0], names):
                steps.append(self._launch(line, names, known, scalars))
        return Plan(tuple(steps), tuple(defines))

    def _launch(self, line, names, known, scalars):
        kernel = re.match(r"\w+", line).group(0)
        said, is_template = arguments_of(line, kernel)
        if is_template or any(s.startswith("{") for s in said):
            raise NotExported(f"{self.file}: `{line}`: templates and structs are not launched here")
        arguments = []
        for argument in said:
            typed = re.match(r"(\w+)\((.*)\)$", argument)
            if argument in known:
                arguments.append(("name", argument))
            elif argument in scalars:
                arguments.append(scalars[argument])
            elif typed and typed.group(1) in SCALARS:
                arguments.append((typed.group(1), formulas.evaluate(typed.group(2), names)))
            else:
                arguments.append(("i32", evaluate(argument, names)))
        dims = lambda what: tuple(evaluate(e, names) for e in clause(line, what))
        shared = evaluate((clause(line, "shared") or ["0"])[0], names)
        cluster = dims("cluster") if clause(line, "cluster") else ()
        return Launch(kernel, tuple(arguments), dims("grid"), dims("block"), shared, cluster, bool(re.search(r"\bcooperative\b", line)))
