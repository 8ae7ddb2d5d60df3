#!/usr/bin/env python3
"""How far a search comes from the student's template alone: one `evo run` of each task that has a template `naive`, or its baseline.

    bench/search/from_students.py --evo bin/evo --out alone --gpus 2 --seconds 60

Speed-up: of the run's best over the student's template, both as the run measured them; it is not checked unless --flags say so. Every run has a database of its own in
OUT, and what is finished there is not run again. With --gpus N the tasks are divided among them, and GPU i runs with the seed i + 1.
Exit status: 0; 1 if a run failed; 3 if runs are left for lack of time (--limit).
"""
import json
import math
import os
import sys

import arms

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernel_templates")
ARM = "alone"


def student_of(folder):
    """The template that a textbook would show; None if the folder holds no task."""
    try:
        with open(os.path.join(folder, "task.json")) as text:
            baseline = json.load(text)["baseline"]
    except (OSError, ValueError, KeyError):
        return None
    return "naive" if os.path.exists(os.path.join(folder, "naive.cu")) else baseline


def tasks_of(templates):
    students = {name: student_of(os.path.join(templates, name)) for name in sorted(os.listdir(templates))}
    return [f"{name}:{student}" for name, student in students.items() if student]


class Alone(arms.Bench):
    """One run of each task; the tasks are divided among the devices."""

    def __init__(self, options):
        super().__init__(options, lambda task: [(ARM, [])])
        self.places = len(self.devices or [None])

    def seeds(self, flags):
        return range(1, self.places + 1)

    def place(self, task, seed):
        return (seed - 1) % self.places

    def runs_of(self, place):
        for task in self.options.task[place::self.places]:
            yield task, ARM, [], place + 1


def row_of(task, run):
    """(task, candidates, microseconds of the student's template, of the best, times as fast, edits); nan where nothing was ok."""
    scores = run.scores()
    first = scores[0] / 1000 if scores and scores[0] is not None else math.nan
    best = run.best_after(len(scores))
    return task, len(scores), first, best, first / best, run.edits()


def lines_of(rows):
    yield "| task | candidates | the student's, us | evolved, us | times as fast | edits |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for task, candidates, first, best, ratio, edits in rows:
        yield f"| {task} | {candidates} | {arms.number(first, 4)} | {arms.number(best, 4)} | {arms.number(ratio, 3)} | {edits} |"
    yield ""
    yield f"Median over {len(rows)} tasks: {arms.number(arms.median([row[4] for row in rows]), 3)} times as fast as the student's template."


def main():
    parser = arms.options_of(__doc__, task=None, seconds=60, flags="--no-check --minimise off")
    options = parser.parse_args()
    options.task = options.task or tasks_of(TEMPLATES)
    bench = Alone(options)
    bench.run_all()
    rows = [row_of(task, run) for task in options.task for run in bench.results(task, ARM, [])]
    text = "\n".join(lines_of(rows))
    with open(os.path.join(options.out, "results.md"), "w") as file:
        file.write(text + "\n")
    print(text)
    if bench.left:
        print(f"{bench.left} runs are left; start it again with the same --out", file=sys.stderr)
        return arms.UNFINISHED
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
