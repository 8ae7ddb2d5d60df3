"""Kernels as people write them in Triton, for some operators. Each function takes what the one of operators.py takes."""
import torch
import triton
import triton.language as tl

LARGEST_ROW = 65536  # elements that a program keeps in registers


def warps_for(block):
    return 4 if block <= 2048 else 8 if block <= 8192 else 16


def block_for(x):
    if not x.is_contiguous() or x.shape[-1] > LARGEST_ROW:
        raise ValueError(f"rows of {x.shape[-1]} elements are more than a program takes")
    return triton.next_power_of_2(x.shape[-1])


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=float("-inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + at, values / tl.sum(values, axis=0), mask=inside)


def softmax(x):
    y, block = torch.empty_like(x), block_for(x)
    softmax_kernel[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=block, num_warps=warps_for(block))
    return y


@triton.jit
def layer_norm_kernel(x, gamma, beta, y, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    g = tl.load(gamma + at, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(beta + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * columns + at, centred * scale * g + b, mask=inside)


def layer_norm(x, gamma, beta, *, eps=1e-5):
    y, block = torch.empty_like(x), block_for(x)
    layer_norm_kernel[(x.numel() // x.shape[-1],)](x, gamma, beta, y, x.shape[-1], eps, BLOCK=block, num_warps=warps_for(block))
    return y


@triton.jit
def rms_norm_kernel(x, gamma, y, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(values * values, axis=0) / columns + eps)
    g = tl.load(gamma + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * columns + at, values * scale * g, mask=inside)


def rms_norm(x, gamma, *, eps=1e-6):
    y, block = torch.empty_like(x), block_for(x)
    rms_norm_kernel[(x.numel() // x.shape[-1],)](x, gamma, y, x.shape[-1], eps, BLOCK=block, num_warps=warps_for(block))
    return y


# A few settings that suit large and small products on Ampere and Hopper.
SETTINGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=w, num_stages=s)
    for m, n, k, w, s in (
        (128, 256, 64, 8, 3),
        (128, 128, 64, 8, 4),
        (128, 128, 32, 4, 4),
        (64, 128, 64, 4, 4),
        (64, 64, 64, 4, 4),
    )
]
GROUP = 8  # rows of blocks that follow one another, so that they share columns of B in L2


@triton.autotune(configs=SETTINGS, key=["m", "n", "k"])
@triton.jit
def gemm_kernel(
    a,
    b,
    c,
    m,
    n,
    k,
    a_row,
    a_column,
    b_row,
    b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    program = tl.program_id(0)
    blocks_m, blocks_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    first = program // (GROUP * blocks_n) * GROUP
    size = min(blocks_m - first, GROUP)
    block_m = first + program % (GROUP * blocks_n) % size
    block_n = program % (GROUP * blocks_n) // size
    rows = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_at = a + (rows % m)[:, None] * a_row + inner[None, :] * a_column
    b_at = b + inner[:, None] * b_row + (columns % n)[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - i * BLOCK_K
        total = tl.dot(
            tl.load(a_at, mask=inner[None, :] < left, other=0.0), tl.load(b_at, mask=inner[:, None] < left, other=0.0), total
        )
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    c_at = c + rows.to(tl.int64)[:, None] * n + columns[None, :]
    tl.store(c_at, total.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


def gemm(a, b, *, transposed):
    if transposed:
        b = b.transpose(-1, -2)
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)
    gemm_kernel[grid](a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), GROUP=GROUP)
    return c
