// View 5: the elites with their ancestors, and what failed beside them.
import { h, svg } from "../dom";
import { count, time, words } from "../format";
import type { Context } from "../model";

interface Node {
  id: number;
  children: Node[];
  failed: Map<string, number[]>; // rows by outcome
  depth: number;
  y: number;
}

const kRow = 22;
const kColumn = 88;

function build(context: Context): Node[] {
  const { model } = context;
  const c = model.candidates;
  const nodes = new Map<number, Node>();
  const roots: Node[] = [];
  for (const elite of model.report.elites) {
    let id = elite;
    const path: number[] = [];
    while (id > 0 && !nodes.has(id) && model.row.has(id)) {
      nodes.set(id, { id, children: [], failed: new Map(), depth: 0, y: 0 });
      path.push(id);
      id = c.parent[model.row.get(id)!]!;
    }
    for (const one of path) {
      const node = nodes.get(one)!;
      const parent = nodes.get(c.parent[model.row.get(one)!]!);
      // A circle of a damaged database is cut where it would close.
      if (parent && parent !== node && !path.slice(0, path.indexOf(one)).includes(parent.id)) parent.children.push(node);
      else roots.push(node);
    }
  }
  for (let i = 0; i < c.id.length; ++i) {
    if (c.score_ns[i] !== null) continue;
    const parent = nodes.get(c.parent[i]!);
    if (!parent) continue;
    const outcome = model.outcome(i);
    const rows = parent.failed.get(outcome) ?? [];
    rows.push(i);
    parent.failed.set(outcome, rows);
  }
  return roots;
}

// Places leaves below each other, parents at the height of their first child, and the champion's line in the first row. Without
// recursion: lines may be long.
function place(roots: Node[], line: Set<number>): { all: Node[]; rows: number; columns: number } {
  const all: Node[] = [];
  const seen = new Set<Node>();
  let row = 0;
  let columns = 1;
  const stack: { node: Node; next: number }[] = [];
  const lineFirst = (a: Node, b: Node) => Number(line.has(b.id)) - Number(line.has(a.id));
  for (const root of roots.sort(lineFirst)) {
    stack.push({ node: root, next: 0 });
    seen.add(root);
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      if (top.next === 0) top.node.children.sort(lineFirst);
      const child = top.node.children[top.next++];
      if (child) {
        if (seen.has(child)) continue;
        seen.add(child);
        child.depth = top.node.depth + 1;
        columns = Math.max(columns, child.depth + 1);
        stack.push({ node: child, next: 0 });
        continue;
      }
      const { node } = top;
      stack.pop();
      const failures = [...node.failed.values()].length > 0 ? 1 : 0;
      if (node.children.length === 0) {
        node.y = row++;
        row += failures ? 0.6 : 0;
      } else {
        node.y = node.children[0]!.y;
        if (failures && node.children.length === 1) row = Math.max(row, node.y + 1.6);
      }
      all.push(node);
    }
  }
  return { all, rows: Math.max(1, Math.ceil(row)), columns };
}

export function treeView(context: Context): HTMLElement {
  const { model } = context;
  const c = model.candidates;
  const roots = build(context);
  if (roots.length === 0) return h("p", { class: "muted" }, "No candidate is right yet.");
  const line = new Set(model.report.story.map((step) => step.id));
  const { all, rows, columns } = place(roots, line);
  const width = columns * kColumn + 120;
  const height = rows * kRow + 30;
  const x = (node: Node) => 14 + node.depth * kColumn;
  const y = (node: Node) => 16 + node.y * kRow;
  const why = h("div", { class: "tree-why", role: "status" });
  const edges = svg("g", { class: "edges" });
  const marks = svg("g");
  const explain = (node: Node) => why.replaceChildren(h("h3", {}, `Failed children of candidate ${node.id}`), h("ul", { class: "texts" },
    [...node.failed].flatMap(([outcome, failures]) => failures.slice(0, 12).map((row) => h("li", {},
      h("button", { type: "button", class: "link", click: () => context.select(c.id[row]!) }, `${c.id[row]}`),
      ` ${model.operator(row)}: ${words(outcome)}${model.message(row) ? ": " + model.message(row) : ""}`)))));
  const button = (group: SVGElement, act: () => void) => {
    group.addEventListener("click", act);
    return group;
  };
  for (const node of all) {
    for (const child of node.children) {
      const mid = x(node) + kColumn * 0.62;
      edges.append(svg("path", { d: `M${x(node)},${y(node)}C${mid},${y(node)} ${mid},${y(child)} ${x(child)},${y(child)}`, class: line.has(node.id) && line.has(child.id) ? "line" : "" }));
    }
    const row = model.row.get(node.id)!;
    const failures = [...node.failed.values()].reduce((sum, rows_) => sum + rows_.length, 0);
    if (failures > 0) {
      const fx = x(node) + 28;
      const fy = y(node) + 14;
      edges.append(svg("path", { d: `M${x(node)},${y(node)}L${fx},${fy}`, class: "stub" }));
      marks.append(button(svg("g", { class: "failed", transform: `translate(${fx},${fy})` },
        svg("title", {}, [...node.failed].map(([outcome, list]) => `${list.length} ${words(outcome)}`).join(", ")),
        svg("rect", { x: -1, y: -7, width: 12 + 6 * String(failures).length, height: 14, rx: 3 }),
        svg("text", { x: 4, y: 4 }, `\u00d7${failures}`)), () => explain(node)));
    }
    marks.append(button(svg("g", { class: node.id === model.report.best_id ? "node best" : line.has(node.id) ? "node line" : "node", transform: `translate(${x(node)},${y(node)})` },
      svg("title", {}, `candidate ${node.id}: ${time(c.score_ns[row])}, ${model.operator(row)}`),
      svg("circle", { r: 5 }), svg("text", { x: 8, y: -6 }, time(c.score_ns[row]))), () => context.select(node.id)));
  }
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Tree of ${all.length} candidates: the elites, their ancestors and their failed children` }, edges, marks);
  const failing = all.filter((node) => node.failed.size > 0);
  const box = h("div", { class: "scroll tree", tabindex: 0, role: "region", "aria-label": "Tree of elites" }, picture);
  const best = all.find((node) => node.id === model.report.best_id);
  if (best) requestAnimationFrame(() => (box.scrollLeft = x(best) + 2 * kColumn - box.clientWidth)); // its line ends in sight
  return h("div", {},
    h("p", { class: "muted" }, `The ${count(model.report.elites.length)} fastest candidates, the champion among them, with their ancestors, from left to right; the champion's line is bold. `
      + "Grey stubs count the children that failed; a click says why."),
    box, why,
    h("details", {}, h("summary", {}, `As a list, with ${count(failing.length)} that have failed children`), h("ul", { class: "texts" }, all.map((node) => {
      const parent = c.parent[model.row.get(node.id)!]!;
      return h("li", {}, h("button", { type: "button", class: "link", click: () => context.select(node.id) }, `${node.id}`),
        ` ${time(c.score_ns[model.row.get(node.id)!])}, ${model.operator(model.row.get(node.id)!)}${parent > 0 ? `, child of ${parent}` : ""}`,
        node.failed.size > 0 && [" ", h("button", { type: "button", class: "link", click: () => explain(node) }, `failed: ${[...node.failed].map(([outcome, list]) => `${list.length} ${words(outcome)}`).join(", ")}`)]);
    }))));
}
