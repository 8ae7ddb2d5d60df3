"""Time in which a device is busy, from the records of a profiler. Needs nothing but Python."""


def busy(records):
    """Nanoseconds in which at least one of the records (start, end, ..) runs. A record that contains another one is left out: kernels of one stream do
    not, and PyTorch's profiler has records of regions, such as what torch.compile made, beside those of their kernels."""
    inner = [(r[0], r[1]) for i, r in enumerate(records) if not any(contains(r, i, other, j) for j, other in enumerate(records))]
    total, reached = 0, float("-inf")
    for start, end in sorted(inner):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def contains(one, i, other, j):
    """Of two equal ones the first counts as within the second."""
    return i != j and one[0] <= other[0] and other[1] <= one[1] and ((one[0], one[1]) != (other[0], other[1]) or i > j)
