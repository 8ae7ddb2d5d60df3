// The document that report/report_data.cc makes; docs/report.md describes it. null: not known.
export type Maybe = number | null;

export interface RunFacts {
  run: number;
  task: string;
  baseline: string;
  device: string;
  device_name: string;
  arch: string;
  l2: string;
  population_kind: string;
  population: number;
  children: number;
  seed: string;
  tool_version: string;
  status: string;
  status_message: string;
  started_at: string;
  ended_at: string;
  generations: number;
  evaluated: number;
  valid: number;
}

export interface Progress {
  id: number[];
  seconds: Maybe[];
  score_ns: number[];
  low_ns: Maybe[];
  high_ns: Maybe[];
}

export interface Facts {
  registers: Maybe;
  static_shared_bytes: Maybe;
  dynamic_shared_bytes: Maybe;
  spill_bytes: Maybe;
  local_bytes: Maybe;
  occupancy: Maybe;
}

export interface Step {
  id: number;
  generation: number;
  parents: number[];
  operator: string;
  description: string;
  change: string;
  outcome: string;
  score_ns: Maybe;
  gain: Maybe;
  speedup: Maybe;
  unproven: string[];
  facts: Facts;
  memory_share: Maybe;
  arithmetic_share: Maybe;
  bottleneck: string;
  evidence?: string;
  no_source?: string;
}

export interface CaseTimes {
  name: string;
  median_ns: Maybe;
  p10_ns: Maybe;
  p90_ns: Maybe;
}

export interface Described {
  change: string;
  verdict: string;
  edits: number;
  cases: CaseTimes[];
  dropped?: string[];
  message?: string;
  log?: string;
  source?: string;
  no_source?: string;
}

export interface Candidates {
  total: number;
  stride: number;
  operators: string[];
  templates: string[];
  outcomes: string[];
  messages: string[];
  parameter_texts: string[];
  bounds: string[];
  id: number[];
  generation: number[];
  operator: number[];
  template: number[];
  parameters: number[];
  outcome: number[];
  message: number[];
  score_ns: Maybe[];
  parent: number[];
  second: number[];
  registers: number[];
  spill_bytes: number[];
  compile: number[];
  check: number[];
  time: number[];
  copied: number[];
  bound: number[];
}

export interface OperatorFacts {
  operator: string;
  tries: number;
  valid: number;
  neutral: number;
  won: number;
  best_gain: Maybe;
  inapplicable: number;
  promise: string | null;
  description: string;
}

export interface TemplateSpace {
  template: string;
  parameters: { name: string; values: number[]; initial: number }[];
  legal: Maybe;
}

export interface Check {
  id: number;
  verdict: string;
  evidence: [string, string][];
  outcome?: string;
  message?: string;
  speedup?: Maybe;
  candidate_ns?: Maybe;
  baseline_ns?: Maybe;
  held_out?: string[];
  tools?: { tool: string; result: string; message: string }[];
  sizes?: string[];
  inputs?: string[];
  left_out?: { what: string; reason: string }[];
  adversary?: { inputs: number; worst: Maybe; worst_inputs: string };
  slowest?: { ratio: Maybe; inputs: string };
  fresh_ratio?: Maybe;
  reference?: string;
  cases?: CaseTimes[];
  baseline_cases?: CaseTimes[];
}

export interface OtherRun extends RunFacts {
  baseline_ns: Maybe;
  best_ns: Maybe;
  verdict: string;
  progress: Progress;
  operators_of_run: Pick<OperatorFacts, "operator" | "tries" | "won">[];
}

export interface Roofline {
  rates: { [name: string]: number };
  arithmetic: string;
  cases: string[];
  id: number[];
  case: number[];
  median_ns: number[];
  bytes: Maybe[];
  operations: Maybe[];
}

export interface Report {
  format: number;
  version: string;
  at: string;
  database: string;
  etag: string;
  remarks: string[];
  run: RunFacts;
  runs: { run: number; task: string; device_name: string; started_at: string }[];
  lines: { baseline_ns: Maybe; ceiling_ns: Maybe; peers: { name: string; ns: Maybe }[] };
  generations: { generation: number[]; evaluated: number[]; valid: number[]; duplicates: number[]; best_ns: Maybe[]; seconds: Maybe[] };
  outcomes: { [name: string]: number };
  progress: Progress;
  story: Step[];
  check: Check | null;
  baseline_id: Maybe;
  best_id: Maybe;
  sources: { lines: string[]; of: { [id: string]: number[] } };
  candidates: Candidates;
  elites: number[];
  checked: number[];
  described: { [id: string]: Described };
  operators: OperatorFacts[];
  parameters: TemplateSpace[];
  roofline: Roofline;
  clocks: { [stage: string]: number };
  refuting: { case: string; generator: number; inputs: string; candidates: number }[];
  others: OtherRun[];
}
