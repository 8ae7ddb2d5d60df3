"""What a result must be."""
from evo_reference_file import Wrong


def check(name, kind, shape, dtype, wanted, remedy):
    """Refuses a result that is not what task.json says. A result in less than double precision would be an error in every verdict,
    and its author seldom knows of it: inputs come as float64."""
    elements = 1
    for extent in wanted:
        elements *= extent
    if shape != wanted and not (elements == 1 and all(extent == 1 for extent in shape)):
        raise Wrong(f'has the shape {list(shape)}, and task.json says {list(wanted)}')
    if dtype[0] in 'fb':
        if kind == 'f' and name != 'float64':
            raise Wrong(f'is {name}, and a reference computes in float64, as its inputs come: {remedy}, or return it as float64 '
                        'where less is meant')
        if kind not in 'fiub':
            raise Wrong(f'has elements of type {name}; return real numbers')
    elif kind not in 'iub':
        raise Wrong(f'has elements of type {name}, and task.json says {dtype}; return integers')
