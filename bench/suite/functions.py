"""What PyTorch, its libraries and CuPy compute for the tasks; some have another function for double precision. operators.py says
what the parameters are. Importing this needs no PyTorch; calling a function does."""
import ctypes
import functools
import hashlib
import inspect
import os
import subprocess
import tempfile
from pathlib import Path

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = F = None


def longs(*arrays, **_):
    """PyTorch takes indices as int64 only."""
    return tuple(a.long() if a.dtype == torch.int32 else a for a in arrays)


# Rows of a matrix.
def softmax(x):
    return torch.softmax(x, -1)


def log_softmax(x):
    return torch.log_softmax(x, -1)


def layer_norm(x, gamma, beta, *, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def rms_norm(x, gamma, *, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], gamma, eps)


def row_sum(x):
    return x.sum(-1)


def transpose(x):
    return x.transpose(-1, -2).contiguous()


def l2_norm(x, *, eps=1e-12, out_shapes):
    """Norms of the rows, or the rows over their norms, as the output's shape says."""
    return F.normalize(x, dim=-1, eps=eps) if out_shapes[0] == tuple(x.shape) else torch.linalg.vector_norm(x, dim=-1)


def argmax(x):
    return x.argmax(-1)


def cumulative_sum(x):
    return torch.cumsum(x, -1, dtype=x.dtype)


def exclusive_sum(x):
    return F.pad(torch.cumsum(x[..., :-1], -1, dtype=x.dtype), (1, 0))


def vector_sum(x):
    return x.sum()


def mean_square_error(x, y):
    return F.mse_loss(x, y)


def group_norm(x, gamma=None, beta=None, *, groups=32, eps=1e-5):
    return F.group_norm(x, int(groups), gamma, beta, eps)


def instance_norm(x, gamma=None, beta=None, *, eps=1e-5):
    return F.instance_norm(x, weight=gamma, bias=beta, eps=eps)


def batch_norm(x, *others, eps=1e-5, names):
    """With the batch's own mean and variance, or with those that are inputs."""
    part = {}
    for name, value in zip(names[1:], others):
        name = name.lower()
        part["mean" if "mean" in name else "var" if "var" in name else "bias" if name.startswith("b") else "weight"] = value
    return F.batch_norm(x, part.get("mean"), part.get("var"), part.get("weight"), part.get("bias"), "mean" not in part, 0.0, eps)


def cross_entropy(logits, targets, *, reduction):
    return F.cross_entropy(logits, targets, reduction=reduction)


def kl_divergence(x, y, *, logs, reduction):
    """From the first distribution to the second. Where inputs are logarithms by name, as PyTorch takes them."""
    if logs == (0, 1):
        terms = F.kl_div(y, x, reduction="none", log_target=True)
    elif logs:
        terms = F.kl_div(*((x, y) if logs == (0,) else (y, x)), reduction="none")
    else:
        terms = F.kl_div(y.log(), x, reduction="none")
    return terms.sum(-1) if reduction == "none" else terms.sum() / (x.shape[0] if reduction == "mean" else 1)


# Elements, tables, counts.
def bias_gelu(x, bias, *, approximate):
    return F.gelu(x + bias, approximate=approximate)


def swiglu(x, y=None):
    """Of two arrays, gate first, or of one whose rows hold the gate and then the values."""
    gate, value = (x, y) if y is not None else x.chunk(2, -1)
    return F.silu(gate) * value


def adamw(
    gradient,
    parameter,
    m,
    v,
    *,
    lr=1e-3,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=1e-2,
    step=1,
    correction1=None,
    correction2=None,
):
    """One step; correction1 and correction2 are 1 - beta^step if the task has them as scalars."""
    c1 = 1 - beta1**step if correction1 is None else correction1
    c2 = 1 - beta2**step if correction2 is None else correction2
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient * gradient
    parameter = parameter * (1 - lr * weight_decay) - lr * (m / c1) / ((v / c2).sqrt() + eps)
    return parameter, m, v


def rotary_embedding(x, cosine, sine, *, interleaved):
    """Pairs of neighbours, or of the halves of a row, as the summary says. The table has a row for each position: the last
    dimension but one of x, or the one whose size it has."""
    dims = [d for d in range(x.dim() - 1) if x.shape[d] == cosine.shape[0]]
    shape = [1] * x.dim()
    shape[dims[-1] if dims else x.dim() - 2], shape[-1] = cosine.shape[0], cosine.shape[-1]
    c, s = cosine.reshape(shape), sine.reshape(shape)
    if interleaved:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * c - b * s, b * c + a * s), -1).flatten(-2)
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    c, s = c[..., :half], s[..., :half]
    return torch.cat((a * c - b * s, b * c + a * s), -1)


def histogram(x, *, out_shapes):
    return torch.bincount(x.reshape(-1), minlength=out_shapes[0][0])


def embedding_gather(a, b):
    table, indices = (a, b) if a.is_floating_point() else (b, a)
    return F.embedding(indices, table)


def quantize_int8(x, scale=None, *, out_shapes):
    """With a given scale, or with one a row (or one for all) that makes the largest magnitude 127; the outputs are then q and the
    scales. In fp32 at least."""
    x = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    if scale is not None:
        return torch.clamp(torch.round(x / scale), -127, 127).to(torch.int8)
    scales = x.abs().amax(-1, keepdim=True) / 127
    q = torch.clamp(torch.round(x / torch.where(scales > 0, scales, torch.ones_like(scales))), -127, 127).to(torch.int8)
    return (q, scales.reshape(out_shapes[1])) if len(out_shapes) > 1 else q


# Matrix products.
def right(b, transposed):
    return b.transpose(-1, -2) if transposed else b


def gemm(a, b, *, transposed):
    return a @ right(b, transposed)


def gemm_int8(a, b, *, transposed):
    return torch._int_mm(a, right(b, transposed))


def gemm_int8_truth(a, b, *, transposed):
    return a.double() @ right(b, transposed).double()


def gemv(a, x):
    return a @ x if a.dim() == 2 else x @ a


def linear_gelu(x, weight, bias, *, transposed, approximate):
    return F.gelu(torch.addmm(bias, x, right(weight, transposed)), approximate=approximate)


# Attention.
def attention(q, k, v, *, scale=None, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1])


def attention_truth(q, k, v, *, scale=None, causal):
    """A head at a time: all scores in double precision would not fit."""
    scale, group = scale if scale is not None else q.shape[-1] ** -0.5, q.shape[1] // k.shape[1]
    out = torch.empty_like(q)
    for batch in range(q.shape[0]):
        for head in range(q.shape[1]):
            scores = q[batch, head] @ k[batch, head // group].T * scale
            if causal:
                scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
            out[batch, head] = scores.softmax(-1) @ v[batch, head // group]
    return out


def one_query(q):
    """With the dimension of the queries, which is one here and may be left out."""
    return q if q.dim() == 4 else q.unsqueeze(2)


def attention_decode(q, k, v, *, scale=None):
    return attention(one_query(q), k, v, scale=scale, causal=False)


def attention_decode_truth(q, k, v, *, scale=None):
    return attention_truth(one_query(q), k, v, scale=scale, causal=False)


def with_backend(name, function):
    """scaled_dot_product_attention by one back end."""

    def call(*arrays, **keywords):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, name)):
            return function(*arrays, **keywords)

    call.__signature__ = inspect.signature(function)
    return call


def backends(function):
    return {
        "cuDNN": with_backend("CUDNN_ATTENTION", function),
        "flash": with_backend("FLASH_ATTENTION", function),
        "efficient": with_backend("EFFICIENT_ATTENTION", function),
    }


# Convolutions, pooling, grids, bodies, sparse matrices.
def conv2d_3x3(x, filters, bias=None):
    return F.conv2d(x, filters, bias, padding=1)


def conv2d_depthwise(x, filters, bias=None):
    return F.conv2d(x, filters.reshape(x.shape[1], 1, 3, 3), bias, padding=1, groups=x.shape[1])


def conv2d_pointwise(x, filters, bias=None):
    return F.conv2d(x, filters.reshape(filters.shape[0], filters.shape[1], 1, 1), bias)


def conv1d(x, filters, bias=None):
    """The output is as long as the input; an even number of taps has one zero less at the end."""
    taps = filters.shape[-1]
    if taps % 2:
        return F.conv1d(x, filters, bias, padding=taps // 2)
    return F.conv1d(F.pad(x, (taps // 2, taps - 1 - taps // 2)), filters, bias)


def tuned(function):
    """With cuDNN's own choice among its algorithms."""

    def call(*arrays, **keywords):
        torch.backends.cudnn.benchmark = True
        try:
            return function(*arrays, **keywords)
        finally:
            torch.backends.cudnn.benchmark = False

    call.__signature__ = inspect.signature(function)
    return call


def max_pool_2d(x, *, kernel=0, stride=0, padding=0, window):
    return F.max_pool2d(x, int(kernel) or window[0], int(stride) or window[1], int(padding) or window[2])


def max_pool_3d(x, *, kernel=0, stride=0, padding=0, window):
    return F.max_pool3d(x, int(kernel) or window[0], int(stride) or window[1], int(padding) or window[2])


def average_pool(x, *, kernel=0, stride=0, padding=0, window, padding_counts, out_shapes):
    """Without a window the mean of each channel."""
    if len(out_shapes[0]) < x.dim() or set(out_shapes[0][2:]) == {1}:
        return x.flatten(2).mean(-1)
    pool = F.avg_pool3d if x.dim() == 5 else F.avg_pool2d
    return pool(
        x, int(kernel) or window[0], int(stride) or window[1], int(padding) or window[2], count_include_pad=padding_counts
    )


def stencil_5_point(x, *, alpha):
    y = x.clone()
    inner = x[1:-1, 1:-1]
    y[1:-1, 1:-1] = inner + alpha * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * inner)
    return y


def stencil_27_point(x, coefficients):
    """Three sums along each axis, of what lies at distance 0 to 3; the coefficients follow the distance."""
    sums = [x]  # by the number of dimensions in which the neighbour is another
    for dimension in range(3):
        size = x.shape[dimension] - 2
        middle = [s.narrow(dimension, 1, size) for s in sums] + [0]
        sides = [0] + [s.narrow(dimension, 0, size) + s.narrow(dimension, 2, size) for s in sums]
        sums = [a + b for a, b in zip(middle, sides)]
    y = x.clone()
    y[1:-1, 1:-1, 1:-1] = sum(coefficients[i] * s for i, s in enumerate(sums))
    return y


def n_body(positions, masses, *, eps):
    difference = positions[None] - positions[:, None]
    square = (difference * difference).sum(-1) + eps * eps
    return (difference * (masses[None] * square.rsqrt() / square)[..., None]).sum(1)


def n_body_truth(positions, masses, *, eps):
    rows = []
    for part in positions.split(1024):
        difference = positions[None] - part[:, None]
        square = (difference * difference).sum(-1) + eps * eps
        rows.append((difference * (masses[None] / (square * square.sqrt()))[..., None]).sum(1))
    return torch.cat(rows)


def sparse_matrix(offsets, columns, values, x, **_):
    """PyTorch's matrix; the vector."""
    return torch.sparse_csr_tensor(offsets, columns, values, size=(offsets.numel() - 1, x.numel())), x


def spmv_csr(matrix, x):
    return matrix @ x


def spmv_csr_truth(offsets, columns, values, x):
    lengths = (offsets[1:] - offsets[:-1]).long()
    rows = torch.repeat_interleave(torch.arange(lengths.numel(), device=x.device), lengths)
    return torch.zeros(lengths.numel(), dtype=x.dtype, device=x.device).index_add_(0, rows, values * x[columns.long()])


# CuPy, which uses CUB for much of this, on PyTorch's memory. Its default stream is PyTorch's.
def cupy_function(name):
    def call(x, *, out_shapes):
        import cupy

        array = cupy.asarray(x)
        if name == "bincount":
            return cupy.bincount(array.reshape(-1), minlength=out_shapes[0][0])
        rows = {"axis": -1} if array.ndim > 1 else {}
        return getattr(cupy, name)(array, **rows, **({"dtype": array.dtype} if name in ("sum", "cumsum") else {}))

    return call


# CUB itself, of the CUDA toolkit: no call of PyTorch or CuPy is its histogram.
@functools.cache
def cub_library():
    """cub_peers.cu compiled for the GPU of this process; once for a text, in the folder of temporary files."""
    from measure.driver import nvcc

    source = Path(__file__).resolve().parent / "cub_peers.cu"
    arch = "sm_{}{}".format(*torch.cuda.get_device_capability())
    name = f"evo_cub_{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}_{arch}_{os.getuid()}.so"
    library = Path(tempfile.gettempdir()) / name
    if not library.exists():
        made = f"{library}.{os.getpid()}"
        options = ["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", f"-arch={arch}"]
        subprocess.run([nvcc(), *options, "-o", made, source], check=True, capture_output=True, timeout=300)
        os.replace(made, library)
    return ctypes.CDLL(str(library))


def cub_function(name):
    """`inclusive_sum` of floats or `histogram` of integers, a bin for each value; workspace and output are made at the first call."""
    made = {}

    def call(x, *, out_shapes):
        function, pointer = getattr(cub_library(), f"cub_{name}"), lambda tensor: ctypes.c_void_p(tensor.data_ptr())
        bins = [ctypes.c_int(out_shapes[0][0])] if name == "histogram" else []
        if "out" not in made:
            made["out"] = torch.empty(out_shapes[0], dtype=x.dtype, device=x.device)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        bytes_needed = ctypes.c_size_t(0)
        rest = [pointer(x), pointer(made["out"]), *bins, ctypes.c_int64(x.numel()), stream]
        if "workspace" not in made:
            function(None, ctypes.byref(bytes_needed), *rest)
            made["workspace"] = torch.empty(max(1, bytes_needed.value), dtype=torch.uint8, device=x.device)
        bytes_needed.value = made["workspace"].numel()
        status = function(pointer(made["workspace"]), ctypes.byref(bytes_needed), *rest)
        if status:
            raise RuntimeError(f"CUB: CUDA error {status}")
        return made["out"]

    return call
