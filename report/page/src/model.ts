// The report with what several views ask of it, computed once.
import type { Candidates, Described, Report } from "./types";

export class Model {
  readonly row = new Map<number, number>(); // of a candidate's id in the columns
  readonly parameters: ({ [name: string]: number } | null)[];

  constructor(readonly report: Report, readonly served: boolean) {
    report.candidates.id.forEach((id, i) => this.row.set(id, i));
    this.parameters = report.candidates.parameter_texts.map((text) => {
      try {
        const value = JSON.parse(text);
        return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
      } catch {
        return null;
      }
    });
  }

  get candidates(): Candidates {
    return this.report.candidates;
  }

  outcome(row: number): string {
    return this.candidates.outcomes[this.candidates.outcome[row]!]!;
  }
  operator(row: number): string {
    return this.candidates.operators[this.candidates.operator[row]!]!;
  }
  message(row: number): string {
    return this.candidates.messages[this.candidates.message[row]!]!;
  }
  parameterText(row: number): string {
    const values = this.parameters[this.candidates.parameters[row]!];
    return values ? Object.entries(values).map(([name, value]) => `${name}=${value}`).join(" ") : "";
  }
  // null: the report tells only of the fastest and of the champion's line in words.
  described(id: number): Described | null {
    return Object.hasOwn(this.report.described, String(id)) ? this.report.described[String(id)]! : null;
  }
  // The lines of a candidate's source; null if they are not in the report.
  source(id: number): string[] | null {
    const of = this.report.sources.of;
    if (Object.hasOwn(of, String(id))) return of[String(id)]!.map((line) => this.report.sources.lines[line]!);
    return fetched.get(`${this.report.run.run} ${id}`)?.source?.split("\n") ?? null;
  }
  async fetchCandidate(id: number): Promise<Described> {
    const key = `${this.report.run.run} ${id}`;
    const known = fetched.get(key);
    if (known) return known;
    const reply = await fetch(`candidate?run=${this.report.run.run}&id=${id}`, { cache: "no-store" });
    if (!reply.ok) throw new Error((await reply.text()).slice(0, 300));
    const one = (await reply.json()) as Described;
    fetched.set(key, one);
    if (fetched.size > 200) fetched.delete(fetched.keys().next().value!);
    return one;
  }
  get sampled(): boolean {
    return this.candidates.stride > 1;
  }
}

const fetched = new Map<string, Described>();

export const kOutcomes = ["ok", "compile_error", "resource_limit", "unsupported", "launch_error", "crash", "timeout", "wrong_result",
  "nondeterministic", "cheating", "slower", "noisy", "cancelled"];

// The name of an outcome's colour in the style.
export function outcomeColour(outcome: string): string {
  return kOutcomes.includes(outcome) ? `o-${outcome.replace(/_/g, "-")}` : "muted";
}

// What every view gets.
export interface Context {
  model: Model;
  select: (id: number) => void; // shows a candidate in the panel
  compare: (a: number, b: number) => void; // shows the difference of two
  state: Map<string, unknown>; // what a reader chose, kept when new data come
}

export function kept<T>(context: Context, key: string, initial: T): { get: () => T; set: (value: T) => void } {
  return {
    get: () => (context.state.has(key) ? (context.state.get(key) as T) : initial),
    set: (value) => void context.state.set(key, value),
  };
}
