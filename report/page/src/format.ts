import type { Maybe } from "./types";

const digits = (value: number, figures: number): string => {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(6, figures - 1 - size)));
};

// "4.64 us", "1.42 ms".
export function time(ns: Maybe | undefined): string {
  if (ns === null || ns === undefined || !isFinite(ns)) return "-";
  const units: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
  const [unit, name] = units.find(([size]) => Math.abs(ns) >= size) ?? [1, "ns"];
  return `${digits(ns / unit, 4)} ${name}`;
}

// The same for a tick of an axis: "2 ms".
export function tick(ns: number): string {
  return time(ns).replace(/(\.\d*?)0+ /, (_, digits_: string) => (digits_ === "." ? "" : digits_) + " ");
}

export function ratio(value: Maybe | undefined): string {
  return value === null || value === undefined || !isFinite(value) ? "-" : `${digits(value, value < 1 ? 3 : 4)}\u00d7`;
}

export function count(value: Maybe | undefined): string {
  return value === null || value === undefined ? "-" : value.toLocaleString("en-US");
}

export function seconds(value: Maybe | undefined): string {
  if (value === null || value === undefined) return "-";
  if (value < 120) return `${digits(value, 3)} s`;
  if (value < 7200) return `${digits(value / 60, 3)} min`;
  return `${digits(value / 3600, 3)} h`;
}

export function percent(value: Maybe | undefined): string {
  return value === null || value === undefined ? "-" : `${(100 * value).toFixed(value < 0.1 ? 1 : 0)}%`;
}

// "8", "1.5k", "12M".
export function short(value: number): string {
  const units: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, name] of units) if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)}${name}`;
  return `${+value.toPrecision(3)}`;
}

export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}\u2026` : text;
}

export function words(name: string): string {
  return name.replace(/_/g, " ");
}
