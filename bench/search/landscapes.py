"""Computed landscapes for `evo study`: each a list of parameters and a function from a setting to a time, or None where it fails.

Nothing is drawn at random: what looks like chance is a digest of the setting, so that the same landscape comes out everywhere.
"""
import csv
import hashlib
import itertools
import math


def chance(*key):
    """Uniform in [0, 1), a function of the key."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2.0**64


def normal(*key):
    return math.sqrt(-2 * math.log(1 - chance("radius", *key))) * math.cos(2 * math.pi * chance("angle", *key))


def grid(sizes, score, words=False):
    """Every combination of so many levels; words are such that their order says nothing."""
    spell = (lambda d, v: f"w{hashlib.blake2b(f'{d} {v}'.encode(), digest_size=3).hexdigest()}") if words else (lambda d, v: v)
    names = [f"P{d}" for d in range(len(sizes))]
    points = itertools.product(*(range(size) for size in sizes))
    return names, [([spell(d, v) for d, v in enumerate(x)], score(x)) for x in points]


def listed(values, score):
    """Every combination of these values."""
    names = [f"P{d}" for d in range(len(values))]
    return names, [(list(x), score(x)) for x in itertools.product(*values)]


def smooth(x):
    centre, slope = (3, 1, 4, 2), (0.10, 0.07, 0.04, 0.12)
    return 100 * math.exp(sum(s * (a - c) ** 2 for a, c, s in zip(x, centre, slope)))


def rough(x, name="rough", strength=0.4):
    pairs = itertools.combinations(range(len(x)), 2)
    return 100 * math.exp(strength * sum(chance(name, i, j, x[i], x[j]) for i, j in pairs))


def binary(x):
    """Every parameter acts together with three others (an NK landscape with K = 3)."""
    n = len(x)
    return 100 * math.exp(2.5 * sum(chance("binary", i, *(x[(i + k * k) % n] for k in range(4))) for i in range(n)) / n * 2)


def words(x):
    alone = sum(chance("word", d, v) for d, v in enumerate(x))
    return 100 * math.exp(0.5 * alone + 0.25 * sum(chance("words", d, x[d], x[d + 1]) for d in range(len(x) - 1)))


def occupancy(x):
    """Threads, elements a thread, stages of shared memory, unrolling: blocks that fit a multiprocessor come in whole numbers."""
    threads, items, stages, unroll = 32 << x[0], 1 << x[1], 1 + x[2], 1 << x[3]
    registers = 24 + 4 * items + 3 * unroll + 2 * stages
    shared = threads * items * 4 * stages
    if threads > 1024 or shared > 100 * 1024 or registers > 255:
        return None
    blocks = min(2048 // threads, 65536 // (threads * (-(-registers // 8) * 8)), 228 * 1024 // (shared + 1024), 32)
    if blocks == 0:
        return None
    occupied = blocks * threads / 2048
    latency = 1 / (1 - math.exp(-3 * occupied * (1 + 0.25 * math.log2(items * unroll * stages))))
    return 100 * latency * (1 + 0.6 / items + 0.25 / unroll + 0.03 * unroll + 0.02 * stages + abs(math.log2(threads / 256)) * 0.03)


CONVOLUTION = (4, 4, 5, 4, 4, 4, 3)


def convolution(x):
    """Tiles, work a thread, vectors, caching: block and tile have to fit one another."""
    block_x, block_y, tile_x, tile_y, vector, unroll, cached = 8 << x[0], 2 << x[1], 1 << x[2], 1 << x[3], 1 << x[4], x[5], x[6]
    threads = block_x * block_y
    if threads > 1024 or tile_x % vector:
        return None
    reuse = (block_x * tile_x * block_y * tile_y) / ((block_x * tile_x + 16) * (block_y * tile_y + 16))
    work = tile_x * tile_y
    spills = max(0.0, work / 48 - 1)
    fill = min(1.0, 4096 / (threads * work)) * min(1.0, threads / 128)
    uneven = 0.05 * normal("convolution", *x)
    return 100 * math.exp(0.8 * (1 - reuse) + 0.35 * spills - 0.3 * fill - 0.12 * min(vector, 4) / (1 + (block_x < 32)) - 0.07 * unroll
                          - (0.25 if cached == 1 and reuse < 0.6 else 0.1 * cached * fill) + uneven)


def with_failures(score, part):
    """A convolution of which so many more settings fail, by what their parameters ask for together."""
    def failing(x):
        return None if score(x) is None or chance("rule", x[0] * x[3], x[2] + x[5]) < part else score(x)
    return failing


def disturbed(score, deviation, name):
    def noisy(x):
        value = score(x)
        return None if value is None else value * math.exp(deviation * normal(name, *x))
    return noisy


def failing(x):
    if x[0] + x[1] > 6 or x[2] == x[3] or chance("fails", *x) < 0.15:
        return None
    return smooth(x) * math.exp(0.1 * normal("failing", *x))


def needles(x):
    return {(1, 4, 2, 7): 100.0, (6, 0, 5, 3): 105.0}.get(tuple(x), 240 * math.exp(0.08 * normal("needles", *x)))


NEEDLES = (8, 6, 6, 8)


BLOCKS = (range(16, 272, 16), (1, 2, 3, 4, 6, 8), (1, 2, 3, 4, 5, 6, 7, 8), (1, 2, 4), (0, 1))


def blocks(x):
    """A block of threads in multiples of 16, of which whole warps and aligned rows are fast; work a thread, vectors, caching."""
    width, height, work, vector, cached = x
    threads = width * height
    if threads > 1024 or work % vector:
        return None
    idle = -(-threads // 32) * 32 / threads
    rows = 1 + 0.35 * (width % 32 != 0) + 0.12 * (width % 64 != 0)
    resident = max(1, min(32, 2048 // (-(-threads // 32) * 32), 65536 // (threads * (20 + 5 * work))))
    occupied = min(1.0, resident * threads / 2048)
    latency = 1 / (1 - math.exp(-4 * occupied * (1 + 0.3 * math.log2(work))))
    reread = 1 + 0.5 / min(height * work, 24) - 0.1 * cached * (height > 2)
    return 100 * idle * rows * latency * reread * (1 + 0.2 / vector) * math.exp(0.03 * normal("blocks", *x))


def strides(x):
    """Tiles with a padded row: a stride that 32 divides meets the same banks again, an odd one does not."""
    tile, pad, depth, unroll = x
    stride = tile + pad
    ways = math.gcd(stride, 32)
    shared = stride * depth * 4 * 16
    if shared > 100 * 1024:
        return None
    reuse = 1 + 24 / tile + 4 / depth
    vector = 1.0 if stride % 4 == 0 else 1.15
    blocks_resident = max(1, min(16, 228 * 1024 // (shared + 1024)))
    return 100 * reuse * vector * (1 + 0.06 * ways) * (1 + 0.8 / blocks_resident) * (1 + 0.1 / unroll) * math.exp(0.03 * normal("strides", *x))


STRIDES = (range(8, 136, 8), range(0, 9), (4, 8, 12, 16, 24, 32), (1, 2, 3, 4))


def noise(number):
    return lambda x: 100 * math.exp(0.25 * normal("noise", number, *x))


def computed():
    """(heading, [landscape, ..]) in the order of the table; several landscapes of one heading are averaged."""
    return [
        ("smooth, separable", [grid((7, 6, 8, 5), smooth)]),
        ("rough: interactions of all pairs", [grid((7, 6, 8, 5), rough)]),
        ("12 binary parameters, interactions of four", [grid((2,) * 12, binary)]),
        ("words only", [grid((6, 5, 7, 6), words, words=True)]),
        ("cliffs of occupancy", [grid((6, 6, 4, 5), occupancy)]),
        ("like a convolution, 7 parameters", [grid(CONVOLUTION, convolution)]),
        ("the same, many points fail", [grid(CONVOLUTION, with_failures(convolution, 0.45))]),
        ("the same, times 25% apart by chance", [grid(CONVOLUTION, disturbed(convolution, 0.25, "convolution"))]),
        ("failures by rules and by chance", [grid((7, 6, 8, 5), failing)]),
        ("blocks in multiples of 16", [listed(BLOCKS, blocks)]),
        ("tiles with padded rows", [listed(STRIDES, strides)]),
        ("two good points among noise", [grid(NEEDLES, needles)]),
        ("nothing but noise, ten of them", [grid((6, 6, 6, 6), noise(n)) for n in range(10)]),
    ]


def write(file, names, points):
    """As `evo study` reads it."""
    with open(file, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow([*names, "status", "median_us"])
        for levels, score in points:
            table.writerow([*levels, "failed" if score is None else "ok", "" if score is None else f"{score:.6g}"])


def shuffled(source, file):
    """The points of a measured landscape, each with the score of another that was ok: nothing is left to learn but how scores are spread."""
    with open(source, newline="") as text:
        rows = list(csv.DictReader(text))
    ok = [i for i, row in enumerate(rows) if row["status"] == "ok"]
    order = sorted(ok, key=lambda i: chance("shuffled", i))
    scores = [rows[i]["median_us"] for i in order]
    for i, score in zip(ok, scores):
        rows[i]["median_us"] = score
    with open(file, "w", newline="") as out:
        table = csv.DictWriter(out, rows[0].keys())
        table.writeheader()
        table.writerows(rows)
