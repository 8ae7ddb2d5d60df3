// View 4: every candidate as a point, latency against generation, coloured by outcome; with search and filters.
import { h, table } from "../dom";
import { count, cut, short, tick, time, words } from "../format";
import { kOutcomes, kept, outcomeColour, type Context } from "../model";
import { Plot, nearestOf, type Frame } from "../plot";

const kListed = 50;
const kCut = 160; // of what changed, in the list

export function cloudView(context: Context): HTMLElement {
  const { model } = context;
  const c = model.candidates;
  const n = c.id.length;
  const scores = c.score_ns;
  let low = Infinity;
  let high = 0;
  let generations = 1;
  for (let i = 0; i < n; ++i) {
    const s = scores[i];
    if (s !== null && s !== undefined) [low, high] = [Math.min(low, s), Math.max(high, s)];
    generations = Math.max(generations, c.generation[i]! + 1);
  }
  if (!(low <= high)) [low, high] = [1, 10];
  // Candidates without a time stand in a strip of their own above the others.
  const span = Math.log(high / low) || 1;
  const strip = high * Math.exp(0.12 * span);
  const top = high * Math.exp(0.28 * span);
  const spread = (i: number, by: number) => (((c.id[i]! * 2654435761) >>> 8) % 1000) / 1000 * by;
  const xs = new Float64Array(n);
  const ys = new Float64Array(n);
  for (let i = 0; i < n; ++i) {
    xs[i] = c.generation[i]! + spread(i, 0.7) - 0.35;
    const s = scores[i];
    ys[i] = s !== null && s !== undefined ? s : strip * Math.exp((spread(i + 7, 0.12)) * span);
  }
  const counts = c.outcomes.map(() => 0);
  for (let i = 0; i < n; ++i) counts[c.outcome[i]!]!++;
  const present = c.outcomes.map((name, at) => ({ name, at })).sort((a, b) => kOutcomes.indexOf(a.name) - kOutcomes.indexOf(b.name));
  const hidden = kept(context, "cloud.hidden", new Set<string>());
  const operator = kept(context, "cloud.operator", "");
  const query = kept(context, "cloud.query", "");
  let shown = new Uint8Array(n);
  let matches = 0;

  function filter(): void {
    const words_ = query.get().trim().toLowerCase().split(/\s+/).filter((w) => w !== "");
    const visibleOutcome = c.outcomes.map((name) => !hidden.get().has(name));
    const wanted = operator.get() === "" ? -1 : c.operators.indexOf(operator.get());
    const texts = (i: number): string => `${c.id[i]} ${model.operator(i)} ${c.templates[c.template[i]!]} ${model.outcome(i)} ${model.message(i)} ${model.parameterText(i)} ${model.described(c.id[i]!)?.change ?? ""}`.toLowerCase();
    matches = 0;
    for (let i = 0; i < n; ++i) {
      let fits = visibleOutcome[c.outcome[i]!]! && (wanted < 0 || c.operator[i] === wanted);
      if (fits && words_.length > 0) {
        const text = texts(i);
        fits = words_.every((word) => text.includes(word));
      }
      shown[i] = fits ? 1 : 0;
      if (fits) ++matches;
    }
  }

  const plot = new Plot({
    name: `Cloud of ${count(n)} candidates: time against generation`, height: 380,
    xAxis: { label: "generation", format: short, whole: true },
    yAxis: { label: "time", log: true, format: (v) => (v > high * Math.exp(0.06 * span) ? "" : tick(v)) },
    zoomY: true,
    domain: () => ({ x: [-0.6, generations - 0.4], y: [low * Math.exp(-0.06 * span), top] }),
    draw: (f: Frame) => {
      const { ctx } = f;
      const size = n > 20000 ? 2 : n > 3000 ? 3 : 5;
      ctx.fillStyle = f.colour("strip");
      ctx.fillRect(f.left, f.top, f.width, Math.max(0, f.y(high * Math.exp(0.06 * span)) - f.top));
      ctx.globalAlpha = n > 20000 ? 0.6 : 0.85;
      for (const { name, at } of present) {
        ctx.fillStyle = f.colour(outcomeColour(name));
        for (let i = 0; i < n; ++i) {
          if (c.outcome[i] !== at || !shown[i]) continue;
          const x = f.x(xs[i]!);
          const y = f.y(ys[i]!);
          if (x < f.left - 4 || x > f.left + f.width + 4 || y < f.top - 4 || y > f.top + f.height + 4) continue;
          ctx.fillRect(x - size / 2, y - size / 2, size, size);
        }
      }
      ctx.globalAlpha = 1;
      const best = model.report.best_id === null ? undefined : model.row.get(model.report.best_id);
      if (best !== undefined && shown[best]) {
        ctx.strokeStyle = f.colour("text");
        ctx.lineWidth = 2;
        ctx.beginPath();
        ctx.arc(f.x(xs[best]!), f.y(ys[best]!), 7, 0, 7);
        ctx.stroke();
      }
      ctx.fillStyle = f.colour("muted");
      ctx.textAlign = "left";
      ctx.textBaseline = "top";
      ctx.fillText("without a time", f.left + 6, f.top + 4);
    },
    nearest: (f, px, py) => {
      const i = nearestOf(n, (k) => (shown[k] ? [f.x(xs[k]!), f.y(ys[k]!)] : null), px, py, 10);
      if (i < 0) return null;
      return { x: xs[i]!, y: ys[i]!, id: c.id[i]!, text: `candidate ${c.id[i]}: ${scores[i] === null ? words(model.outcome(i)) : time(scores[i])}, ${model.operator(i)}` };
    },
    select: context.select,
  });

  const said = h("p", { class: "muted", role: "status" });
  const listed = h("div");
  function update(): void {
    filter();
    plot.redraw();
    said.textContent = `${count(matches)} of ${count(n)} candidates`
      + (model.sampled ? ` drawn, a regular sample of the run's ${count(c.total)} with all elites and their ancestors` : "") + ".";
    const rows: number[] = [];
    for (let i = 0; i < n; ++i) if (shown[i]) rows.push(i);
    rows.sort((a, b) => (scores[a] ?? Infinity) - (scores[b] ?? Infinity) || c.id[a]! - c.id[b]!);
    rows.length = Math.min(rows.length, kListed);
    listed.replaceChildren(table("Matching candidates, fastest first", [
      { title: "candidate", number: true, cell: (i: number) => h("button", { type: "button", class: "link", click: () => context.select(c.id[i]!) }, c.id[i]!), sort: (i) => c.id[i]! },
      { title: "time", number: true, cell: (i) => time(scores[i]), sort: (i) => scores[i] ?? Infinity },
      { title: "generation", number: true, cell: (i) => c.generation[i]!, sort: (i) => c.generation[i]! },
      { title: "outcome", cell: (i) => words(model.outcome(i)), sort: (i) => model.outcome(i) },
      { title: "operator", cell: (i) => model.operator(i), sort: (i) => model.operator(i) },
      { title: "message, or what changed", cell: (i) => cut(model.message(i) || model.described(c.id[i]!)?.change || "", kCut) },
    ], rows));
  }
  let timer = 0;
  const search = h("input", { type: "search", id: "cloud-search", value: query.get(), placeholder: "number, operator, message, NAME=VALUE", input: () => {
    query.set(search.value);
    clearTimeout(timer);
    timer = window.setTimeout(update, 120);
  } });
  const chosen = h("select", { id: "cloud-operator", change: () => {
    operator.set(chosen.value);
    update();
  } }, h("option", { value: "" }, "all"), [...c.operators].sort().map((name) => h("option", { value: name, selected: name === operator.get() }, name)));
  const boxes = h("fieldset", { class: "outcomes" }, h("legend", { class: "hidden" }, "Outcomes"), present.map(({ name, at }) => {
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = `var(--${outcomeColour(name)})`;
    return h("label", { class: "check" }, h("input", { type: "checkbox", checked: !hidden.get().has(name), "data-outcome": name, change: (event: Event) => {
      if ((event.target as HTMLInputElement).checked) hidden.get().delete(name);
      else hidden.get().add(name);
      hidden.set(hidden.get());
      update();
    } }), swatch, ` ${words(name)} ${count(counts[at])}`);
  }));
  update();
  return h("div", {},
    h("div", { class: "row" }, h("label", { for: "cloud-search" }, "Search"), search, h("label", { for: "cloud-operator" }, "Operator"), chosen),
    boxes, plot.element, said,
    h("details", { open: true }, h("summary", {}, `The fastest ${kListed} of them`), listed));
}
