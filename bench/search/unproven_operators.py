#!/usr/bin/env python3
"""What operators that promise nothing still gain: `evo run` from the naive templates, with all operators and with --proven-only.

    bench/search/unproven_operators.py --evo bin/evo --out unproven --device cuda --time-limit 60s --seeds 5

Speed-up: of the run's best over its baseline, interleaved, in the check of the champion; the median over the seeds. Ratio: with all operators over --proven-only, with
p of a Mann-Whitney U test, two-sided; above 1 unproven operators gain. Kept: champions whose best form has unproven edits after minimisation. The second table says
which operators made those edits. Every run has a database of its
own in OUT, and what is finished there is not run again. Exit status: 0; 1 if a run failed; 3 if runs are left for lack of time (--limit).
"""
import collections
import json
import math
import statistics
import subprocess
import sys

import arms
import rank_test

TASKS = ["softmax:naive", "layer_norm:naive", "row_sum:naive", "transpose:naive", "gemm:naive", "attention:naive"]
ALL, PROVEN = "all", "proven-only"


def promises(evo):
    listed = json.loads(subprocess.run([evo, "mutators", "--json"], capture_output=True, text=True, check=True).stdout)
    return {one["mutator"]: one["promise"] for one in listed}


def edits_of_best(run):
    row = run.db.execute("SELECT c.genome FROM best AS b JOIN candidate AS c USING (run, candidate) WHERE b.run = ?", (run.number,)).fetchone()
    return [edit["op"] for edit in json.loads(row[0])["edits"]] if row else []


def children_of(run):
    """By operator: children that are another program than their parent, and how many of them are at least 1% faster."""
    return run.db.execute("SELECT operator, count(*), sum(outcome = 'ok'), sum(coalesce(gain, 0) > 1.01) FROM operator_child WHERE run = ? AND NOT neutral "
                          "GROUP BY operator", (run.number,)).fetchall()


def row_of(task, runs, promised, kept_by):
    """The cells of one task and its ratio; counts in `kept_by` the operators of unproven edits that were kept."""
    speedups = {arm: [s for s in (run.speedup() for run in found) if not math.isnan(s)] for arm, found in runs.items()}
    kept = 0
    for run in runs[ALL]:
        unproven = [op for op in edits_of_best(run) if promised.get(op, "unproven") == "unproven"]
        kept += bool(unproven)
        kept_by.update(unproven)
    both = arms.median(speedups[ALL]), arms.median(speedups[PROVEN])
    p = rank_test.p_value(speedups[PROVEN], speedups[ALL])
    ratio = both[0] / both[1]
    seeds = f"{len(speedups[ALL])} and {len(speedups[PROVEN])}"
    return [task, seeds, *(arms.number(s, 4) for s in both), arms.number(ratio, 3), arms.number(p, 2), f"{kept} of {len(runs[ALL])}"], ratio


def print_table(head, rows):
    print("| " + " | ".join(head) + " |\n" + "| --- " * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def report(bench, promised):
    kept_by, children = collections.Counter(), collections.defaultdict(lambda: [0, 0, 0])
    rows, ratios = [], []
    for task in bench.options.task:
        runs = {name: bench.results(task, name, flags) for name, flags in bench.arms_of(task)}
        row, ratio = row_of(task, runs, promised, kept_by)
        rows.append(row)
        if not math.isnan(ratio):
            ratios.append(ratio)
        for run in runs[ALL]:
            for name, *counts in children_of(run):
                children[name] = [a + (b or 0) for a, b in zip(children[name], counts)]
    print_table(["task", "seeds", "speed-up, all", "speed-up, --proven-only", "ratio", "p", "kept"], rows)
    if ratios:
        print(f"\nGeometric mean of the ratios: {statistics.geometric_mean(ratios):.3f}\n")
    names = [name for name, promise in promised.items() if promise == "unproven"]
    print_table(["unproven operator", "children", "valid", "improving", "edits kept in champions"],
                [[f"`{name}`", *(str(count) for count in children[name]), str(kept_by[name])] for name in names])


def main():
    # A time, not a number of evaluations: unproven operators cost time in the check, too.
    parser = arms.options_of(__doc__, task=None, seconds=60)
    parser.add_argument("--time-limit", dest="seconds", type=arms.whole_seconds, help="another name of --seconds")
    options = parser.parse_args()
    options.task = options.task or TASKS
    bench = arms.Bench(options, lambda task: [(ALL, []), (PROVEN, ["--proven-only"])])
    bench.run_all()
    report(bench, promises(options.evo))
    if bench.left:
        print(f"{bench.left} runs are left; start it again with the same --out", file=sys.stderr)
        return arms.UNFINISHED
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
