// View 10: what was checked of the champion.
import { h, table, type Child } from "../dom";
import { count, percent, ratio, time, words } from "../format";
import type { Context } from "../model";

const list = (name: string, texts: string[], open = false): Child => texts.length > 0
  && h("details", { open }, h("summary", {}, `${name}: ${count(texts.length)}`), h("ul", { class: "texts" }, texts.map((text) => h("li", {}, h("code", {}, text)))));

function toolBadge(result: string): HTMLElement {
  const kind = result === "clean" ? "good" : result === "error" || result === "crash" ? "bad" : "warn";
  return h("span", { class: `badge ${kind}` }, result);
}

export function checkView(context: Context): HTMLElement {
  const { report } = context.model;
  const check = report.check;
  const refuting = report.refuting.length > 0 && h("details", {}, h("summary", {}, `Counter-examples: inputs that refuted candidates of this run (${report.refuting.length})`),
    table("Counter-examples", [
      { title: "case", cell: (r: typeof report.refuting[0]) => r.case },
      { title: "inputs", cell: (r) => h("code", {}, r.inputs === "" ? `generator ${r.generator}` : r.inputs) },
      { title: "candidates refuted", number: true, cell: (r) => count(r.candidates), sort: (r) => r.candidates },
    ], report.refuting));
  if (!check) return h("div", {}, h("p", { class: "muted" }, "There is no champion yet."), refuting);
  const verified = check.verdict.startsWith("verified");
  const adversary = check.adversary;
  return h("div", {},
    h("p", { class: "verdict" }, h("span", { class: `badge big ${verified ? "good" : check.outcome === "ok" || check.outcome === undefined ? "warn" : "bad"}` },
      verified ? "verified" : check.outcome === "ok" ? "held-out ok" : check.outcome ? words(check.outcome) : "not checked"), " ", h("span", {}, `candidate ${check.id}${check.outcome === undefined ? "" : `: ${check.verdict}`}`)),
    check.outcome === undefined && h("p", { class: "muted" }, h("code", {}, `evo verify --run ${report.run.run}`), " runs all checks."),
    check.message ? h("p", { class: "message" }, check.message) : null,
    check.speedup != null && h("p", {}, `Timed again beside the baseline, launch by launch: ${time(check.candidate_ns)} against ${time(check.baseline_ns)}, `, h("strong", {}, ratio(check.speedup)), "."),
    h("div", { class: "cards wide" },
      check.cases && check.cases.length > 0 && h("section", { class: "card" }, h("h3", {}, "Timed cases"), table("Times of the champion's check", [
        { title: "case", cell: (i: number) => check.cases![i]!.name },
        { title: "champion", number: true, cell: (i) => time(check.cases![i]!.median_ns) },
        { title: "p10 to p90", number: true, cell: (i) => `${time(check.cases![i]!.p10_ns)} \u2013 ${time(check.cases![i]!.p90_ns)}` },
        { title: "baseline", number: true, cell: (i) => time(check.baseline_cases?.[i]?.median_ns) },
      ], check.cases.map((_, i) => i))),
      check.tools && h("section", { class: "card" }, h("h3", {}, "Tools"), check.tools.length === 0 ? h("p", { class: "muted" }, "No tool ran.") : table("Tools", [
        { title: "tool", cell: (t: NonNullable<typeof check.tools>[0]) => t.tool },
        { title: "result", cell: (t) => toolBadge(t.result) },
        { title: "message", cell: (t) => t.message },
      ], check.tools)),
      check.evidence.length > 0 && h("section", { class: "card" }, h("h3", {}, "In words"), h("dl", { class: "facts" },
        check.evidence.map(([heading, text]) => [h("dt", {}, heading || "\u00a0"), h("dd", {}, text)]))),
      check.held_out && h("section", { class: "card" }, h("h3", {}, "Verified domain"),
        list("held-out cases", check.held_out, true), list("sizes", check.sizes ?? []), list("hard inputs", check.inputs ?? []),
        list("left out", (check.left_out ?? []).map((one) => `${one.what}: ${one.reason}`)),
        adversary && adversary.inputs > 0 && h("p", {}, `Search for counter-examples: ${count(adversary.inputs)} inputs`
          + (adversary.worst === null ? "." : `, the worst error ${percent(adversary.worst)} of its bound.`)),
        check.reference && h("p", { class: "muted" }, `Right answers from ${check.reference}.`))),
    refuting);
}
