// View 8: the candidates below the ceilings of their machine.
import { h } from "../dom";
import { short } from "../format";
import type { Context } from "../model";
import { Plot, legend, nearestOf, type Frame } from "../plot";

export function rooflineView(context: Context): HTMLElement {
  const { report } = context.model;
  const r = report.roofline;
  const points: { x: number; y: number; id: number; at: number }[] = [];
  for (let i = 0; i < r.id.length; ++i) {
    const bytes = r.bytes[i];
    const operations = r.operations[i];
    if (!bytes || !operations) continue;
    points.push({ x: operations / bytes, y: (operations / r.median_ns[i]!) * 1e9, id: r.id[i]!, at: r.case[i]! });
  }
  if (points.length === 0) return h("p", { class: "muted" }, "The task does not declare the bytes that must be moved and the operations that must be executed, so there is no roofline.");
  const arithmetic = r.arithmetic === "f16" || r.arithmetic === "bf16" ? r.rates.tensor_per_s : r.rates.f32_per_s;
  const roofs: { name: string; rate: number; colour: string }[] = [];
  if (r.rates.dram_bytes_per_s) roofs.push({ name: `DRAM ${short(r.rates.dram_bytes_per_s)}B/s`, rate: r.rates.dram_bytes_per_s, colour: "level-baseline" });
  if (r.rates.l2_bytes_per_s) roofs.push({ name: `L2 ${short(r.rates.l2_bytes_per_s)}B/s`, rate: r.rates.l2_bytes_per_s, colour: "level-peer" });
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  const [left, right] = [Math.min(...xs) / 6, Math.max(...xs, arithmetic && r.rates.dram_bytes_per_s ? arithmetic / r.rates.dram_bytes_per_s : 0) * 6];
  const top = Math.max(...ys, arithmetic ?? 0, roofs.length && !arithmetic ? roofs[0]!.rate * Math.max(...xs) : 0) * 2;
  const bottom = Math.min(...ys) / 2;
  const at = (p: typeof points[0]) => p.x * Math.exp(((((p.id * 2654435761) >>> 8) % 1000) / 1000 - 0.5) * 0.12);
  const plot = new Plot({
    name: `Roofline of ${points.length} measurements`, height: 340, zoomY: true,
    xAxis: { label: "operations per byte, as the task declares", log: true, format: short },
    yAxis: { label: "operations per second", log: true, format: short },
    domain: () => ({ x: [left, right], y: [bottom, top] }),
    draw: (f: Frame) => {
      const { ctx } = f;
      ctx.lineWidth = 1.5;
      ctx.textBaseline = "bottom";
      for (const roof of roofs) {
        const end = arithmetic ? arithmetic / roof.rate : right * 1e6;
        ctx.strokeStyle = ctx.fillStyle = f.colour(roof.colour);
        ctx.beginPath();
        ctx.moveTo(f.x(left / 1e6), f.y((left / 1e6) * roof.rate));
        ctx.lineTo(f.x(end), f.y(end * roof.rate));
        ctx.stroke();
        ctx.textAlign = "left";
        ctx.fillText(roof.name, f.left + 6, Math.max(f.top + 14, f.y(left * roof.rate) + 18));
      }
      if (arithmetic) {
        ctx.strokeStyle = ctx.fillStyle = f.colour("level-ceiling");
        ctx.beginPath();
        ctx.moveTo(f.x(roofs.length ? arithmetic / Math.max(...roofs.map((roof) => roof.rate)) : left), f.y(arithmetic));
        ctx.lineTo(f.left + f.width, f.y(arithmetic));
        ctx.stroke();
        ctx.textAlign = "right";
        ctx.fillText(`${short(arithmetic)} operations/s`, f.left + f.width - 4, f.y(arithmetic) - 4);
      }
      ctx.globalAlpha = 0.7;
      for (const p of points) {
        ctx.fillStyle = f.colour(`series-${(p.at % 6) + 1}`);
        ctx.fillRect(f.x(at(p)) - 2, f.y(p.y) - 2, 4, 4);
      }
      ctx.globalAlpha = 1;
      for (const p of points) {
        if (p.id !== report.best_id) continue;
        ctx.strokeStyle = f.colour("text");
        ctx.lineWidth = 2;
        ctx.beginPath();
        ctx.arc(f.x(at(p)), f.y(p.y), 7, 0, 7);
        ctx.stroke();
      }
    },
    nearest: (f, px, py) => {
      const i = nearestOf(points.length, (k) => [f.x(at(points[k]!)), f.y(points[k]!.y)], px, py);
      if (i < 0) return null;
      const p = points[i]!;
      return { x: at(p), y: p.y, id: p.id, text: `candidate ${p.id}, case ${r.cases[p.at]}: ${short(p.y)} operations/s` };
    },
    select: context.select,
  });
  return h("div", {}, legend(r.cases.map((name, i) => [`series-${(i % 6) + 1}`, name])), plot.element,
    h("p", { class: "muted" }, "All candidates of a case have its operations per byte, and are spread a little to be seen. The ring is the champion."
      + (Object.keys(r.rates).length === 0 ? " The ceilings are not known: this device was not measured." : " The ceilings are what this machine was seen to do.")));
}
