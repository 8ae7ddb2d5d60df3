"""For each task the PyTorch function that people would call, the vendor's library and Triton kernels where there are any.

A function gets the task's `in` arrays in declared order, then its `inout` ones. Keyword parameters are found among the task's
scalars and sizes by name, without regard to case, or by one of ALIASES; those in DERIVED follow from what else the task says
(About). All are plain values, so that torch.compile sees constants. It returns the outputs in declared order: a tensor, or a
tuple. Importing this needs no PyTorch; calling a function does."""
import inspect
import re
from dataclasses import dataclass, field
from typing import Callable

import functions as f

ALIASES = {
    "lr": ("learning_rate", "rate", "step_size"),
    "weight_decay": ("decay", "wd", "lambda_"),
    "beta1": ("b1",),
    "beta2": ("b2",),
    "eps": ("epsilon",),
    "correction1": ("bias_correction1", "c1", "correct1"),
    "correction2": ("bias_correction2", "c2", "correct2"),
    "step": ("t", "steps"),
    "groups": ("g", "group"),
    "bins": ("nbins", "buckets", "b"),
    "kernel": ("window", "pool"),
}


class NotMapped(Exception):
    """The task and its entry here do not fit."""


@dataclass
class About:
    """What a task says beside its arguments: its one-line summary, names and shapes of the inputs, also as written, and the
    outputs' shapes."""

    name: str
    summary: str
    names: list
    shapes: list
    symbols: list
    out_shapes: list

    @property
    def logs(self):
        """The places of inputs that are logarithms by name."""
        return tuple(i for i, name in enumerate(self.names) if "log" in name.lower())

    def said(self, pattern):
        found = re.search(pattern, self.summary, re.I)
        return found and (found.group(1) if found.groups() else True)


def reduction_of(about):
    """Of a loss: none where the output has one for each row."""
    if about.out_shapes[0] == about.shapes[0][:1]:
        return "none"
    return "mean" if about.said("mean|average|batch|/ ROWS|/ N") else "sum"


def stored_transposed(about):
    """Whether the second matrix is stored as the weights of torch.nn.Linear are."""
    a, b = about.symbols[:2]
    return len(b) > 1 and b[-1] == a[-1] and b[-2] != a[-1]


def window_of(about):
    """Window, stride and padding: `2x2`, `stride 2`, `padding 1` of the summary. Without a word about it the padding is what the
    output's size needs."""
    window = int(about.said(r"(\d) ?x ?\d") or 2)
    stride = int(about.said(r"stride (\d)") or window)
    padding = about.said(r"padding (\d)")
    if padding is None:
        padding = max(0, -(-((about.out_shapes[0][-1] - 1) * stride + window - about.shapes[0][-1]) // 2))
    return window, stride, int(padding)


DERIVED = {
    "approximate": lambda about: "tanh" if about.said("tanh") else "none",
    "causal": lambda about: "causal" in about.name,
    "interleaved": lambda about: bool(about.said(r"neighbour|interleav|\b2 ?i\b|\[2|2\*i|even")),
    "logs": lambda about: about.logs,
    "names": lambda about: tuple(about.names),
    "out_shapes": lambda about: tuple(about.out_shapes),
    "padding_counts": lambda about: bool(about.said("zeros? count|padding counts")),
    "reduction": reduction_of,
    "transposed": stored_transposed,
    "window": window_of,
}


@dataclass
class Operator:
    function: Callable  # eager, and what torch.compile gets
    truth: Callable | None = None  # on doubles; `function` if there is none
    prepare: Callable | None = None  # makes of the arrays what the peers get, outside of the time
    eager_is: str = ""  # the vendor's library behind eager, if it is one
    libraries: dict = field(default_factory=dict)  # name: function, called as `function` is
    triton: str = ""  # name of a function of triton_kernels.py
    compiles: bool = True  # whether torch.compile is asked


def about(task):
    return About(
        task.name,
        task.summary,
        [a.name for a in task.inputs],
        [a.dims for a in task.inputs],
        [a.symbols for a in task.inputs],
        [a.dims for a in task.outputs],
    )


def keywords_of(function, task):
    """The keyword arguments of a function for a task. Raises NotMapped for too few or too many arrays, and for a value that the
    task does not have."""
    values = {name.lower(): value for name, value in task.variables.items()}
    found, arrays, least, variadic = {}, 0, 0, False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind == parameter.VAR_POSITIONAL:
            variadic = True
        elif parameter.kind != parameter.KEYWORD_ONLY:
            arrays += 1
            least += parameter.default is parameter.empty
        elif name in DERIVED:
            found[name] = DERIVED[name](about(task))
        else:
            known = next((values[n] for n in (name, *ALIASES.get(name, ())) if n in values), parameter.default)
            if known is parameter.empty:
                raise NotMapped(f"{task.name}: operators.py looks for {name}, which is neither a scalar nor a size of the task")
            found[name] = known
    if not least <= len(task.inputs) or (len(task.inputs) > arrays and not variadic):
        raise NotMapped(
            f"{task.name}: operators.py expects {least if least == arrays else f'{least} to {arrays}'} inputs, "
            f"the task has {len(task.inputs)}"
        )
    return found


ATTENTION = Operator(f.attention, f.attention_truth, libraries=f.backends(f.attention))
DECODE = Operator(f.attention_decode, f.attention_decode_truth, libraries=f.backends(f.attention_decode))
GEMM = Operator(f.gemm, eager_is="cuBLAS")
HALF_GEMM = Operator(f.gemm, eager_is="cuBLAS", triton="gemm")
SCAN = Operator(f.cumulative_sum, libraries={"CuPy": f.cupy_function("cumsum")})
HISTOGRAM = Operator(f.histogram, libraries={"CuPy": f.cupy_function("bincount"), "CUB": f.cub_function("histogram")})


def convolution(function):
    return Operator(function, eager_is="cuDNN", libraries={"cuDNN tuned": f.tuned(function)})


OPERATORS = {
    "softmax": Operator(f.softmax, triton="softmax"),
    "log_softmax": Operator(f.log_softmax),
    "layer_norm": Operator(f.layer_norm, triton="layer_norm"),
    "rms_norm": Operator(f.rms_norm, triton="rms_norm"),
    "group_norm": Operator(f.group_norm),
    "instance_norm": Operator(f.instance_norm),
    "batch_norm": Operator(f.batch_norm),
    "row_sum": Operator(f.row_sum, libraries={"CuPy": f.cupy_function("sum")}),
    "transpose": Operator(f.transpose),
    "l2_norm": Operator(f.l2_norm),
    "argmax": Operator(f.argmax, libraries={"CuPy": f.cupy_function("argmax")}),
    "vector_sum": Operator(f.vector_sum, libraries={"CuPy": f.cupy_function("sum")}),
    "mean_square_error": Operator(f.mean_square_error),
    "prefix_sum": Operator(f.cumulative_sum, libraries={**SCAN.libraries, "CUB": f.cub_function("inclusive_sum")}),
    "cumulative_sum": SCAN,
    "prefix_sum_exclusive": Operator(f.exclusive_sum),
    "cross_entropy": Operator(f.cross_entropy, prepare=f.longs),
    "kl_divergence": Operator(f.kl_divergence),
    "bias_gelu": Operator(f.bias_gelu),
    "swiglu": Operator(f.swiglu),
    "adamw": Operator(f.adamw),
    "rotary_embedding": Operator(f.rotary_embedding),
    "histogram": HISTOGRAM,
    "histogram_contended": HISTOGRAM,
    "embedding_gather": Operator(f.embedding_gather, prepare=f.longs),
    "quantize_int8": Operator(f.quantize_int8),
    "max_pool_2d": Operator(f.max_pool_2d),
    "max_pool_3d": Operator(f.max_pool_3d),
    "average_pool": Operator(f.average_pool),
    "gemm": GEMM,
    "gemm_fp16": HALF_GEMM,
    "gemm_bf16": HALF_GEMM,
    "gemm_fp16_large": HALF_GEMM,
    "gemm_batched": GEMM,
    "gemm_tall_skinny": GEMM,
    "gemm_large_k": GEMM,
    "gemv": Operator(f.gemv, eager_is="cuBLAS"),
    "gemm_int8": Operator(f.gemm_int8, f.gemm_int8_truth, eager_is="cuBLAS"),
    "linear_gelu": Operator(f.linear_gelu),
    "linear_gelu_bf16": Operator(f.linear_gelu),
    **{
        name: ATTENTION
        for name in (
            "attention",
            "attention_causal",
            "attention_d128",
            "attention_causal_d128",
            "attention_bf16",
            "attention_gqa",
        )
    },
    "attention_decode": DECODE,
    "conv2d_3x3": convolution(f.conv2d_3x3),
    "conv2d_3x3_fp16": convolution(f.conv2d_3x3),
    "conv2d_depthwise": convolution(f.conv2d_depthwise),
    "conv2d_pointwise": convolution(f.conv2d_pointwise),
    "conv1d": convolution(f.conv1d),
    "stencil_5_point": Operator(f.stencil_5_point),
    "stencil_27_point": Operator(f.stencil_27_point),
    "n_body": Operator(f.n_body, f.n_body_truth),
    "spmv_csr": Operator(f.spmv_csr, f.spmv_csr_truth, prepare=f.sparse_matrix, eager_is="cuSPARSE", compiles=False),
}
QUICK = ("softmax", "layer_norm", "row_sum", "transpose", "gemm", "gemm_fp16", "attention", "prefix_sum")


def check_mapping(task):
    """Raises NotMapped unless the task has an entry that fits its arguments."""
    operator = OPERATORS.get(task.name)
    if operator is None:
        raise NotMapped(f"{task.name}: operators.py has no entry for it")
    if operator.prepare in (None, f.longs):
        keywords_of(operator.function, task)
    keywords_of(operator.truth or operator.function, task)
    return operator
