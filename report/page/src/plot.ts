// One chart on a canvas: axes, zoom and pan by wheel, drag and keys, the nearest point under the pointer. Draws only when something
// changed, once a frame.
import { h, visible } from "./dom";

export interface Axis {
  label: string;
  log?: boolean;
  format: (value: number) => string;
  whole?: boolean; // only whole numbers get a tick
}

export interface Scale {
  (value: number): number;
}

export interface Frame {
  ctx: CanvasRenderingContext2D;
  x: Scale;
  y: Scale;
  left: number;
  top: number;
  width: number;
  height: number;
  colour: (name: string) => string;
}

export interface Point {
  x: number;
  y: number;
  text: string;
  id?: number;
}

export interface PlotOptions {
  name: string; // of the chart, for screen readers
  height: number;
  xAxis: Axis;
  yAxis: Axis;
  domain: () => { x: [number, number]; y: [number, number] };
  draw: (frame: Frame) => void;
  nearest?: (frame: Frame, px: number, py: number) => Point | null;
  select?: (id: number) => void;
  zoomY?: boolean;
  yLabels?: (frame: Frame) => void; // in place of the ticks of the y axis
  marginLeft?: number;
}

type Range = [number, number];

// What a reader zoomed to, by the chart's name, so that new data do not undo it.
const zooms = new Map<string, { x: Range; y: Range }>();

export function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888";
}

function ticks(range: Range, most: number, axis: Axis): number[] {
  const [low, high] = range;
  const found: number[] = [];
  if (axis.log) {
    const decades = Math.log10(high / low);
    const steps = decades > most ? [1] : decades > most / 3 ? [1, 3] : decades > 0.7 ? [1, 2, 5] : [];
    if (steps.length > 0) {
      const every = Math.max(1, Math.ceil(decades / most));
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
        if (e % every !== 0) continue;
        for (const s of steps) if (s * 10 ** e >= low && s * 10 ** e <= high) found.push(s * 10 ** e);
      }
      if (found.length > 1) return found;
      found.length = 0;
    }
  }
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  if (axis.whole) step = Math.max(1, Math.round(step));
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return found;
}

export class Plot {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  private tip: HTMLElement;
  private view: { x: Range; y: Range } | null;
  private queued = false;
  private last: Frame | null = null;
  private drag: { px: number; py: number; x: Range; y: Range; moved: boolean } | null = null;

  constructor(private readonly options: PlotOptions) {
    this.canvas = h("canvas", { role: "img", tabindex: 0, "aria-label": `${options.name}. Keys: plus and minus zoom, arrows move, 0 shows all.` });
    this.canvas.style.height = `${options.height}px`;
    this.tip = h("div", { class: "tip", "aria-hidden": "true" });
    this.element = h("div", { class: "plot" }, this.canvas, this.tip);
    this.view = zooms.get(options.name) ?? null;
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    plots.add(new WeakRef(this));
  }

  redraw(): void {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => this.drawNow());
  }

  private range(): { x: Range; y: Range } {
    return this.view ?? this.options.domain();
  }

  private scale(range: Range, log: boolean | undefined, from: number, to: number): Scale {
    if (log) {
      const low = Math.log(range[0]);
      const size = Math.log(range[1]) - low || 1;
      return (v) => from + ((Math.log(v) - low) / size) * (to - from);
    }
    const size = range[1] - range[0] || 1;
    return (v) => from + ((v - range[0]) / size) * (to - from);
  }

  drawNow(): void {
    this.queued = false;
    const width = this.canvas.clientWidth;
    const height = this.options.height;
    if (width === 0) return;
    const density = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * density) || this.canvas.height !== Math.round(height * density)) {
      this.canvas.width = Math.round(width * density);
      this.canvas.height = Math.round(height * density);
    }
    const ctx = this.canvas.getContext("2d")!;
    ctx.setTransform(density, 0, 0, density, 0, 0);
    ctx.clearRect(0, 0, width, height);
    const { xAxis, yAxis } = this.options;
    const { x, y } = this.range();
    const left = this.options.marginLeft ?? 78;
    const top = 10;
    const right = width - 12;
    const bottom = height - 38;
    const styles = getComputedStyle(document.documentElement);
    const known = new Map<string, string>();
    const colour = (name: string): string => {
      let value = known.get(name);
      if (value === undefined) known.set(name, (value = styles.getPropertyValue(`--${name}`).trim() || "#888"));
      return value;
    };
    const frame: Frame = {
      ctx, colour, left, top, width: right - left, height: bottom - top,
      x: this.scale(x, xAxis.log, left, right),
      y: this.scale(y, yAxis.log, bottom, top),
    };
    this.last = frame;
    ctx.font = "12px system-ui, sans-serif";
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    ctx.strokeStyle = colour("grid");
    ctx.fillStyle = colour("muted");
    ctx.textAlign = "right";
    if (!this.options.yLabels) {
      for (const t of ticks(y, Math.max(2, Math.floor(frame.height / 45)), yAxis)) {
        const at = Math.round(frame.y(t)) + 0.5;
        ctx.beginPath();
        ctx.moveTo(left, at);
        ctx.lineTo(right, at);
        ctx.stroke();
        ctx.fillText(yAxis.format(t), left - 6, at);
      }
    }
    ctx.textAlign = "center";
    for (const t of ticks(x, Math.max(2, Math.floor(frame.width / 80)), xAxis)) {
      const at = Math.round(frame.x(t)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(at, top);
      ctx.lineTo(at, bottom);
      ctx.stroke();
      const text = xAxis.format(t);
      ctx.fillText(text, Math.min(at, width - ctx.measureText(text).width / 2), bottom + 12);
    }
    ctx.fillText(xAxis.label, left + frame.width / 2, height - 8);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, frame.width, frame.height);
    ctx.clip();
    this.options.draw(frame);
    ctx.restore();
    ctx.strokeStyle = colour("axis");
    ctx.beginPath();
    ctx.moveTo(left + 0.5, top);
    ctx.lineTo(left + 0.5, bottom + 0.5);
    ctx.lineTo(right, bottom + 0.5);
    ctx.stroke();
    if (this.options.yLabels) this.options.yLabels(frame);
    else {
      ctx.save();
      ctx.translate(9, top + frame.height / 2);
      ctx.rotate(-Math.PI / 2);
      ctx.fillStyle = colour("muted");
      ctx.textAlign = "center";
      ctx.fillText(yAxis.label, 0, 0);
      ctx.restore();
    }
  }

  private zoomed(range: Range, log: boolean | undefined, at: number, factor: number): Range {
    if (log) {
      const [low, high] = [Math.log(range[0]), Math.log(range[1])];
      const centre = low + (high - low) * at;
      return [Math.exp(centre - (centre - low) * factor), Math.exp(centre + (high - centre) * factor)];
    }
    const centre = range[0] + (range[1] - range[0]) * at;
    return [centre - (centre - range[0]) * factor, centre + (range[1] - centre) * factor];
  }

  private moved(range: Range, log: boolean | undefined, share: number): Range {
    if (log) {
      const by = Math.exp((Math.log(range[1]) - Math.log(range[0])) * share);
      return [range[0] * by, range[1] * by];
    }
    const by = (range[1] - range[0]) * share;
    return [range[0] + by, range[1] + by];
  }

  private show(view: { x: Range; y: Range } | null): void {
    this.view = view;
    if (view) zooms.set(this.options.name, view);
    else zooms.delete(this.options.name);
    this.tip.style.display = "none";
    this.redraw();
  }

  zoom(factor: number, atX = 0.5, atY = 0.5): void {
    const { x, y } = this.range();
    this.show({
      x: this.zoomed(x, this.options.xAxis.log, atX, factor),
      y: this.options.zoomY ? this.zoomed(y, this.options.yAxis.log, atY, factor) : y,
    });
  }

  private pan(shareX: number, shareY: number, from = this.range()): void {
    this.show({
      x: this.moved(from.x, this.options.xAxis.log, shareX),
      y: this.options.zoomY ? this.moved(from.y, this.options.yAxis.log, shareY) : from.y,
    });
  }

  private find(event: MouseEvent): Point | null {
    if (!this.last || !this.options.nearest) return null;
    const box = this.canvas.getBoundingClientRect();
    return this.options.nearest(this.last, event.clientX - box.left, event.clientY - box.top);
  }

  private listen(): void {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      // The page scrolls over a chart; with Ctrl, or once the chart has the focus, the wheel zooms.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const frame = this.last;
      if (!frame) return;
      const box = canvas.getBoundingClientRect();
      const atX = (event.clientX - box.left - frame.left) / frame.width;
      const atY = 1 - (event.clientY - box.top - frame.top) / frame.height;
      this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), atX, atY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.drag = { px: event.clientX, py: event.clientY, ...this.range(), moved: false };
    });
    window.addEventListener("pointerup", () => (this.drag = this.drag?.moved ? this.drag : null));
    canvas.addEventListener("pointermove", (event) => {
      const frame = this.last;
      const drag = this.drag;
      if (drag && frame && (event.buttons & 1) === 1) {
        const dx = event.clientX - drag.px;
        const dy = event.clientY - drag.py;
        if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
        if (drag.moved) this.pan(-dx / frame.width, dy / frame.height, drag);
        return;
      }
      const found = this.find(event);
      if (!found || !frame) {
        this.tip.style.display = "none";
        canvas.style.cursor = "";
        return;
      }
      this.tip.textContent = visible(found.text);
      this.tip.style.display = "block";
      const x = frame.x(found.x);
      this.tip.style.left = `${Math.min(x + 10, Math.max(0, canvas.clientWidth - this.tip.offsetWidth - 4))}px`;
      this.tip.style.top = `${Math.max(0, frame.y(found.y) - this.tip.offsetHeight - 8)}px`;
      canvas.style.cursor = found.id === undefined ? "" : "pointer";
    });
    canvas.addEventListener("pointerleave", () => (this.tip.style.display = "none"));
    canvas.addEventListener("click", (event) => {
      const wasDragged = this.drag?.moved;
      this.drag = null;
      if (wasDragged) return;
      const found = this.find(event);
      if (found?.id !== undefined && this.options.select) this.options.select(found.id);
    });
    canvas.addEventListener("dblclick", () => this.show(null));
    canvas.addEventListener("keydown", (event) => {
      const moves: { [key: string]: () => void } = {
        "+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7), "0": () => this.show(null),
        ArrowLeft: () => this.pan(-0.15, 0), ArrowRight: () => this.pan(0.15, 0),
        ArrowUp: () => this.pan(0, 0.15), ArrowDown: () => this.pan(0, -0.15),
      };
      const move = moves[event.key];
      if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move();
    });
  }
}

const plots = new Set<WeakRef<Plot>>();

export function redrawAll(): void {
  for (const ref of plots) {
    const plot = ref.deref();
    if (plot && plot.element.isConnected) plot.drawNow();
    else if (!plot) plots.delete(ref);
  }
}

// A name with the colour that a chart gives it.
export function legend(entries: [string, string][]): HTMLElement {
  return h("ul", { class: "legend" }, entries.map(([colour, name]) => {
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = `var(--${colour})`;
    return h("li", {}, swatch, name);
  }));
}

// The nearest of points given by their places on the screen, if it is within reach.
export function nearestOf(count: number, place: (i: number) => [number, number] | null, px: number, py: number, reach = 14): number {
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < count; ++i) {
    const at = place(i);
    if (!at) continue;
    const d = (at[0] - px) ** 2 + (at[1] - py) ** 2;
    if (d < least) {
      least = d;
      best = i;
    }
  }
  return best;
}
