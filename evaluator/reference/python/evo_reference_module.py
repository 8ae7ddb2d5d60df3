"""KernelBench's form of a reference: a class Model(nn.Module) with get_init_inputs(). Its weights are inputs of the task."""
import inspect

import torch
from evo_reference_file import Wrong, line_of


def by_name(function, values):
    """The values that the function's parameters name."""
    return {name: values[name] for name in inspect.signature(function).parameters if name in values}


class ModuleFunction:
    """Calls the module's forward with the task's inputs, after it has set those that are weights. The input `fc_weight` is the
    module's parameter (or buffer) fc.weight."""

    def __init__(self, file_module, init):
        self._make = file_module.Model
        self._init_inputs = getattr(file_module, 'get_init_inputs', list)
        self._inputs = [one['name'] for one in init['arguments'] if one['role'] in ('in', 'inout') and not one['derived']]
        self._models = {}

    def _model(self, values):
        given = by_name(self._init_inputs, values)
        key = tuple(sorted(given.items()))
        if key not in self._models:
            torch.manual_seed(0)  # of buffers that are drawn
            self._models = {key: self._make(*self._init_inputs(**given)).double()}
        return self._models[key]

    def _set_weights(self, model, values):
        weights = dict(model.named_parameters())
        missing = [name for name in weights if name.replace('.', '_') not in self._inputs]
        if missing:
            raise Wrong('a kernel has to get the weights of Model as inputs, and task.json lacks ' + ', '.join(
                f"{name.replace('.', '_')} {list(weights[name].shape)}" for name in missing), line_of(model.forward))
        weights.update(model.named_buffers())
        used = set()
        for name, weight in weights.items():
            argument = name.replace('.', '_')
            if argument not in self._inputs:
                continue
            value = values[argument]
            if value.shape != weight.shape:
                raise Wrong(f'the module has {name} of the shape {list(weight.shape)}, and task.json says {list(value.shape)}; sizes can '
                            'be parameters of get_init_inputs', line_of(model.forward))
            weight.data.copy_(value)
            used.add(argument)
        return used

    def __call__(self, **values):
        model = self._model(values)
        used = self._set_weights(model, values)
        rest = [name for name in self._inputs if name not in used]
        parameters = inspect.signature(model.forward).parameters
        if all(name in values or one.default is not one.empty for name, one in parameters.items()):
            return model(**by_name(model.forward, values))
        needed = [name for name, one in parameters.items() if one.default is one.empty]
        if not len(needed) <= len(rest) <= len(parameters):
            raise Wrong(f"forward takes {', '.join(parameters)}, and the inputs of task.json that are no weights are {', '.join(rest)}",
                        line_of(model.forward))
        return model(*[values[name] for name in rest])
