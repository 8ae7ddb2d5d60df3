"""The hard inputs of hard_inputs.py, as rows of numbers. Needs nothing but Python."""
import math

INFINITY = math.inf
DISTINCT_ROWS = 61   # of an input with more rows; they repeat


# One row of n values each. What lies where is drawn from `rng`.
def normal(rng, n):
    return [rng.gauss(0, 1) for _ in range(n)]


def with_one(rng, n, value, place=None):
    row = normal(rng, n)
    row[rng.randrange(n) if place is None else min(place, n - 1)] = value
    return row


def striped(rng, n, value):
    width = rng.choice([3, 31, 200])
    row = [x if (c // width) % 2 else value for c, x in enumerate(normal(rng, n))]
    row[rng.randrange(n)] = 0.25
    return row


def padded(rng, n, value):
    end = 1 + rng.randrange(n)
    return [x if c < end else value for c, x in enumerate(normal(rng, n))]


def spread(rng, n):
    return [math.copysign(math.exp(rng.uniform(-45, 14)), rng.random() - 0.5) for _ in range(n)]


ROWS = {
    "normal": normal,
    "30 x normal": lambda rng, n: [30 * x for x in normal(rng, n)],
    "1e12 x normal": lambda rng, n: [1e12 * x for x in normal(rng, n)],
    "one value of 200": lambda rng, n: with_one(rng, n, 200.0),
    "5000 at the end": lambda rng, n: with_one(rng, n, 5000.0, n - 1),
    "-400 at the start": lambda rng, n: with_one(rng, n, -400.0, 0),
    "333 at column 257": lambda rng, n: with_one(rng, n, 333.0, 257),
    "mask of -1e9 in stripes": lambda rng, n: striped(rng, n, -1e9),
    "mask of -1e9 at the end": lambda rng, n: padded(rng, n, -1e9),
    "mask of -inf in stripes": lambda rng, n: striped(rng, n, -INFINITY),
    "mask of -inf at the end": lambda rng, n: padded(rng, n, -INFINITY),
    "rising": lambda rng, n: [0.7 * c - 90 for c in range(n)],
    "falling": lambda rng, n: [120 - 0.9 * c for c in range(n)],
    "tiny": lambda rng, n: [1e-30 * x for x in normal(rng, n)],
    "denormal": lambda rng, n: [1e-41 * x for x in normal(rng, n)],
    "wide spread": spread,
    "all near -650": lambda rng, n: [x - 650 for x in normal(rng, n)],
    "all near -3e6": lambda rng, n: [1000 * x - 3e6 for x in normal(rng, n)],
    "mean of 3000": lambda rng, n: [x + 3000 for x in normal(rng, n)],
    "equal": lambda rng, n: [rng.choice([-7.5, 0.0, 3.25])] * n,
    "alternating": lambda rng, n: [(1 - 2 * (c % 2)) * 4000 + x for c, x in enumerate(normal(rng, n))],
    "sorted": lambda rng, n: sorted(5 * x for x in normal(rng, n)),
    "heavy tails": lambda rng, n: [math.tan(math.pi * (rng.random() - 0.5)) for _ in range(n)],
}
# For elements of 16 bits: Q, K and V each by one of these.
HALF_ROWS = {
    "normal": normal, "flat": lambda rng, n: [rng.uniform(-1, 1)] * n, "8 x normal": lambda rng, n: [8 * x for x in normal(rng, n)],
    "60 x normal": lambda rng, n: [60 * x for x in normal(rng, n)], "tiny": lambda rng, n: [3e-5 * x for x in normal(rng, n)],
    "large": lambda rng, n: [9000 * x for x in normal(rng, n)], "one value": lambda rng, n: [300.0 if c == n // 3 else 0.0 for c in range(n)],
}
ATTENTION_INPUTS = [(q, k, "normal") for q in ("normal", "8 x normal", "60 x normal", "tiny", "one value") for k in ("normal", "8 x normal", "60 x normal")]
ATTENTION_INPUTS += [("flat", "flat", "large"), ("normal", "tiny", "large"), ("8 x normal", "flat", "tiny"), ("60 x normal", "one value", "heavy last key")]


# No task has to handle what it does not define: only softmax knows masks, and a transpose computes nothing.
WITH_INFINITY = {"softmax", "transpose"}


def inputs_of(name):
    """The inputs of a task by name; for attention three names, for Q, K and V."""
    if name.startswith("attention"):
        return ATTENTION_INPUTS
    return [pattern for pattern in ROWS if name in WITH_INFINITY or "-inf" not in pattern]


def draw(pattern, rows, length, rng):
    """At most DISTINCT_ROWS rows of an input."""
    make = {**ROWS, **HALF_ROWS}.get(pattern, normal)
    some = [make(rng, length) for _ in range(min(rows, DISTINCT_ROWS))]
    if pattern == "heavy last key":
        some[-1] = [700.0] * length
    return some
