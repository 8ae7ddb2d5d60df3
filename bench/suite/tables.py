"""Results as Markdown, CSV and a picture. Needs nothing but Python; the picture needs matplotlib (Debian's
python3-matplotlib)."""
import csv
import io

from results import BASELINE, COMPILE, EAGER, MAX_AUTOTUNE, MEMORY_SHARE, row_of, summary_of

MAIN_PEERS = (EAGER, COMPILE, MAX_AUTOTUNE)
COLUMNS = [
    "task",
    "case",
    "kernel",
    "us",
    "noise",
    "baseline_us",
    "student_us",
    "student_speed_up",
    "best_peer",
    "over_best_peer",
    "light_us",
    "bound_by",
    "share_of_ceiling",
    "score",
    "score_over_compile",
    "wins",
    "own_us",
    "own_baseline_us",
    "own_speed_up",
]
COLOURS = {EAGER: "#999999", COMPILE: "#1f77b4", MAX_AUTOTUNE: "#17becf", "another": "#d62728", BASELINE: "#2ca02c"}
TITLES = {EAGER: "PyTorch eager", "another": "library or Triton", BASELINE: "the baseline of the task"}


def us(value):
    return "" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def times(value):
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def percent(value):
    return "" if value is None else f"{100 * value:.0f}%"


def cell(text):
    """Text within a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def other_peers(row):
    """Vendor libraries, Triton and whatever else takes part, as one text: `cuBLAS 1.02`."""
    return ", ".join(f"{name} {times(value)}" for name, value in sorted(row["speed_ups"].items()) if name not in MAIN_PEERS)


def verdict(row):
    """Of the kernel of the row. One that failed its verification is in no row."""
    said = row["verified"].get("student" if row["kernel"] == "evo student" else "all")
    return "verified" if said else "not verified here"


def line_of(record):
    """One task, for a terminal."""
    row = row_of(record)
    if row["us"]:
        said = [f"{us(row['us'])} us"] + [
            f"{times(value)} times as fast as {name}" for name, value in row["speed_ups"].items() if name in MAIN_PEERS
        ]
        return ", ".join(said + [verdict(row)])
    if row["own_us"]:
        return f"{us(row['own_us'])} us, {times(row['own_speed_up'])} times as fast as the baseline, verified"
    return "; ".join(row["notes"]) or "no kernel"


def winner(row):
    return "" if row["wins"] is None else "evo" if row["wins"] == "evo" else f"**{row['wins']}**"


def main_table(rows):
    out = [
        "| task | kernel | us | over the baseline | eager | torch.compile | max-autotune | others | fastest "
        "| share of the ceiling | score | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        over_baseline = row["baseline_us"] / row["us"] if row["baseline_us"] else None
        ceiling = f"{percent(row['share_of_ceiling'])} {row['bound_by']}" if row["share_of_ceiling"] else ""
        score = "" if row["score"] is None else f"{row['score']:.2f}"
        out.append(
            "| "
            + " | ".join(
                cell(c)
                for c in [
                    row["task"],
                    row["kernel"],
                    us(row["us"]),
                    times(over_baseline),
                    *(times(row["speed_ups"].get(p)) for p in MAIN_PEERS),
                    other_peers(row),
                    winner(row),
                    ceiling,
                    score,
                    verdict(row),
                ]
            )
            + " |"
        )
    return out + ["", "Numbers from `over the baseline` to `others` say how many times as fast evo's kernel is as that one."]


def own_table(rows):
    """Tasks of which only evo's own times are known."""
    out = [
        "Timed by `evo verify` alone, beside the baseline of the task:",
        "",
        "| task | us | baseline, us | times as fast |",
        "| --- | --- | --- | --- |",
    ]
    return out + [
        f"| {cell(row['task'])} | {us(row['own_us'])} | {us(row['own_baseline_us'])} | {times(row['own_speed_up'])} |"
        for row in rows
    ]


def markdown(records, title="The suite of operators", compared=None, seconds=None):
    rows = [row_of(record) for record in records]
    measured, alone = [r for r in rows if r["us"]], [r for r in rows if not r["us"] and r["own_us"]]
    out = [f"# {title}", ""] + conditions(records)
    out += [f"This call took {seconds / 60:.1f} minutes."] if seconds is not None else []
    out += ["", *main_table(measured)] if measured else []
    out += ["", *own_table(alone)] if alone else []
    trouble = [(row["task"], note) for row in rows for note in row["notes"]]
    if trouble:
        out += ["", "## What failed or was left out", "", "| task | what |", "| --- | --- |"]
        out += [f"| {cell(task)} | {cell(note)} |" for task, note in trouble]
    if compared is not None:
        out += ["", *changes(compared)]
    return "\n".join(out + ["", "## Summary", ""] + [f"- {line}" for line in summary_lines(summary_of(rows))]) + "\n"


def conditions(records):
    """Where it was measured, and at which ceilings."""
    seen = []
    for record in records:
        c = record.get("ceilings")
        if not c:
            continue
        arithmetic = ", ".join(f"{name} {value / 1e12:.1f}" for name, value in c.get("operations_per_s", {}).items())
        line = f"{c.get('device', 'a GPU')}: copy {c.get('bytes_per_s', 0) / 1e12:.2f} TB/s; {arithmetic} TFLOP/s. "
        line += f"L2 {record['settings'].get('l2', '?')}."
        seen += [line] if line not in seen else []
    return seen


def changes(compared):
    moved = [c for c in compared if c["moved"]]
    out = [f"## What moved: {len(moved)} of {len(compared)} times"]
    if moved:
        out += ["", "| task | kernel | before, us | now, us | times as fast | noise |", "| --- | --- | --- | --- | --- | --- |"]
        out += [
            f"| {c['task']} | {c['kernel']} | {us(c['old_us'])} | {us(c['new_us'])} | {times(c['ratio'])} "
            f"| {percent(c['noise'])} |"
            for c in moved
        ]
    return out


def summary_lines(summary):
    known = lambda value, show: "unknown" if value is None else show(value)
    lines = [
        f"verified: {summary['verified']} of {summary['tasks']} tasks",
        f"measured: {summary['measured']} of {summary['tasks']} tasks"
        + (f"; without a kernel: {', '.join(summary['failed'])}" if summary["failed"] else ""),
        f"median speed-up of the student's template: {known(summary['student_speed_up_median'], times)}",
        f"median speed-up over the baseline, as evo verify timed it: {known(summary['own_speed_up_median'], times)}",
        f"over torch.compile, geometric mean: {known(summary['over_compile_geometric_mean'], times)} "
        f"({summary['with_compile']} tasks)",
        f"faster than torch.compile: {known(summary['faster_than_compile'], percent)} of the tasks",
        f"faster than every peer: {known(summary['faster_than_every_peer'], percent)} of the tasks"
        + (f"; a peer wins: {', '.join(summary['peer_wins'])}" if summary["peer_wins"] else ""),
        f"speed-of-light score over the fastest peer, median: {known(summary['score_median'], lambda v: f'{v:.2f}')}",
        f"memory-bound tasks above {MEMORY_SHARE:.0%} of copy bandwidth: {known(summary['memory_bound_done'], percent)} "
        f"({summary['memory_bound']} tasks)",
    ]
    return [line for line in lines if "unknown" not in line]


def table_csv(records):
    rows = [row_of(record) for record in records]
    names = sorted({name for row in rows for name in row["peers_us"]})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS + [f"{name} us" for name in names] + ["notes"])
    for row in rows:
        writer.writerow([row[c] for c in COLUMNS] + [row["peers_us"].get(name) for name in names] + ["; ".join(row["notes"])])
    return out.getvalue()


def plotted(records):
    """(names of tasks from the bottom, {peer: [(times as fast, place)]}): the task that is slowest against torch.compile is at
    the bottom."""
    rows = [row for row in map(row_of, records) if row["us"] and row["speed_ups"]]
    rows.sort(key=lambda row: row["speed_ups"].get(COMPILE) or row["over_best_peer"])
    points = {name: [] for name in COLOURS}
    for place, row in enumerate(rows):
        for name, value in row["speed_ups"].items():
            points[name if name in points else "another"].append((value, place))
        if row["baseline_us"]:
            points[BASELINE].append((row["baseline_us"] / row["us"], place))
    return [row["task"] for row in rows], {name: found for name, found in points.items() if found}


def draw(records, file):
    """Writes an SVG. Returns a line that says why there is none, or None."""
    names, points = plotted(records)
    if not names:
        return "no picture: no task has a peer's time"
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        return "no picture: this Python has no matplotlib; `run.py OUT --report` draws it where there is one"
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "suite", "font.family": "sans-serif", "font.size": 9}):
        figure = Figure(figsize=(10, 1.2 + 0.24 * len(names)), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.axvline(1, color="#888888", linewidth=1)
        for name, found in points.items():
            axes.plot(*zip(*found), linestyle="", marker="o", markersize=4.5, color=COLOURS[name], label=TITLES.get(name, name))
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(-0.7, len(names) - 0.3)
        axes.set_xlabel("evo's kernel is so many times as fast; left of 1 the other one is faster")
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=len(points), frameon=False)
        figure.savefig(file, metadata={"Date": None})
    return None
