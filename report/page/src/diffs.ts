// The difference of two sources: side by side, or as the few lines that changed.
import { diffArrays } from "diff";
import { h } from "./dom";
import { highlightLine } from "./highlight";

export interface DiffLine {
  left: number; // number of the line, from 1; 0: none
  right: number;
  before: string | null;
  after: string | null;
}

// Lines in the order of both sources; a removed line beside the added one of the same place.
export function differences(from: string[], to: string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let left = 0;
  let right = 0;
  const parts = diffArrays(from, to, { maxEditLength: 4000 }) ?? [
    { value: from, removed: true, added: false, count: from.length }, { value: to, removed: false, added: true, count: to.length }];
  for (let i = 0; i < parts.length; ++i) {
    const part = parts[i]!;
    if (!part.added && !part.removed) {
      for (const text of part.value) lines.push({ left: ++left, right: ++right, before: text, after: text });
      continue;
    }
    const next = parts[i + 1];
    const paired = next && (next.added || next.removed) && next.added !== part.added;
    const removed = part.removed ? part.value : paired ? next.value : [];
    const added = part.added ? part.value : paired ? next.value : [];
    if (paired) ++i;
    for (let k = 0; k < Math.max(removed.length, added.length); ++k) {
      const before = k < removed.length ? removed[k]! : null;
      const after = k < added.length ? added[k]! : null;
      lines.push({ left: before === null ? 0 : ++left, right: after === null ? 0 : ++right, before, after });
    }
  }
  return lines;
}

export const changed = (line: DiffLine): boolean => line.before !== line.after;

// Which lines are shown: those that changed with `context` lines around; gaps are null.
export function hunks(lines: DiffLine[], context: number): (DiffLine | null)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (changed(line)) near.fill(1, Math.max(0, i - context), Math.min(lines.length, i + context + 1));
  });
  const shown: (DiffLine | null)[] = [];
  lines.forEach((line, i) => {
    if (near[i]) shown.push(line);
    else if (shown.length > 0 && shown[shown.length - 1] !== null) shown.push(null);
  });
  while (shown.length > 0 && shown[shown.length - 1] === null) shown.pop();
  return shown;
}

const gap = (columns: number): HTMLElement => h("tr", { class: "gap" }, h("td", { colspan: columns }, "\u22ef"));

// One above the other, as in a unified difference.
export function unified(from: string[], to: string[], name: string, context = 2): HTMLElement {
  const body = h("tbody");
  const before = { comment: false };
  const after = { comment: false };
  const row = (kind: string, left: number, right: number, sign: string, nodes: Node[]) =>
    h("tr", { class: kind }, h("td", { class: "no" }, left || ""), h("td", { class: "no" }, right || ""), h("td", { class: "sign" }, sign), h("td", { class: "code" }, nodes));
  let block: DiffLine[] = [];
  const flush = () => {
    for (const line of block) if (line.before !== null) body.append(row("removed", line.left, 0, "\u2212", highlightLine(line.before, before)));
    for (const line of block) if (line.after !== null) body.append(row("added", 0, line.right, "+", highlightLine(line.after, after)));
    block = [];
  };
  for (const line of hunks(differences(from, to), context)) {
    if (line !== null && changed(line)) {
      block.push(line);
      continue;
    }
    flush();
    if (line === null) body.append(gap(4));
    else body.append(row("", line.left, line.right, "", highlightLine(line.after!, after)));
  }
  flush();
  if (!body.firstChild) return h("p", { class: "muted" }, "The two sources are the same.");
  return h("div", { class: "scroll code-box", tabindex: 0, role: "region", "aria-label": name },
    h("table", { class: "diff" }, h("caption", { class: "hidden" }, name), body));
}

export function sideBySide(from: string[], to: string[], name: string, context: number): HTMLElement {
  const body = h("tbody");
  const before = { comment: false };
  const after = { comment: false };
  const shown = hunks(differences(from, to), context);
  for (const line of shown) {
    if (line === null) {
      body.append(gap(4));
      continue;
    }
    const differs = changed(line);
    const cell = (text: string | null, state: { comment: boolean }, kind: string) =>
      h("td", { class: `code ${differs ? (text === null ? "absent" : kind) : ""}` }, text === null ? "" : highlightLine(text, state));
    body.append(h("tr", {}, h("td", { class: "no" }, line.left || ""), cell(line.before, before, "removed"),
      h("td", { class: "no" }, line.right || ""), cell(line.after, after, "added")));
  }
  if (shown.length === 0) return h("p", { class: "muted" }, "The two sources are the same.");
  return h("div", { class: "scroll code-box tall", tabindex: 0, role: "region", "aria-label": name },
    h("table", { class: "diff side" }, h("caption", { class: "hidden" }, name), body));
}
