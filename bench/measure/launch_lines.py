"""The launch lines of evo's kernels: their directives, clauses and formulas. Needs nothing but Python."""
import re

from measure import formulas


def directives(text, word):
    joined = re.sub(r"\\\s*\n\s*//", " ", text)
    return [m.group(1).strip() for m in re.finditer(rf"^\s*// evo:{word} (.*)$", joined, re.M)]


def split_at_commas(text):
    parts, depth, part = [], 0, ""
    for c in text:
        depth += c in "(<["
        depth -= c in ")>]"
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def clause(line, name):
    at = re.search(rf"\b{name}\(", line)
    if not at:
        return None
    depth, end = 1, at.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        end += 1
    return split_at_commas(line[at.end():end - 1])


def evaluate(expression, variables):
    """A formula of a launch line, in integers."""
    return int(formulas.evaluate(expression, variables))
