"""The Mann-Whitney U test, two-sided: whether one of two samples tends to be smaller, whatever their distributions."""
import math


def wins(a, b):
    """Pairs in which b is smaller than a; a tie is half a win."""
    return sum(1.0 if y < x else 0.5 if y == x else 0.0 for x in a for y in b)


def win_probability(a, b):
    """That a value of b is smaller than one of a."""
    return wins(a, b) / (len(a) * len(b))


def exact_counts(n, m):
    """How many of the orders of n and m values without ties have each U, from 0 to n * m."""
    # Recurrence of Mann and Whitney (1947): the largest value belongs to one sample or the other.
    table = {}

    def counts(i, j):
        if i == 0 or j == 0:
            return [1]
        if (i, j) not in table:
            total = [0] * (i * j + 1)
            for u, count in enumerate(counts(i - 1, j)):
                total[u + j] += count
            for u, count in enumerate(counts(i, j - 1)):
                total[u] += count
            table[i, j] = total
        return table[i, j]

    return counts(n, m)


def variance_of_wins(a, b):
    """Of wins(a, b) if both samples are of one distribution, corrected for ties."""
    pooled = a + b
    total = len(pooled)
    ties = [pooled.count(value) for value in set(pooled)]
    return len(a) * len(b) / 12 * (total + 1 - sum(t**3 - t for t in ties) / (total * (total - 1)))


def stratified_p_value(strata):
    """Two-sided, of several pairs of samples (a, b) together: the test of van Elteren (1960), by the normal approximation. nan if no pair has values that differ."""
    difference = variance = 0.0
    for a, b in strata:
        if not a or not b:
            continue
        weight = 1 / (len(a) + len(b) + 1)
        difference += weight * (wins(a, b) - len(a) * len(b) / 2)
        variance += weight**2 * variance_of_wins(a, b)
    return math.erfc(abs(difference) / math.sqrt(2 * variance)) if variance > 0 else math.nan


def p_value(a, b):
    """Two-sided. Exact without ties and with at most 30 values each, else by the normal approximation with corrections for ties and continuity."""
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return math.nan
    u = min(wins(a, b), n * m - wins(a, b))
    if len(set(a + b)) == n + m and max(n, m) <= 30:
        counts = exact_counts(n, m)
        return min(1.0, 2 * sum(counts[: int(u) + 1]) / sum(counts))
    variance = variance_of_wins(a, b)
    if variance == 0:
        return 1.0
    z = max(0.0, abs(u - n * m / 2) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def holm(values):
    """The p-values of several tests, adjusted so that the chance of any false finding stays what it is for one (Holm, 1979)."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = largest
    return adjusted
