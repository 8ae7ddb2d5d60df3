// View 6: what each operator was tried for and what came of it.
import { bar, h, table } from "../dom";
import { count, percent, ratio } from "../format";
import { kept, type Context } from "../model";
import type { OperatorFacts } from "../types";

// Tries and wins of each operator by what bounds its parent.
function byBottleneck(context: Context): { bounds: string[]; of: Map<string, { tries: number; won: number }[]> } {
  const { model } = context;
  const c = model.candidates;
  const parents = new Map<string, number>();
  for (const parent of c.parent) {
    const row = model.row.get(parent);
    const name = row === undefined ? "" : c.bounds[c.bound[row]!]!;
    if (name !== "") parents.set(name, (parents.get(name) ?? 0) + 1);
  }
  const bounds = [...parents].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const of = new Map<string, { tries: number; won: number }[]>();
  for (let i = 0; i < c.id.length; ++i) {
    const parent = model.row.get(c.parent[i]!);
    if (parent === undefined) continue;
    const at = bounds.indexOf(c.bounds[c.bound[parent]!]!);
    if (at < 0) continue;
    const op = model.operator(i);
    let cells = of.get(op);
    if (!cells) of.set(op, (cells = bounds.map(() => ({ tries: 0, won: 0 }))));
    cells[at]!.tries++;
    const mine = c.score_ns[i];
    const before = c.score_ns[parent];
    if (mine != null && before != null && mine < before) cells[at]!.won++;
  }
  return { bounds, of };
}

export function operatorsView(context: Context): HTMLElement {
  const { report, sampled } = context.model;
  if (report.operators.length === 0) return h("p", { class: "muted" }, "No child was bred yet.");
  const most = Math.max(1, ...report.operators.map((row) => row.tries));
  const { bounds, of } = byBottleneck(context);
  const query = kept(context, "operators.query", "");
  const holder = h("div");
  const share = (part: number, row: OperatorFacts) => (row.tries > 0 ? part / row.tries : 0);
  const withBar = (value: number, width: number, kind: string) => h("span", { class: "with-bar" }, count(value), bar(width, kind));
  const draw = () => {
    const rows = report.operators.filter((row) => `${row.operator} ${row.description}`.toLowerCase().includes(query.get().toLowerCase()));
    holder.replaceChildren(table("Operators", [
      { title: "operator", cell: (row: OperatorFacts) => h("span", { title: row.description }, row.operator), sort: (row) => row.operator },
      { title: "promise", cell: (row) => row.promise === "unproven" ? h("span", { class: "badge warn" }, "unproven") : row.promise ?? "", sort: (row) => row.promise ?? "" },
      { title: "tried", number: true, cell: (row) => withBar(row.tries, row.tries / most, ""), sort: (row) => row.tries },
      { title: "valid", number: true, cell: (row) => withBar(row.valid, share(row.valid, row), "valid"), sort: (row) => row.valid },
      { title: "neutral", number: true, cell: (row) => withBar(row.neutral, share(row.neutral, row), "neutral"), sort: (row) => row.neutral },
      { title: "won", number: true, cell: (row) => withBar(row.won, share(row.won, row), "won"), sort: (row) => row.won },
      { title: "best gain", number: true, cell: (row) => ratio(row.best_gain), sort: (row) => row.best_gain ?? 0 },
      { title: "did not apply", number: true, cell: (row) => count(row.inapplicable), sort: (row) => row.inapplicable },
    ], rows));
    if (bounds.length === 0) return;
    holder.append(h("h3", {}, "Won of tried, parent bound by"), table("Won of tried by what bounds the parent", [
      { title: "operator", cell: (row: OperatorFacts) => row.operator, sort: (row) => row.operator },
      ...bounds.map((name, at) => {
        const share = (row: OperatorFacts) => {
          const cell = of.get(row.operator)?.[at];
          return cell && cell.tries > 0 ? { ...cell, part: cell.won / cell.tries } : null;
        };
        return {
          title: name, number: true, sort: (row: OperatorFacts) => share(row)?.part ?? -1,
          cell: (row: OperatorFacts) => {
            const cell = share(row);
            return cell && h("span", { class: "with-bar", title: percent(cell.part) }, `${count(cell.won)} of ${count(cell.tries)}`, bar(cell.part, "won"));
          },
        };
      }),
    ], rows.filter((row) => of.has(row.operator))));
  };
  draw();
  const search = h("input", { type: "search", id: "operator-search", value: query.get(), input: () => {
    query.set(search.value);
    draw();
  } });
  return h("div", {},
    h("div", { class: "row" }, h("label", { for: "operator-search" }, "Search"), search),
    h("p", { class: "muted" }, "Valid: right and compiled to another program than its parent. Neutral: compiled to the same program. Won: faster than its parent."
      + (bounds.length > 0 ? `${sampled ? " What bounds a parent is counted in the sample." : ""}` : " What bounds the parents is not known.")),
    holder);
}
