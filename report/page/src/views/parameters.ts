// View 7: the parameters' marginals, and what was never tried.
import { bar, h } from "../dom";
import { count, percent, time } from "../format";
import { kept, type Context } from "../model";
import type { TemplateSpace } from "../types";

interface Seen {
  tries: number;
  ok: number;
  best: number;
}

function seenOf(context: Context, template: string): { values: { [name: string]: number }; seen: Seen }[] {
  const { model } = context;
  const c = model.candidates;
  const at = c.templates.indexOf(template);
  const found = new Map<number, Seen>();
  for (let i = 0; i < c.id.length; ++i) {
    if (c.template[i] !== at) continue;
    let seen = found.get(c.parameters[i]!);
    if (!seen) found.set(c.parameters[i]!, (seen = { tries: 0, ok: 0, best: Infinity }));
    seen.tries++;
    const score = c.score_ns[i];
    if (score != null) {
      seen.ok++;
      seen.best = Math.min(seen.best, score);
    }
  }
  return [...found].flatMap(([text, seen]) => (model.parameters[text] ? [{ values: model.parameters[text]!, seen }] : []));
}

const none = (): Seen => ({ tries: 0, ok: 0, best: Infinity });
function add(sum: Seen, one: Seen): void {
  sum.tries += one.tries;
  sum.ok += one.ok;
  sum.best = Math.min(sum.best, one.best);
}

function heat(cell: Seen, best: number, worst: number): HTMLElement {
  if (cell.tries === 0) return h("td", { class: "never" }, "never");
  if (cell.ok === 0) return h("td", { class: "none-ok" }, `${cell.tries} failed`);
  const share = worst > best ? Math.log(cell.best / best) / Math.log(worst / best) : 0;
  const td = h("td", { class: "heat" }, time(cell.best));
  td.style.setProperty("--heat", `${Math.round(70 * (1 - share))}%`);
  return td;
}

function spaceView(context: Context, space: TemplateSpace): HTMLElement {
  const tried = seenOf(context, space.template);
  const own = space.parameters.map((parameter) => parameter.name);
  const brought = [...new Set(tried.flatMap((one) => Object.keys(one.values)))].filter((name) => !own.includes(name)).sort()
    .map((name) => ({ name, initial: null, values: [...new Set(tried.map((one) => one.values[name]!).filter((value) => value !== undefined))].sort((a, b) => a - b) }));
  const parameters = [...space.parameters, ...brought];
  const names = parameters.map((parameter) => parameter.name);
  const assignments = new Set(tried.map((one) => own.map((name) => one.values[name]).join(" "))).size;
  let product = 1;
  for (const parameter of space.parameters) product *= Math.max(1, parameter.values.length);
  const marginals = parameters.map((parameter) => {
    const cells = parameter.values.map((value) => {
      const sum = none();
      for (const one of tried) if (one.values[parameter.name] === value) add(sum, one.seen);
      return { value, sum };
    });
    const best = Math.min(...cells.map((cell) => cell.sum.best));
    const most = Math.max(1, ...cells.map((cell) => cell.sum.tries));
    return h("section", { class: "card" }, h("h4", {}, parameter.name), h("table", { class: "small" }, h("caption", { class: "hidden" }, `Values of ${parameter.name}`),
      h("thead", {}, h("tr", {}, ["value", "tried", "best"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, cells.map(({ value, sum }) => h("tr", { class: sum.tries === 0 ? "never" : "" },
        h("th", { scope: "row" }, `${value}`, value === parameter.initial && h("span", { class: "muted" }, " default")),
        h("td", {}, sum.tries === 0 ? "never" : h("span", { class: "with-bar" }, count(sum.tries), bar(sum.tries / most))),
        h("td", {}, sum.ok === 0 ? (sum.tries > 0 ? "none right" : "") : h("span", { class: "with-bar" }, time(sum.best), bar(best / sum.best, sum.best === best ? "won" : ""))))))));
  });
  const pairKey = kept<[string, string]>(context, `parameters.${space.template}`, [names[0] ?? "", names[1] ?? ""]);
  const holder = h("div");
  const drawPair = () => {
    const [a, b] = pairKey.get().map((name) => parameters.find((parameter) => parameter.name === name));
    if (!a || !b || a === b) {
      holder.replaceChildren(h("p", { class: "muted" }, "Choose two different parameters."));
      return;
    }
    const cells = a.values.map((va) => b.values.map((vb) => {
      const sum = none();
      for (const one of tried) if (one.values[a.name] === va && one.values[b.name] === vb) add(sum, one.seen);
      return sum;
    }));
    const bests = cells.flat().map((cell) => cell.best).filter((v) => isFinite(v));
    const [best, worst] = [Math.min(...bests), Math.max(...bests)];
    const never = cells.flat().filter((cell) => cell.tries === 0).length;
    holder.replaceChildren(
      h("p", { class: "muted" }, `${count(never)} of ${count(cells.flat().length)} pairs of values were never tried together; constraints may exclude some.`),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Best time by ${a.name} and ${b.name}` }, h("table", { class: "small grid" }, h("caption", { class: "hidden" }, `Best time by ${a.name} and ${b.name}`),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, `${a.name} \u2193  ${b.name} \u2192`), b.values.map((value) => h("th", { scope: "col" }, value)))),
        h("tbody", {}, a.values.map((value, i) => h("tr", {}, h("th", { scope: "row" }, value), cells[i]!.map((cell) => heat(cell, best, worst))))))));
  };
  drawPair();
  const picker = (which: 0 | 1) => {
    const select = h("select", { "aria-label": which === 0 ? "Rows" : "Columns", change: () => {
      const now = pairKey.get();
      pairKey.set(which === 0 ? [select.value, now[1]] : [now[0], select.value]);
      drawPair();
    } }, names.map((name) => h("option", { value: name, selected: name === pairKey.get()[which] }, name)));
    return select;
  };
  const known = space.legal ?? product;
  return h("section", {}, h("h3", {}, `Template ${space.template}`),
    names.length === 0 ? h("p", { class: "muted" }, "It has no parameters.") : [
      h("p", {}, h("strong", {}, `${count(assignments)} of ${count(known)} assignments tried`), ` (${percent(assignments / Math.max(1, known))})`,
        space.legal === null ? "; constraints make some of them impossible." : ", counting those that meet the constraints.",
        brought.length > 0 ? ` Edits brought ${brought.map((parameter) => parameter.name).join(", ")}, of which the values that were tried are shown.` : "",
        context.model.sampled ? " Counted in the sample: more may have been tried." : ""),
      h("div", { class: "cards" }, marginals),
      names.length > 1 && [h("div", { class: "row" }, h("span", {}, "Pairs:"), picker(0), picker(1)), holder]]);
}

export function parametersView(context: Context): HTMLElement {
  const spaces = context.model.report.parameters;
  const used = spaces.filter((space) => context.model.candidates.templates.includes(space.template));
  const unused = spaces.filter((space) => !used.includes(space));
  if (used.length === 0) return h("p", { class: "muted" }, "The templates of this run have no parameters that can be read.");
  return h("div", {}, used.map((space) => spaceView(context, space)),
    unused.length > 0 && h("p", { class: "muted" }, `Templates of which no candidate was made: ${unused.map((space) => space.template).join(", ")}.`));
}
