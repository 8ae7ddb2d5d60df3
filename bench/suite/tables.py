"""Results as Markdown, CSV and a picture. Needs nothing but Python; the picture needs gnuplot (Debian's gnuplot-nox)."""
import csv
import io
import shutil
import subprocess
from pathlib import Path

from results import BASELINE, COMPILE, EAGER, MAX_AUTOTUNE, MEMORY_SHARE, row_of, summary_of

MAIN_PEERS = (EAGER, COMPILE, MAX_AUTOTUNE)
COLUMNS = ["task", "case", "kernel", "us", "noise", "baseline_us", "student_us", "student_speed_up", "best_peer", "over_best_peer", "light_us", "bound_by",
           "share_of_ceiling", "score", "score_over_compile", "wins"]
GNUPLOT_TIMEOUT = 60

PICTURE = """set terminal svg noenhanced size 1000,{height} font "sans,12" background "white"
set output {file}
set logscale x
set grid xtics lc rgb "#dddddd"
set border 1
set tics nomirror out
set xlabel "times as fast as (evo's kernel to the right of 1 is faster)"
set format x "%g"
set yrange [-0.7:{last}]
set ytics ({labels})
set key outside top center horizontal
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb "#888888"
"""
COLOURS = {EAGER: "#999999", COMPILE: "#1f77b4", MAX_AUTOTUNE: "#17becf", "another": "#d62728", BASELINE: "#2ca02c"}


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
    if row["us"] is None:
        return "no kernel"
    said = row["verified"].get("student" if row["kernel"] == "evo student" else "all")
    return {True: "verified", False: "NOT VERIFIED"}.get(said, "not verified here")


def winner(row):
    return "" if row["wins"] is None else "evo" if row["wins"] == "evo" else f"**{row['wins']}**"


def markdown(records, title="The suite of operators", compared=None):
    rows = [row_of(record) for record in records]
    out = [f"# {title}", ""] + conditions(records) + [""]
    out += ["| task | kernel | us | over the baseline | eager | torch.compile | max-autotune | others | fastest | share of the ceiling | score | verdict |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        if row["us"] is None:
            continue
        over_baseline = row["baseline_us"] / row["us"] if row["baseline_us"] else None
        ceiling = f"{percent(row['share_of_ceiling'])} {row['bound_by']}" if row["share_of_ceiling"] else ""
        score = "" if row["score"] is None else f"{row['score']:.2f}"
        out.append("| " + " | ".join(cell(c) for c in [
            row["task"], row["kernel"], us(row["us"]), times(over_baseline), *(times(row["speed_ups"].get(p)) for p in MAIN_PEERS), other_peers(row),
            winner(row), ceiling, score, verdict(row)]) + " |")
    out += ["", "Numbers from `over the baseline` to `others` say how many times as fast evo's kernel is as that one."]
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
        line = f"{c.get('device', 'a GPU')}: copy {c.get('bytes_per_s', 0) / 1e12:.2f} TB/s; {arithmetic} TFLOP/s. L2 {record['settings'].get('l2', '?')}."
        seen += [line] if line not in seen else []
    return seen


def changes(compared):
    moved = [c for c in compared if c["moved"]]
    out = [f"## What moved: {len(moved)} of {len(compared)} times", ""]
    if moved:
        out += ["| task | kernel | before, us | now, us | times as fast | noise |", "| --- | --- | --- | --- | --- | --- |"]
        out += [f"| {c['task']} | {c['kernel']} | {us(c['old_us'])} | {us(c['new_us'])} | {times(c['ratio'])} | {percent(c['noise'])} |" for c in moved]
    return out


def summary_lines(summary):
    known = lambda value, show: "unknown" if value is None else show(value)
    lines = [
        f"measured: {summary['measured']} of {summary['tasks']} tasks" + (f"; without a kernel: {', '.join(summary['failed'])}" if summary["failed"] else ""),
        f"median speed-up of the student's template: {known(summary['student_speed_up_median'], times)}",
        f"over torch.compile, geometric mean: {known(summary['over_compile_geometric_mean'], times)} ({summary['with_compile']} tasks)",
        f"faster than torch.compile: {known(summary['faster_than_compile'], percent)} of the tasks",
        f"faster than every peer: {known(summary['faster_than_every_peer'], percent)} of the tasks"
        + (f"; a peer wins: {', '.join(summary['peer_wins'])}" if summary["peer_wins"] else ""),
        f"speed-of-light score over the fastest peer, median: {known(summary['score_median'], lambda v: f'{v:.2f}')}",
        f"memory-bound tasks above {MEMORY_SHARE:.0%} of copy bandwidth: {known(summary['memory_bound_done'], percent)} ({summary['memory_bound']} tasks)",
    ]
    return lines


def table_csv(records):
    rows = [row_of(record) for record in records]
    names = sorted({name for row in rows for name in row["peers_us"]})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS + [f"{name} us" for name in names] + ["notes"])
    for row in rows:
        writer.writerow([row[c] for c in COLUMNS] + [row["peers_us"].get(name) for name in names] + ["; ".join(row["notes"])])
    return out.getvalue()


def gnuplot_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plot_script(records, file):
    """gnuplot's commands, or None where there is nothing to show. A row for each task, slowest against torch.compile at the bottom."""
    rows = [row for row in map(row_of, records) if row["us"] and row["speed_ups"]]
    if not rows:
        return None
    rows.sort(key=lambda row: row["speed_ups"].get(COMPILE) or row["over_best_peer"])
    points = {name: [] for name in COLOURS}
    for place, row in enumerate(rows):
        for name, value in row["speed_ups"].items():
            points[name if name in points else "another"].append((value, place))
        if row["baseline_us"]:
            points[BASELINE].append((row["baseline_us"] / row["us"], place))
    labels = ", ".join(f"{gnuplot_text(row['task'])} {place}" for place, row in enumerate(rows))
    text = PICTURE.format(file=gnuplot_text(str(file)), height=140 + 22 * len(rows), last=len(rows) - 0.3, labels=labels)
    shown = [name for name in points if points[name]]
    titles = {"another": "library or Triton", EAGER: "PyTorch eager"}
    text += "plot " + ", \\\n  ".join(
        f"'-' using 1:2 with points pt 7 ps 0.7 lc rgb {gnuplot_text(COLOURS[name])} title {gnuplot_text(titles.get(name, name))}" for name in shown) + "\n"
    for name in shown:
        text += "".join(f"{value:.6g} {place}\n" for value, place in points[name]) + "e\n"
    return text


def draw(records, file):
    """Writes FILE.gnuplot and, where gnuplot is, FILE. Returns a line that says what was not drawn, or None."""
    file = Path(file)
    script = plot_script(records, file)
    if script is None:
        return "no picture: no task has a peer's time"
    source = file.with_suffix(".gnuplot")
    source.write_text(script)
    if not shutil.which("gnuplot"):
        return f"no picture: gnuplot is not installed here; `gnuplot {source}` draws it, `run.py --report` elsewhere too"
    try:
        subprocess.run(["gnuplot", source], check=True, timeout=GNUPLOT_TIMEOUT, capture_output=True, text=True)
    except (OSError, subprocess.SubprocessError) as wrong:
        return f"no picture: gnuplot: {getattr(wrong, 'stderr', '') or wrong}"
    return None
