// Elements from values. A text is only ever a text node or an attribute: nothing in this page reads markup, and the page's policy
// (require-trusted-types-for) makes the browser refuse to.
export type Child = Node | string | number | null | undefined | false | Child[];

type Attributes = { [name: string]: string | number | boolean | ((event: any) => void) | null | undefined };

function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(child instanceof Node ? child : visible(String(child)));
  }
}

// Characters that change the order or the look of a line of text are shown by their number.
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  append(element, children);
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag) as SVGElement;
  fill(element, attributes, children);
  return element;
}

// A bar whose length is a share of its cell.
export function bar(share: number, kind = ""): HTMLElement {
  const inner = h("span", { class: "bar-in " + kind });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

export interface ColumnOf<T> {
  title: string;
  number?: boolean;
  cell: (row: T) => Child;
  sort?: (row: T) => number | string;
}

// A box for more rows than these is not as high as its table.
const kMostShownWhole = 16;

// A table that scrolls in its own box, with headers that sort where a column can be sorted by.
export function table<T>(name: string, columns: ColumnOf<T>[], rows: T[], onRow?: (row: T) => void): HTMLElement {
  const body = h("tbody");
  let by = -1;
  let down = true;
  const headers = columns.map((column, i) => {
    const cell = h("th", { scope: "col", class: column.number ? "number" : "" });
    if (column.sort) {
      cell.append(h("button", { type: "button", class: "sort", click: () => sortBy(i) }, column.title));
    } else {
      cell.append(column.title);
    }
    return cell;
  });
  function show(): void {
    body.replaceChildren(...rows.map((row) => {
      const line = h("tr", {}, columns.map((column) => h("td", { class: column.number ? "number" : "" }, column.cell(row))));
      if (onRow) {
        line.classList.add("clickable");
        line.addEventListener("click", () => onRow(row));
      }
      return line;
    }));
  }
  function sortBy(i: number): void {
    down = by === i ? !down : true;
    by = i;
    const key = columns[i]!.sort!;
    rows = [...rows].sort((a, b) => {
      const x = key(a);
      const y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    headers.forEach((cell, at) => (at === i ? cell.setAttribute("aria-sort", down ? "descending" : "ascending") : cell.removeAttribute("aria-sort")));
    show();
  }
  show();
  return h("div", { class: rows.length > kMostShownWhole ? "scroll" : "scroll whole", tabindex: 0, role: "region", "aria-label": name },
    h("table", {}, h("caption", { class: "hidden" }, name), h("thead", {}, h("tr", {}, headers)), body));
}
