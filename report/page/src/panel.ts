// The panel that shows one candidate.
import { h } from "./dom";
import { count, percent, time, words } from "./format";
import type { Context } from "./model";
import type { Described } from "./types";

function facts(entries: [string, string | null | false][]): HTMLElement {
  return h("dl", { class: "facts" }, entries.map(([name, value]) => value && [h("dt", {}, name), h("dd", {}, value)]));
}

function told(described: Described): (HTMLElement | false | null)[] {
  return [
    described.change !== "" && h("p", { class: "change" }, described.change),
    described.verdict !== "" && h("p", { class: "muted" }, described.verdict),
    described.cases.length > 0 && h("table", { class: "small" }, h("caption", { class: "hidden" }, "Times by case"),
      h("thead", {}, h("tr", {}, ["case", "p10", "median", "p90"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, described.cases.map((one) => h("tr", {}, h("td", {}, one.name), h("td", {}, time(one.p10_ns)), h("td", {}, time(one.median_ns)), h("td", {}, time(one.p90_ns)))))),
    described.dropped !== undefined && h("p", {}, "Edits that could not be applied: ", described.dropped.join("; ")),
    described.log ? h("details", {}, h("summary", {}, "Log"), h("pre", { class: "log", tabindex: 0 }, described.log)) : null,
  ];
}

export function candidatePanel(context: Context, id: number, close: () => void): HTMLElement {
  const { model } = context;
  const row = model.row.get(id);
  const c = model.candidates;
  const title = h("h2", { tabindex: -1 }, `Candidate ${id}`);
  const more = h("div");
  const panel = h("aside", { class: "panel", "aria-label": `Candidate ${id}`, keydown: (event: KeyboardEvent) => event.key === "Escape" && close() },
    h("div", { class: "panel-head" }, title, h("button", { type: "button", class: "quiet", click: close, "aria-label": "Close the panel" }, "\u00d7")));
  if (row === undefined) {
    panel.append(h("p", {}, "This candidate is not in the report, which has a sample of the run's candidates."));
    return panel;
  }
  const parent = c.parent[row]!;
  const second = c.second[row]!;
  const link = (to: number) => h("button", { type: "button", class: "link", click: () => context.select(to) }, `${to}`);
  const outcome = model.outcome(row);
  panel.append(
    facts([
      ["outcome", words(outcome)],
      ["score", c.score_ns[row] === null ? null : time(c.score_ns[row])],
      ["generation", `${c.generation[row]}`],
      ["operator", model.operator(row)],
      ["template", c.templates[c.template[row]!]!],
      ["parameters", model.parameterText(row)],
      ["registers", c.registers[row]! < 0 ? null : count(c.registers[row])],
      ["spills", c.spill_bytes[row]! < 0 ? null : `${count(c.spill_bytes[row])} B a thread`],
      ["bound by", c.bounds[c.bound[row]!] || null],
      ["evaluation", c.copied[row] ? "copied from an equal program" : null],
    ]),
    parent > 0 && h("p", {}, second > 0 ? "Parents: " : "Parent: ", link(parent), second > 0 && [", ", link(second)]) || "",
    model.message(row) !== "" ? h("p", { class: "message" }, model.message(row)) : "", more);
  const described = model.described(id);
  if (described) more.append(...told(described).filter((node): node is HTMLElement => node instanceof HTMLElement));
  else if (!model.served) more.append(h("p", { class: "muted" }, `evo show ${id} --run ${model.report.run.run} tells what it changed.`));
  if (model.served || (model.source(id) && model.source(parent))) {
    if (parent > 0) panel.append(h("button", { type: "button", click: () => context.compare(parent, id) }, "Difference to its parent"));
  }
  if (model.served) {
    model.fetchCandidate(id).then((one) => more.replaceChildren(...told(one).filter((node): node is HTMLElement => node instanceof HTMLElement)),
      (error: Error) => more.append(h("p", { class: "muted" }, error.message)));
  }
  const line = model.report.story.findIndex((step) => step.id === id);
  if (line >= 0) panel.append(h("p", { class: "muted" }, `Step ${line} of the champion's story.`));
  const best = model.report.lines.baseline_ns;
  if (best !== null && c.score_ns[row] !== null) panel.append(h("p", { class: "muted" }, `${percent(c.score_ns[row]! / best)} of the baseline's time.`));
  return panel;
}
