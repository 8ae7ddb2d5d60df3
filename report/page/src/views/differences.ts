// View 3: two sources side by side.
import { h } from "../dom";
import { sideBySide, unified } from "../diffs";
import { time } from "../format";
import { kept, type Context } from "../model";

// The pair is chosen here, or by other views through `show`.
export interface DifferencesView {
  element: HTMLElement;
  show: (a: number, b: number) => void;
}

export function differencesView(context: Context): DifferencesView {
  const { model } = context;
  const { report } = model;
  const choices = new Map<number, string>();
  if (report.baseline_id !== null) choices.set(report.baseline_id, `baseline (${report.baseline_id})`);
  report.story.forEach((step, i) => {
    const name = step.id === report.best_id ? "champion" : i === 0 ? "template" : `step ${i}: ${step.operator}`;
    if (model.source(step.id)) choices.set(step.id, choices.get(step.id) ?? `${name} (${step.id}), ${time(step.score_ns)}`);
  });
  const pair = kept<[number, number] | null>(context, "differences.pair",
    report.baseline_id !== null && report.best_id !== null ? [report.baseline_id, report.best_id] : null);
  const whole = kept(context, "differences.whole", false);
  const out = h("div", { "aria-live": "polite" });
  const element = h("div");
  const pickers: HTMLSelectElement[] = [];

  function picker(label: string, which: 0 | 1): HTMLElement {
    const select = h("select", { change: () => {
      const now = pair.get() ?? [0, 0];
      pair.set(which === 0 ? [Number(select.value), now[1]] : [now[0], Number(select.value)]);
      draw();
    } });
    pickers.push(select);
    return h("label", {}, `${label} `, select);
  }
  function options(): void {
    pickers.forEach((select, which) => {
      const ids = new Map(choices);
      const chosen = pair.get()?.[which];
      if (chosen && !ids.has(chosen)) ids.set(chosen, `candidate ${chosen}`);
      select.replaceChildren(...[...ids].map(([id, name]) => h("option", { value: id, selected: id === chosen }, name)));
    });
  }
  function draw(): void {
    options();
    const now = pair.get();
    if (!now) {
      out.replaceChildren(h("p", { class: "muted" }, "Two candidates are compared here once there is a champion."));
      return;
    }
    const [a, b] = now;
    const from = model.source(a);
    const to = model.source(b);
    if (!from || !to) {
      const missing = from ? b : a;
      if (!model.served) {
        out.replaceChildren(h("p", { class: "muted" }, `The source of candidate ${missing} is not in the report: evo diff ${a} ${b} --run ${report.run.run} shows the difference.`));
        return;
      }
      out.replaceChildren(h("p", { class: "muted" }, "Loading\u2026"));
      Promise.all([a, b].map((id) => model.fetchCandidate(id))).then((both) => {
        const failed = both.find((one) => one.source === undefined);
        if (failed) out.replaceChildren(h("p", { class: "muted" }, failed.no_source ?? "No source."));
        else draw();
      }, (error: Error) => out.replaceChildren(h("p", { class: "muted" }, error.message)));
      return;
    }
    const name = `Difference from candidate ${a} to candidate ${b}`;
    const narrow = window.matchMedia("(max-width: 800px)").matches;
    const context_lines = whole.get() ? 1e9 : 4;
    out.replaceChildren(narrow ? unified(from, to, name, context_lines) : sideBySide(from, to, name, context_lines));
  }
  const preset = (name: string, of: () => [number, number] | null) => h("button", { type: "button", click: () => {
    const found = of();
    if (!found) return;
    pair.set(found);
    draw();
  } }, name);
  const story = report.story;
  element.append(h("div", { class: "row" }, picker("from", 0), picker("to", 1),
    preset("Base and champion", () => (report.baseline_id !== null && report.best_id !== null ? [report.baseline_id, report.best_id] : null)),
    preset("Champion and its parent", () => (story.length > 1 ? [story[story.length - 2]!.id, story[story.length - 1]!.id] : null)),
    h("label", { class: "check" }, h("input", { type: "checkbox", checked: whole.get(), change: (event: Event) => {
      whole.set((event.target as HTMLInputElement).checked);
      draw();
    } }), " all lines")), out);
  draw();
  return { element, show: (a, b) => {
    pair.set([a, b]);
    draw();
  } };
}
