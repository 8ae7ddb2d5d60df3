// View 2: from the template to the champion, step by step.
import { bar, h, type Child } from "../dom";
import { count, percent, ratio, time } from "../format";
import type { Context } from "../model";
import { unified } from "../diffs";
import type { Maybe, Step } from "../types";

function change(name: string, before: Maybe | undefined, after: Maybe, show: (value: Maybe) => string, worseIfMore: boolean): Child {
  if (after === null) return null;
  const differs = before !== undefined && before !== null && before !== after;
  const kind = !differs ? "" : (after > before!) === worseIfMore ? "worse" : "better";
  return h("span", { class: "fact" }, h("span", { class: "muted" }, `${name} `), differs && `${show(before!)} \u2192 `, h("span", { class: kind }, show(after)));
}

// The evidence stands where a bottleneck begins, and at the champion.
function stepFacts(step: Step, before: Step | undefined, last: boolean): Child {
  const f = step.facts;
  const b = before?.facts;
  const evidence = step.evidence !== "" && (last || before?.bottleneck !== step.bottleneck);
  const bound = step.bottleneck === "" ? null : h("span", { class: evidence ? "fact wraps" : "fact" }, h("span", { class: "muted" }, "bound by "),
    before && before.bottleneck !== "" && before.bottleneck !== step.bottleneck ? `${before.bottleneck} \u2192 ` : "", step.bottleneck,
    evidence ? h("span", { class: "muted" }, `: ${step.evidence}`) : step.evidence !== "" ? null :
    step.memory_share !== null || step.arithmetic_share !== null
      ? h("span", { class: "muted" }, ` (memory ${percent(step.memory_share)}, arithmetic ${percent(step.arithmetic_share)})`) : null);
  return h("div", { class: "step-facts" },
    change("registers", b?.registers, f.registers, count, true), change("spills", b?.spill_bytes, f.spill_bytes, (v) => `${count(v)}\u00a0B`, true),
    change("occupancy", b?.occupancy, f.occupancy, percent, false),
    ((f.static_shared_bytes ?? 0) + (f.dynamic_shared_bytes ?? 0) > 0 || (b?.static_shared_bytes ?? 0) + (b?.dynamic_shared_bytes ?? 0) > 0) && change("shared", b && (b.static_shared_bytes ?? 0) + (b.dynamic_shared_bytes ?? 0),
      f.static_shared_bytes === null && f.dynamic_shared_bytes === null ? null : (f.static_shared_bytes ?? 0) + (f.dynamic_shared_bytes ?? 0), (v) => `${count(v)}\u00a0B`, true),
    bound);
}

export function storyView(context: Context): HTMLElement {
  const { model } = context;
  const steps = model.report.story;
  if (steps.length === 0) return h("p", { class: "muted" }, "There is no champion yet: no candidate was shown right.");
  const times = steps.map((step) => step.score_ns ?? NaN).filter((ns) => ns > 0);
  const [fastest, slowest] = [Math.min(...times), Math.max(...times)];
  // The way from the slowest step to the fastest one, by factors: a bar that is full at the champion.
  const progress = (ns: number | null) => (ns === null || !(slowest > fastest) ? 0 : Math.log(slowest / ns) / Math.log(slowest / fastest));
  const open = context.state;
  const items = steps.map((step, i) => {
    const before = i > 0 ? steps[i - 1] : undefined;
    const key = `story.${step.id}`;
    const body = h("div", { class: "step-body" });
    const details = h("details", { class: "step", "data-step": step.id },
      h("summary", {},
        h("span", { class: "step-no" }, i === 0 ? "start" : `${i}`),
        h("span", { class: "step-main" },
          h("span", { class: "step-title" }, h("span", { class: "chip" }, step.operator === "default" ? "template" : step.operator),
            h("span", { class: "step-change" }, step.change),
            step.unproven.length > 0 && h("span", { class: "badge warn", title: step.unproven.join(", ") }, "unproven edit")),
          step.description !== "" && h("span", { class: "muted" }, step.description),
          stepFacts(step, before, i === steps.length - 1)),
        h("span", { class: "step-time" }, h("strong", {}, step.gain === null ? "" : ratio(step.gain)), h("span", {}, time(step.score_ns)),
          bar(progress(step.score_ns), step.gain !== null && step.gain < 1 ? "worse" : ""))),
      body);
    const fill = () => {
      if (body.firstChild) return;
      const to = model.source(step.id);
      const from = before && model.source(before.id);
      if (!to) body.append(h("p", { class: "muted" }, step.no_source ?? "The source of this step is not in the report."));
      else if (!before) body.append(unified([], to, "Source of the template", 3));
      else if (!from) body.append(h("p", { class: "muted" }, before.no_source ?? "The source of the step before is not in the report."));
      else body.append(unified(from, to, `Lines that step ${i} changed`));
      body.append(h("div", { class: "row" },
        h("button", { type: "button", click: () => context.select(step.id) }, `Candidate ${step.id}`),
        before && h("button", { type: "button", click: () => context.compare(before.id, step.id) }, "Side by side")));
    };
    details.addEventListener("toggle", () => {
      if (details.open) fill();
      open.set(key, details.open);
    });
    if (open.get(key) === true) {
      details.open = true;
      fill();
    }
    details.addEventListener("print-open", fill);
    return h("li", {}, details);
  });
  const last = steps[steps.length - 1]!;
  return h("div", {},
    h("p", {}, `${steps.length - 1} step${steps.length === 2 ? "" : "s"} from template to champion: ${time(steps[0]!.score_ns)} to ${time(last.score_ns)}`
      + (last.speedup === null ? "" : `, ${ratio(last.speedup)} as fast as the baseline in the search`) + ". A step opens to the lines that it changed."),
    h("ol", { class: "steps" }, items));
}
