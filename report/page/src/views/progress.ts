// View 1: the best so far, against evaluations and against seconds.
import { h, table } from "../dom";
import { ratio, seconds, short, tick, time } from "../format";
import { kept, type Context } from "../model";
import { Plot, legend, nearestOf, type Frame, type Point } from "../plot";
import type { Maybe, Progress } from "../types";

export interface Curve {
  name: string;
  colour: string;
  progress: Progress;
  end: { evaluations: number; seconds: number };
}

export interface Level {
  name: string;
  ns: number;
  colour: string;
}

const bounds = (values: Maybe[]): [number, number] => {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) if (v !== null && v > 0 && isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
  return low <= high ? [low, high] : [1, 2];
};

// Its name stands above the line, or below it at the top of the chart, and further to the left where another name is in its way.
function drawLevel(f: Frame, level: Level, levels: Level[]): void {
  const { ctx } = f;
  const y = f.y(level.ns);
  ctx.strokeStyle = f.colour(level.colour);
  ctx.setLineDash([6, 4]);
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(f.left, y);
  ctx.lineTo(f.left + f.width, y);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.textAlign = "right";
  const below = y - f.top < 16;
  ctx.textBaseline = below ? "top" : "bottom";
  const near = levels.filter((other) => f.y(other.ns) < y && y - f.y(other.ns) < 16);
  const taken = near.reduce((sum, other) => sum + ctx.measureText(other.name).width + 12, 0);
  const end = f.left + f.width - 4 - taken;
  const width = ctx.measureText(level.name).width;
  ctx.fillStyle = f.colour("card");  // the line of another level ends at the name
  ctx.fillRect(end - width - 3, y + (below ? 3 : -15), width + 6, 12);
  ctx.fillStyle = f.colour(level.colour);
  ctx.fillText(level.name, end, y + (below ? 3 : -3));
}

function drawCurve(f: Frame, curve: Curve, xs: number[], end: number): void {
  const { ctx } = f;
  const p = curve.progress;
  const colour = f.colour(curve.colour);
  const step = (values: Maybe[], backwards: boolean) => {
    const n = xs.length;
    for (let k = 0; k < n; ++k) {
      const i = backwards ? n - 1 - k : k;
      const value = values[i] ?? p.score_ns[i]!;
      const until = i + 1 < n ? xs[i + 1]! : end;
      const [first, last] = backwards ? [until, xs[i]!] : [xs[i]!, until];
      ctx.lineTo(f.x(first), f.y(value));
      ctx.lineTo(f.x(last), f.y(value));
    }
  };
  ctx.globalAlpha = 0.18;
  ctx.fillStyle = colour;
  ctx.beginPath();
  step(p.low_ns, false);
  step(p.high_ns, true);
  ctx.closePath();
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.beginPath();
  step(p.score_ns, false);
  ctx.stroke();
  ctx.fillStyle = colour;
  for (let i = 0; i < xs.length; ++i) {
    ctx.beginPath();
    ctx.arc(f.x(xs[i]!), f.y(p.score_ns[i]!), 3.2, 0, 7);
    ctx.fill();
  }
}

// One chart of curves over evaluations or over seconds.
export function progressPlot(name: string, curves: Curve[], levels: Level[], over: "evaluations" | "seconds", log: boolean,
  select?: (id: number) => void): Plot {
  const xs = curves.map((curve) => (over === "evaluations" ? curve.progress.id : curve.progress.seconds.map((s) => s ?? 0)));
  const ends = curves.map((curve, i) => Math.max(curve.end[over], xs[i]![xs[i]!.length - 1] ?? 0, over === "evaluations" ? 2 : 1));
  const ys: Maybe[] = [...levels.map((level) => level.ns)];
  for (const curve of curves) ys.push(...curve.progress.score_ns, ...curve.progress.low_ns);
  const [low, high] = bounds(ys);
  return new Plot({
    name, height: 300,
    xAxis: { label: over, format: over === "seconds" ? (v) => seconds(v) : short, whole: over === "evaluations" },
    yAxis: { label: "time of the fastest so far", log, format: tick },
    domain: () => ({ x: [0, Math.max(...ends) * 1.01], y: log ? [low / 1.15, high * 1.15] : [0, high * 1.08] }),
    draw: (f) => {
      levels.forEach((level) => drawLevel(f, level, levels));
      curves.forEach((curve, i) => drawCurve(f, curve, xs[i]!, ends[i]!));
    },
    nearest: (f, px, py): Point | null => {
      for (let i = 0; i < curves.length; ++i) {
        const p = curves[i]!.progress;
        const at = nearestOf(xs[i]!.length, (k) => [f.x(xs[i]![k]!), f.y(p.score_ns[k]!)], px, py);
        if (at < 0) continue;
        const gain = at > 0 ? `, ${ratio(p.score_ns[at - 1]! / p.score_ns[at]!)} the one before` : "";
        const text = `${curves.length > 1 ? curves[i]!.name + ": " : ""}candidate ${p.id[at]}: ${time(p.score_ns[at])}${gain}, after ${seconds(p.seconds[at])}`;
        return i === 0 ? { x: xs[i]![at]!, y: p.score_ns[at]!, id: p.id[at]!, text } : { x: xs[i]![at]!, y: p.score_ns[at]!, text };
      }
      return null;
    },
    ...(select ? { select } : {}),
  });
}

export function levelsOf(context: Context): Level[] {
  const { lines } = context.model.report;
  const levels: Level[] = [];
  if (lines.baseline_ns !== null) levels.push({ name: `baseline ${time(lines.baseline_ns)}`, ns: lines.baseline_ns, colour: "level-baseline" });
  for (const peer of lines.peers) if (peer.ns !== null) levels.push({ name: `${peer.name} ${time(peer.ns)}`, ns: peer.ns, colour: "level-peer" });
  if (lines.ceiling_ns !== null) levels.push({ name: `ceiling ${time(lines.ceiling_ns)}`, ns: lines.ceiling_ns, colour: "level-ceiling" });
  return levels;
}

export function endOf(context: Context): { evaluations: number; seconds: number } {
  const times = context.model.report.generations.seconds;
  return { evaluations: context.model.candidates.total, seconds: times[times.length - 1] ?? 0 };
}

export function progressView(context: Context): HTMLElement {
  const { report } = context.model;
  const p = report.progress;
  if (p.id.length === 0) return h("p", { class: "muted" }, "No candidate is right yet.");
  const log = kept(context, "progress.log", true);
  const holder = h("div", { class: "pair" });
  const draw = () => {
    const curve: Curve = { name: `run ${report.run.run}`, colour: "curve", progress: p, end: endOf(context) };
    holder.replaceChildren(...(["evaluations", "seconds"] as const).map((over) => progressPlot(
      `Best so far over ${over}: from ${time(p.score_ns[0])} to ${time(p.score_ns[p.score_ns.length - 1])}`, [curve], levelsOf(context), over, log.get(), context.select).element));
  };
  draw();
  const entries: [string, string][] = [["curve", "fastest so far, with its samples' 10th to 90th percentile"]];
  if (report.lines.baseline_ns !== null) entries.push(["level-baseline", `baseline: template ${report.run.baseline}`]);
  if (report.lines.peers.length > 0) entries.push(["level-peer", "peer"]);
  if (report.lines.ceiling_ns !== null) entries.push(["level-ceiling", "ceiling of this machine for what the task declares"]);
  return h("div", {},
    h("div", { class: "row" }, legend(entries),
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: log.get(), change: (event: Event) => {
        log.set((event.target as HTMLInputElement).checked);
        draw();
      } }), " logarithmic")),
    holder,
    report.lines.ceiling_ns === null && h("p", { class: "muted" }, report.run.device === "cpu"
      ? "The cpu device has no ceiling: kernels are emulated there, and which of them is faster does not carry over to a GPU."
      : "No ceiling is known: the machine was not measured, or the task does not declare what must be moved and computed."),
    h("details", {}, h("summary", {}, "As a table"), table("Improvements", [
      { title: "candidate", number: true, cell: (i: number) => h("button", { type: "button", class: "link", click: () => context.select(p.id[i]!) }, p.id[i]!) },
      { title: "after", number: true, cell: (i) => seconds(p.seconds[i]) },
      { title: "time", number: true, cell: (i) => time(p.score_ns[i]) },
      { title: "gain", number: true, cell: (i) => (i === 0 ? "" : ratio(p.score_ns[i - 1]! / p.score_ns[i]!)) },
    ], p.id.map((_, i) => i))));
}
