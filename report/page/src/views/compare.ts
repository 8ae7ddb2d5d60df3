// View 11: this run beside another one of the database.
import { h, table, type Child } from "../dom";
import { count, ratio, seconds, time } from "../format";
import { kept, type Context } from "../model";
import { endOf, progressPlot, type Curve } from "./progress";
import { legend } from "../plot";
import type { OtherRun } from "../types";

export function compareView(context: Context): HTMLElement {
  const { report } = context.model;
  if (report.others.length === 0) return h("p", { class: "muted" }, "The database has no other run.");
  const same = report.others.find((run) => run.task === report.run.task) ?? report.others[0]!;
  const chosen = kept(context, "compare.run", same.run);
  const holder = h("div");
  const draw = () => {
    const other = report.others.find((run) => run.run === chosen.get()) ?? same;
    const end = other.ended_at ? Math.max(0, (Date.parse(other.ended_at) - Date.parse(other.started_at)) / 1000) || 0 : 0;
    const curves: Curve[] = [
      { name: `run ${report.run.run}`, colour: "curve", progress: report.progress, end: endOf(context) },
      { name: `run ${other.run}`, colour: "curve-2", progress: other.progress, end: { evaluations: other.evaluated, seconds: end } },
    ].filter((curve) => curve.progress.id.length > 0);
    const best = (p: OtherRun["progress"]) => (p.score_ns.length > 0 ? p.score_ns[p.score_ns.length - 1]! : null);
    const mine = best(report.progress);
    const theirs = best(other.progress);
    const speedup = (baseline: number | null, now: number | null) => (baseline !== null && now !== null ? ratio(baseline / now) : "-");
    const rows: [string, Child, Child][] = [
      ["task", report.run.task, other.task],
      ["device", report.run.device_name, other.device_name],
      ["L2", report.run.l2, other.l2],
      ["search", `${report.run.population_kind}, ${report.run.population} + ${report.run.children}`, `${other.population_kind}, ${other.population} + ${other.children}`],
      ["seed", report.run.seed, other.seed],
      ["baseline", `${report.run.baseline}, ${time(report.lines.baseline_ns)}`, `${other.baseline}, ${time(other.baseline_ns)}`],
      ["fastest", time(mine), time(theirs)],
      ["faster than its baseline", speedup(report.lines.baseline_ns, mine), speedup(other.baseline_ns, theirs)],
      ["evaluated", count(report.run.evaluated), count(other.evaluated)],
      ["right", `${count(report.run.valid)}`, `${count(other.valid)}`],
      ["last improvement", seconds(report.progress.seconds[report.progress.seconds.length - 1]), seconds(other.progress.seconds[other.progress.seconds.length - 1])],
      ["verdict", report.check?.verdict ?? "", other.verdict],
    ];
    const names = [...new Set([...report.operators, ...other.operators_of_run].map((row) => row.operator))];
    const of = (list: OtherRun["operators_of_run"], name: string) => list.find((row) => row.operator === name);
    holder.replaceChildren(
      report.run.task === other.task ? "" : h("p", { class: "badge warn" }, "The runs are of different tasks: their times do not compare."),
      curves.length > 0 ? h("div", {}, legend(curves.map((curve) => [curve.colour, curve.name])), h("div", { class: "pair" },
        (["evaluations", "seconds"] as const).map((over) => progressPlot(`Runs ${report.run.run} and ${other.run}: best so far over ${over}`, curves, [], over, true).element))) : "",
      table(`Runs ${report.run.run} and ${other.run}`, [
        { title: "of the run", cell: (row: (typeof rows)[0]) => h("strong", {}, row[0]) },
        { title: `run ${report.run.run}`, cell: (row) => row[1] },
        { title: `run ${other.run}`, cell: (row) => row[2] },
      ], rows),
      h("details", {}, h("summary", {}, "Operators of both"), table("Operators of both runs", [
        { title: "operator", cell: (name: string) => name, sort: (name) => name },
        { title: `won in run ${report.run.run}`, number: true, cell: (name) => { const row = of(report.operators, name); return row ? `${row.won} of ${row.tries}` : "-"; }, sort: (name) => of(report.operators, name)?.won ?? -1 },
        { title: `won in run ${other.run}`, number: true, cell: (name) => { const row = of(other.operators_of_run, name); return row ? `${row.won} of ${row.tries}` : "-"; }, sort: (name) => of(other.operators_of_run, name)?.won ?? -1 },
      ], names)));
  };
  const select = h("select", { id: "compare-run", change: () => {
    chosen.set(Number(select.value));
    draw();
  } }, report.others.map((run) => h("option", { value: run.run, selected: run.run === chosen.get() }, `run ${run.run}: ${run.task}, ${run.device_name}, ${run.started_at}`)));
  draw();
  return h("div", {}, h("div", { class: "row" }, h("label", { for: "compare-run" }, `Run ${report.run.run} beside`), select), holder);
}
