// Puts the views together; with evo serve, follows the run.
import { h, type Child } from "./dom";
import { count, ratio, time } from "./format";
import { Model, type Context } from "./model";
import { candidatePanel } from "./panel";
import { redrawAll } from "./plot";
import type { Report } from "./types";
import { checkView } from "./views/check";
import { cloudView } from "./views/cloud";
import { compareView } from "./views/compare";
import { differencesView, type DifferencesView } from "./views/differences";
import { lanesView } from "./views/lanes";
import { operatorsView } from "./views/operators";
import { parametersView } from "./views/parameters";
import { progressView } from "./views/progress";
import { rooflineView } from "./views/roofline";
import { storyView } from "./views/story";
import { treeView } from "./views/tree";

const kLeastPause = 2000; // milliseconds between two questions to the server
const app = document.getElementById("app")!;
const state = new Map<string, unknown>();
let showDifference: DifferencesView["show"] = () => undefined;
let panelFor: number | null = null;
let current: Model | null = null;
let opener: Element | null = null;

const panelPlace = h("div", { class: "panel-place" });
const liveMark = h("span", { class: "live", role: "status" });

function closePanel(): void {
  panelFor = null;
  panelPlace.replaceChildren();
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
}

function openPanel(context: Context, id: number): void {
  if (panelFor === null) opener = document.activeElement;
  panelFor = id;
  const panel = candidatePanel(context, id, closePanel);
  panelPlace.replaceChildren(panel);
  panel.querySelector("h2")?.focus({ preventScroll: true });
}

interface View {
  id: string;
  title: string;
  make: (context: Context) => HTMLElement;
}

const kViews: View[] = [
  { id: "progress", title: "Best so far", make: progressView },
  { id: "story", title: "The champion\u2019s story", make: storyView },
  { id: "differences", title: "Differences", make: (context) => {
    const view = differencesView(context);
    showDifference = view.show;
    return view.element;
  } },
  { id: "cloud", title: "All candidates", make: cloudView },
  { id: "tree", title: "Tree of elites", make: treeView },
  { id: "operators", title: "Operators", make: operatorsView },
  { id: "parameters", title: "Parameters", make: parametersView },
  { id: "roofline", title: "Roofline", make: rooflineView },
  { id: "lanes", title: "Lanes", make: lanesView },
  { id: "check", title: "Verification", make: checkView },
  { id: "compare", title: "Another run", make: compareView },
];

function tile(name: string, value: Child, more: Child = null): HTMLElement {
  return h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value, more !== null && h("span", { class: "muted" }, more)));
}

function headOf(model: Model): HTMLElement {
  const { report } = model;
  const { run, progress, lines, check } = report;
  const last = progress.score_ns[progress.score_ns.length - 1];
  const speedup = check?.speedup ?? (lines.baseline_ns !== null && last !== undefined ? lines.baseline_ns / last : null);
  const choice = model.served && report.runs.length > 1
    ? h("label", {}, "Run ", h("select", { change: (event: Event) => (location.search = `?run=${(event.target as HTMLSelectElement).value}`) },
      report.runs.map((one) => h("option", { value: one.run, selected: one.run === run.run }, `${one.run}: ${one.task}`))))
    : null;
  return h("header", { class: "top" },
    h("div", { class: "row" }, h("h1", {}, run.task), h("span", { class: "muted" }, `run ${run.run} of ${report.database}`),
      h("span", { class: `badge ${run.status === "finished" ? "good" : run.status === "failed" ? "bad" : "warn"}` }, run.status), choice, liveMark),
    h("p", { class: "muted" }, `${run.device_name}, L2 ${run.l2}; ${run.population_kind} population of ${run.population}, ${run.children} children, seed ${run.seed}; evo ${run.tool_version}; begun ${run.started_at}`
      + (run.status_message ? `; ${run.status_message}` : "")),
    h("dl", { class: "tiles" },
      tile("fastest so far", time(last ?? null), lines.baseline_ns !== null ? ` baseline ${time(lines.baseline_ns)}` : null),
      tile("speed-up", ratio(speedup), check?.speedup != null ? " re-timed beside the baseline" : null),
      tile("candidates", count(run.evaluated), ` ${count(run.valid)} right`),
      tile("generations", count(run.generations)),
      tile("champion", report.best_id === null ? "-" : h("button", { type: "button", class: "link", click: () => contextOf(model).select(report.best_id!) }, report.best_id),
        check ? ` ${check.verdict.split(/[:,;(]/)[0]!.trim()}` : null)),
    report.remarks.length > 0 && h("details", { class: "remarks" }, h("summary", {}, `${report.remarks.length} remark${report.remarks.length === 1 ? "" : "s"}: parts of the database were left out`),
      h("ul", {}, report.remarks.map((remark) => h("li", {}, remark)))),
    run.device === "cpu" && h("p", { class: "muted" }, "Kernels were emulated on the processor: which of them is faster does not carry over to a GPU, whether they are right does."));
}

function contextOf(model: Model): Context {
  const context: Context = {
    model, state,
    select: (id) => openPanel(context, id),
    compare: (a, b) => {
      showDifference(a, b);
      document.getElementById("differences")?.scrollIntoView({ block: "start" });
      document.getElementById("differences-title")?.focus({ preventScroll: true });
    },
  };
  return context;
}

// A view that fails must not take the others with it.
function drawn(view: View, context: Context): HTMLElement {
  try {
    return view.make(context);
  } catch (error) {
    console.error(error);
    return h("p", { class: "message" }, `This view could not be drawn: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function show(report: Report, served: boolean): void {
  const model = new Model(report, served);
  const context = contextOf(model);
  const again = current !== null && current.report.run.run === report.run.run;
  current = model;
  document.title = `evo: ${report.run.task}, run ${report.run.run}`;
  if (again) {
    document.querySelector("header.top")?.replaceWith(headOf(model));
    for (const view of kViews) {
      const body = document.getElementById(`${view.id}-body`)!;
      // What somebody is using is not taken out of their hands; it is drawn anew with the next news.
      if (body.contains(document.activeElement) || (panelFor !== null && view.id === "differences")) continue;
      const height = body.offsetHeight;
      body.style.minHeight = `${height}px`;
      body.replaceChildren(drawn(view, context));
      requestAnimationFrame(() => (body.style.minHeight = ""));
    }
    return;
  }
  app.replaceChildren(
    headOf(model),
    h("div", { class: "columns" },
      h("nav", { class: "views", "aria-label": "Views" }, h("ol", {}, kViews.map((view) => h("li", {}, h("a", { href: `#${view.id}` }, view.title))))),
      h("main", { id: "views", tabindex: -1 }, kViews.map((view, i) => h("section", { id: view.id, class: "view", "aria-labelledby": `${view.id}-title` },
        h("h2", { id: `${view.id}-title`, tabindex: -1 }, h("span", { class: "muted" }, `${i + 1} `), view.title), h("div", { id: `${view.id}-body` }, drawn(view, context)))))),
    panelPlace,
    h("footer", {}, `Made by evo ${report.version} at ${report.at}. `, "Shows text of a database: whatever it says, nothing of it is run. ",
      h("details", {}, h("summary", {}, "Licences"), h("p", {}, "The differences are computed by jsdiff (\u00a9 2009\u20132015 Kevin Decker, BSD 3-Clause License). All else is part of evo."))));
}

async function follow(): Promise<void> {
  const run = new URLSearchParams(location.search).get("run") ?? "";
  let etag = "";
  for (;;) {
    const began = performance.now();
    try {
      const reply = await fetch(`data${/^\d+$/.test(run) ? `?run=${run}` : ""}`, { headers: etag ? { "If-None-Match": etag } : {}, cache: "no-store" });
      if (reply.status === 200) {
        const report = (await reply.json()) as Report;
        etag = reply.headers.get("ETag") ?? "";
        show(report, true);
      } else if (reply.status !== 304) {
        throw new Error((await reply.text()).slice(0, 300) || `the server answered ${reply.status}`);
      }
      const running = current?.report.run.status === "running";
      liveMark.textContent = running ? "live" : "";
      liveMark.classList.toggle("on", running);
    } catch (error) {
      liveMark.classList.remove("on");
      liveMark.textContent = current ? "evo serve does not answer" : "";
      if (!current) app.replaceChildren(h("p", { class: "message" }, error instanceof Error ? error.message : String(error)));
    }
    const took = performance.now() - began;
    await new Promise((wake) => setTimeout(wake, Math.max(kLeastPause, 3 * took)));
    while (document.hidden) await new Promise((wake) => document.addEventListener("visibilitychange", wake, { once: true }));
  }
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
window.addEventListener("beforeprint", redrawAll);
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panelFor !== null) closePanel();
  const typing = event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA|CANVAS)$/.test(event.target.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    document.getElementById("cloud-search")?.focus();
  }
});

const embedded = JSON.parse(document.getElementById("data")!.textContent || "null") as Report | null;
if (embedded) show(embedded, false);
else void follow();
