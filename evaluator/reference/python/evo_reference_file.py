"""The user's file: reads it, finds its function, calls it, and says on one line what is wrong with it."""
import inspect
import linecache
import os
import sys
import traceback
import types


class Wrong(Exception):
    """Something that the user's file does; the text says what and what to do. `line`: in that file, if it is known."""

    def __init__(self, text, line=None):
        super().__init__(text)
        self.line = line


def first_line(error):
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ''


class Errors:
    """Makes one line of an exception: FILE:LINE: what is wrong."""

    def __init__(self, file, memory_bytes):
        self._file = file
        self._memory_bytes = memory_bytes

    def _line(self, error):
        if isinstance(error, SyntaxError) and error.filename == self._file:
            return error.lineno
        if isinstance(error, Wrong) and error.line:
            return error.line
        frames = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == self._file]
        return frames[-1] if frames else None

    def _text(self, error):
        if isinstance(error, (Wrong, SyntaxError)) or type(error).__name__ == 'TookTooLong':
            kind = 'syntax error: ' if isinstance(error, SyntaxError) else ''
            return kind + (error.msg if isinstance(error, SyntaxError) else str(error))
        if isinstance(error, ModuleNotFoundError):
            beside = os.path.join(os.path.dirname(self._file), f'{error.name}.py')
            if os.path.exists(beside):
                return f'{first_line(error)}: a reference is one file, because runs store and compare only that; copy the code into it'
            return (f'{first_line(error)} in {sys.executable} (Python {sys.version.split()[0]}); install it there, or set EVO_PYTHON '
                    'to an interpreter that has it')
        if isinstance(error, MemoryError):
            words = first_line(error) or 'no memory left'
            return f'MemoryError: {words}; a reference may use {self._memory_bytes / 2**30:.0f} GiB'
        if isinstance(error, SystemExit):
            return 'it calls sys.exit'
        return f'{type(error).__name__}: {first_line(error)}'

    def describe(self, error):
        line = self._line(error)
        place = self._file if line is None else f'{self._file}:{line}'
        return ' '.join(f'{place}: {self._text(error)}'.split())[:2000]


class Function:
    """The user's function with what task.json says of its arguments and results."""

    def __init__(self, call, arrays, init, line):
        self._call = call
        self._arrays = arrays
        self._inputs = [one for one in init['arguments'] if one['role'] in ('in', 'inout')]
        self._outputs = [one for one in init['arguments'] if one['role'] in ('out', 'inout')]
        self._line = line
        self._parameters, self._takes_all = self._checked_parameters(init)

    def _fail(self, text):
        raise Wrong(text, self._line)

    def _checked_parameters(self, init):
        known = [one['name'] for one in init['arguments'] if one['role'] != 'out'] + init['sizes']
        outputs = [one['name'] for one in init['arguments'] if one['role'] == 'out']
        names = []
        takes_all = False
        for name, one in inspect.signature(self._call).parameters.items():
            if one.kind is one.VAR_KEYWORD:
                takes_all = True
            elif one.kind is one.VAR_POSITIONAL or one.kind is one.POSITIONAL_ONLY:
                self._fail(f"the parameter '{name}' cannot be given by name; parameters have the names of task.json's arguments and sizes")
            elif name in known:
                names.append(name)
            elif name in outputs:
                self._fail(f"the parameter '{name}' is an output: return it instead")
            elif one.default is one.empty:
                self._fail(f"the parameter '{name}' is not in task.json; there are {', '.join(known)}")
        return names, takes_all

    def _given(self, header, bodies):
        values = dict(header['values'])
        for argument, body in zip(self._inputs, bodies):
            values[argument['name']] = self._arrays.of_input(body, argument['dtype'], header['shapes'][argument['name']])
        return values if self._takes_all else {name: values[name] for name in self._parameters}

    def _by_output(self, result):
        names = [one['name'] for one in self._outputs]
        if isinstance(result, dict):
            if set(result) != set(names):
                self._fail(f"it returns a dict with {', '.join(map(str, result)) or 'nothing'}, and the outputs are {', '.join(names)}")
            return [result[name] for name in names]
        if len(names) == 1 and not (isinstance(result, (tuple, list)) and len(result) == 1 and hasattr(result[0], 'dtype')):
            return [result]
        if not isinstance(result, (tuple, list)):
            self._fail(f"it returns {type(result).__name__}; return a tuple or a dict of {', '.join(names)}")
        if len(result) != len(names):
            self._fail(f"it returns {len(result)} values; the outputs are {', '.join(names)}")
        return list(result)

    def answers(self, header, bodies):
        """The results as doubles, of a request that comes with the contents of all inputs."""
        given = self._given(header, bodies)
        finite = all(self._arrays.is_finite(one) for one in given.values())
        result = self._arrays.call(self._call, given)
        if result is None:
            self._fail('it returns nothing; return the output' + ('s' if len(self._outputs) > 1 else ''))
        bodies = []
        for argument, value in zip(self._outputs, self._by_output(result)):
            name = argument['name']
            try:
                doubles = self._arrays.to_doubles(value, argument['dtype'], header['shapes'][name])
            except Wrong as wrong:
                self._fail(f'{name} {wrong}')
            nan = self._arrays.first_nan(doubles) if finite else None
            if nan is not None:
                self._fail(f'{name} has NaN at {nan}, and all inputs are finite')
            bodies.append(self._arrays.to_bytes(doubles))
        return bodies


class File:
    """All functions of the user's file."""

    def __init__(self, reference, derived):
        self._reference = reference
        self._derived = derived  # one for each argument that is derived from others

    def answers(self, header, bodies):
        if not header.get('derive'):
            return self._reference.answers(header, bodies)
        return [values for function in self._derived for values in function.answers(header, bodies)]


def line_of(function):
    code = getattr(function, '__code__', None)
    return code.co_firstlineno if code else None


def load(init):
    """Runs the file and finds its function."""
    file = init['file']
    source = init['source']
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType('reference')
    module.__file__ = file
    sys.modules['reference'] = module
    exec(compile(source, file, 'exec'), module.__dict__)
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    try:
        arrays = arrays_of(module)
        return File(find_function(module, arrays, init), [find_derived(module, arrays, init, one) for one in init['arguments'] if one['derived']])
    finally:
        sys.path.pop()


def arrays_of(module):
    if 'torch' in sys.modules:
        from evo_reference_torch import TorchArrays as Arrays
    else:
        from evo_reference_numpy import NumpyArrays as Arrays
    return Arrays()


def find_derived(module, arrays, init, argument):
    """The function that makes an argument: it takes the others, and its result is checked like that of a reference."""
    name = argument['derived']
    function = getattr(module, name, None)
    others = [one for one in init['arguments'] if one['role'] in ('in', 'inout', 'scalar') and not one['derived']]
    if not callable(function):
        names = ', '.join(one['name'] for one in others)
        raise Wrong(f"there is no function `{name}`, from which task.json derives {argument['name']}; write `def {name}({names}):`")
    taken = [dict(one, role='in' if one['role'] == 'inout' else one['role']) for one in others]
    return Function(function, arrays, dict(init, arguments=taken + [dict(argument, role='out')]), line_of(function))


def find_function(module, arrays, init):
    function = getattr(module, 'reference', None)
    if callable(function):
        return Function(function, arrays, init, line_of(function))
    if 'torch' in sys.modules and inspect.isclass(getattr(module, 'Model', None)):
        from evo_reference_module import ModuleFunction
        return Function(ModuleFunction(module, init), arrays, init, line_of(module.Model.forward))
    names = [one['name'] for one in init['arguments'] if one['role'] != 'out']
    raise Wrong(f"there is no function `reference`; write `def reference({', '.join(names)}):`, which returns the outputs")
