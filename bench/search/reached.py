"""How many evaluations a search needs until it is within 95% of a final result, and whether two arms differ in that."""
import math
import statistics

import rank_test

SHARE = 0.95
TARGETS = {"own": "its own", "first": "the first arm's median", "task": "the task's"}


def evaluations_until(scores, target):
    """Number of the first of `scores` (None: failed) that is at most `target`; inf if none is."""
    for number, score in enumerate(scores, 1):
        if score is not None and score <= target:
            return number
    return math.inf


def best(scores):
    return min((score for score in scores if score is not None), default=math.inf)


def middle(values):
    return statistics.median(values) if values else math.nan


def ratio_of(reference, ours, lengths):
    """(how many times as many evaluations the reference needs, "" or ">" or "<"): a median that was not reached is at least the length of a run in the middle."""
    before, after = middle(reference), middle(ours)
    if math.isnan(before) or math.isnan(after) or math.isinf(before) and math.isinf(after):
        return math.nan, ""
    if math.isinf(before):
        return middle(lengths[0]) / after, ">"
    return (before / middle(lengths[1]), "<") if math.isinf(after) else (before / after, "")


def measures_of(task, arms):
    """`arms`: [(name, [scores of a run, ..])], the first is what the others are compared with. A list of one entry for each arm and target: of each run its own best, the
    median result of the first arm, and the best of all runs of the task."""
    overall = min((best(scores) for _, runs in arms for scores in runs), default=math.inf)
    found = []
    usual = middle([best(scores) for scores in arms[0][1]]) if arms else math.nan
    for target in TARGETS:
        first, first_lengths = [], []
        for place, (name, runs) in enumerate(arms):
            needed = [evaluations_until(scores, {"own": best(scores), "first": usual, "task": overall}[target] / SHARE) for scores in runs]
            lengths = [len(scores) for scores in runs]
            entry = {"task": task, "target": target, "arm": name, "evaluations": [None if math.isinf(n) else n for n in needed], "runs": len(runs),
                     "reached": sum(not math.isinf(n) for n in needed), "median": middle(needed), "median_run": middle(lengths)}
            if place == 0:
                first, first_lengths = needed, lengths
            else:
                entry["before"] = [None if math.isinf(n) else n for n in first]
                entry["ratio"], entry["bound"] = ratio_of(first, needed, (first_lengths, lengths))
                entry["p"] = rank_test.p_value(first, needed) if len(first) > 1 and len(needed) > 1 else math.nan
                entry["sooner"] = rank_test.win_probability(first, needed) if first and needed else math.nan
            found.append(entry)
    return found


def add_holm(entries):
    """Adds "holm" where there is a p-value: adjusted over all tasks and arms, for each target by itself, since these ask one question three times."""
    for target in TARGETS:
        tested = [entry for entry in entries if entry["target"] == target and not math.isnan(entry.get("p", math.nan))]
        for entry, adjusted in zip(tested, rank_test.holm([entry["p"] for entry in tested])):
            entry["holm"] = adjusted


def overall_ratios(entries):
    """{(target, arm): (geometric mean of the ratios over the tasks, how many tasks have one that is no bound)}"""
    logs = {}
    for entry in entries:
        ratio = entry.get("ratio", math.nan)
        if not math.isnan(ratio) and not entry["bound"]:
            logs.setdefault((entry["target"], entry["arm"]), []).append(math.log(ratio))
    return {key: (math.exp(statistics.mean(of)), len(of)) for key, of in logs.items()}


def left_out(entries, target, arm):
    """What the mean of the ratios leaves out, in words."""
    bounds = [entry["bound"] for entry in entries if (entry["target"], entry["arm"]) == (target, arm) and entry.get("bound")]
    words = {"<": "that the arm does not reach", ">": "that only the arm reaches"}
    return "".join(f", without {bounds.count(bound)} {what}" for bound, what in words.items() if bound in bounds)


def overall_p_values(entries):
    """{(target, arm): p of all tasks together}"""
    strata = {}
    for entry in entries:
        if "before" in entry:
            samples = tuple([math.inf if n is None else n for n in entry[key]] for key in ("before", "evaluations"))
            strata.setdefault((entry["target"], entry["arm"]), []).append(samples)
    return {key: rank_test.stratified_p_value(of) for key, of in strata.items()}


def without_nan(value):
    """JSON has neither nan nor inf: null."""
    if isinstance(value, dict):
        return {key: without_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value, digits):
    return "" if value is None or math.isnan(value) else f"{value:.{digits}g}"


def _row(entry):
    median = f"over {entry['median_run']:.0f}" if math.isinf(entry["median"]) else _number(entry["median"], 4)
    return [entry["task"], TARGETS[entry["target"]], entry["arm"], f"{entry['reached']} of {entry['runs']}", median, entry.get("bound", "") + _number(entry.get("ratio"), 3),
            _number(entry.get("sooner"), 2), _number(entry.get("p"), 2), _number(entry.get("holm"), 2)]


def lines_of(entries):
    """The table as lines of Markdown, with what its columns mean and the means over the tasks."""
    first = entries[0]["arm"]
    share = f"{100 * SHARE:.0f}%"
    yield (f"Evaluations until a search is at {share} of a final result: the first candidate whose time is at most 1/{SHARE} of the best of its own run, of the median "
           f"result of {first}, or of the best of all runs of the task. A run that ends with a slow kernel reaches its own best soon; the others are fairer. A run that never gets there counts as later "
           f"than all that do. The result of {first} comes from one of the two samples, so that p of that target is a hint only. Ratio: the median of {first} over that of the arm, so above 1 the arm is sooner. p: Mann-Whitney U, two-sided; Holm: over the tasks.")
    yield ""
    head = ["task", "best", "arm", "reached", "evaluations, median", "ratio", "P(sooner)", "p", "Holm"]
    yield "| " + " | ".join(head) + " |"
    yield "| --- " * len(head) + "|"
    for entry in entries:
        yield "| " + " | ".join(_row(entry)) + " |"
    p_values = overall_p_values(entries)
    for (target, arm), (mean, tasks) in overall_ratios(entries).items():
        yield ""
        yield (f"{arm}, {TARGETS[target]}: geometric mean of the ratios {mean:.3f} over {tasks} tasks{left_out(entries, target, arm)}; all runs of all tasks together p = {_number(p_values[target, arm], 2)} "
               f"(van Elteren's stratified rank test, two-sided).")
