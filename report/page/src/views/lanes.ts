// View 9: the work over time. Durations were measured; where within a generation they lie is inferred, since the database has the
// time of a generation and not of each step.
import { h } from "../dom";
import { count, seconds } from "../format";
import type { Context } from "../model";
import { Plot, legend, type Frame } from "../plot";

interface Block {
  lane: number;
  from: number;
  to: number;
  kind: "compile" | "check" | "time";
  row: number;
}

const kMostLanes = 24;
const kNarrow = 1.5; // pixels; narrower blocks are drawn as shares of their pixel

function layOut(context: Context): { blocks: Block[]; lanes: number; end: number; starts: number[] } {
  const { model } = context;
  const c = model.candidates;
  const g = model.report.generations;
  const rows = new Map<number, number[]>();
  for (let i = 0; i < c.id.length; ++i) {
    const list = rows.get(c.generation[i]!) ?? [];
    list.push(i);
    rows.set(c.generation[i]!, list);
  }
  const blocks: Block[] = [];
  const starts: number[] = [];
  let before = 0;
  const demands: number[] = [];
  const generations: { end: number; own: number[]; used: number }[] = [];
  let free = 0; // when the device is
  for (let k = 0; k < g.generation.length; ++k) {
    const end = Math.max(before, g.seconds[k] ?? before);
    const own = (rows.get(g.generation[k]!) ?? []).filter((i) => !c.copied[i]);
    const compiling = own.reduce((sum, i) => sum + c.compile[i]!, 0) / 1000;
    const used = own.reduce((sum, i) => sum + c.check[i]! + c.time[i]!, 0) / 1000;
    generations.push({ end, own, used });
    starts.push(before);
    demands.push(Math.max(1, Math.min(kMostLanes, Math.ceil(compiling / Math.max(0.05, end - before)))));
    before = end;
  }
  before = 0;
  // Generations overlap, and a short one seems to need more workers than there were.
  const lanes = [...demands].sort((a, b) => a - b)[Math.floor(0.9 * (demands.length - 1))] ?? 1;
  const at = new Array<number>(lanes).fill(0);
  for (let k = 0; k < g.generation.length; ++k) {
    const { end, own, used } = generations[k]!;
    for (let lane = 0; lane < lanes; ++lane) at[lane] = Math.max(at[lane]!, before);
    let device = Math.max(free, end - used);
    for (const i of own) {
      const lane = at.indexOf(Math.min(...at));
      if (c.compile[i]! > 0) {
        blocks.push({ lane: lane + 1, from: at[lane]!, to: at[lane]! + c.compile[i]! / 1000, kind: "compile", row: i });
        at[lane]! += c.compile[i]! / 1000;
      }
      if (c.check[i]! > 0) blocks.push({ lane: 0, from: device, to: device + c.check[i]! / 1000, kind: "check", row: i });
      device += c.check[i]! / 1000;
      if (c.time[i]! > 0) blocks.push({ lane: 0, from: device, to: device + c.time[i]! / 1000, kind: "time", row: i });
      device += c.time[i]! / 1000;
    }
    free = device;
    before = Math.max(before, end);
  }
  return { blocks, lanes: lanes + 1, end: Math.max(before, free), starts };
}

export function lanesView(context: Context): HTMLElement {
  const { model } = context;
  const { blocks, lanes, end, starts } = layOut(context);
  const clocks = model.report.clocks;
  if (blocks.length === 0) return h("p", { class: "muted" }, "No durations are recorded.");
  const colours = { compile: "lane-compile", check: "lane-check", time: "lane-time" };
  const plot = new Plot({
    name: `Lanes of the workers over ${seconds(end)}`, height: 70 + lanes * 22, marginLeft: 84,
    xAxis: { label: "seconds since the run began", format: seconds },
    yAxis: { label: "", format: () => "" },
    domain: () => ({ x: [0, end * 1.01 || 1], y: [lanes, 0] }),
    yLabels: (f: Frame) => {
      f.ctx.fillStyle = f.colour("muted");
      f.ctx.textAlign = "right";
      f.ctx.textBaseline = "middle";
      for (let i = 0; i < lanes; ++i) f.ctx.fillText(i === 0 ? "device" : `compile ${i}`, f.left - 6, f.y(i + 0.5));
    },
    draw: (f: Frame) => {
      const { ctx } = f;
      const tall = Math.max(4, f.y(0.86) - f.y(0));
      const names = [...Object.values(colours), "lane-failed"];
      const columns = Math.ceil(f.width) + 1;
      const shares = new Float64Array(lanes * columns * names.length); // of each pixel's time
      for (const block of blocks) {
        const x = f.x(block.from);
        const width = f.x(block.to) - x;
        if (x + width < f.left || x > f.left + f.width) continue;
        const name = model.candidates.score_ns[block.row] === null ? "lane-failed" : colours[block.kind];
        if (width < kNarrow) {
          for (let at = Math.max(0, x - f.left), end = x + width - f.left; at < end;) {
            const column = Math.floor(at);
            const next = Math.min(end, column + 1);
            shares[(block.lane * columns + column) * names.length + names.indexOf(name)]! += next - at;
            at = next;
          }
          continue;
        }
        ctx.fillStyle = f.colour(name);
        ctx.fillRect(x, f.y(block.lane + 0.07), width - (width > 3 ? 0.5 : 0), tall);
      }
      names.forEach((name, at) => {
        ctx.fillStyle = f.colour(name);
        for (let cell = 0; cell < lanes * columns; ++cell) {
          const own = shares[cell * names.length + at]!;
          if (own === 0) continue;
          const before = shares.subarray(cell * names.length, cell * names.length + at).reduce((sum, share) => sum + share, 0);
          const top = f.y(Math.floor(cell / columns) + 0.07) + tall * Math.min(1, before);
          ctx.fillRect(f.left + (cell % columns), top, 1, tall * Math.min(1 - Math.min(1, before), own));
        }
      });
      ctx.strokeStyle = f.colour("axis");
      ctx.globalAlpha = 0.5;
      for (const start of starts) {
        ctx.beginPath();
        ctx.moveTo(f.x(start), f.top);
        ctx.lineTo(f.x(start), f.top + f.height);
        ctx.stroke();
      }
      ctx.globalAlpha = 1;
    },
    nearest: (f, px, py) => {
      for (const block of blocks) {
        if (px < f.x(block.from) - 1 || px > f.x(block.to) + 1 || py < f.y(block.lane) || py > f.y(block.lane + 1)) continue;
        const id = model.candidates.id[block.row]!;
        return { x: block.from, y: block.lane, id, text: `candidate ${id}: ${block.kind === "time" ? "timing" : block.kind === "check" ? "checking" : "compiling"}, ${seconds(block.to - block.from)}` };
      }
      return null;
    },
    select: context.select,
  });
  const sum = (...stages: string[]) => stages.reduce((all, stage) => all + (clocks[stage] ?? 0), 0) / 1000;
  const evaluated = model.report.run.evaluated;
  return h("div", {}, legend([["lane-compile", `compile ${seconds(sum("compile_ms"))}`], ["lane-check", `load and check ${seconds(sum("load_ms", "check_ms"))}`],
    ["lane-time", `time and check again ${seconds(sum("time_ms", "reverification_ms"))}`], ["lane-failed", "of a candidate that failed"]]),
    plot.element,
    h("p", { class: "muted" }, `${count(evaluated)} candidates in ${seconds(end)}: ${(evaluated / Math.max(end, 1)).toPrecision(3)} a second. `
      + "Lengths were measured. The database has the moment at which each generation was recorded and not that of each step, so where a step lies within its generation, and how many compile workers there were, is inferred; "
      + `breeding and waiting are the gaps.${model.sampled ? " A sample of the candidates is drawn." : ""}`));
}
