#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/report_tools.h"
#include "cli/stored_run.h"
#include "cli/terminal.h"
#include "cli/unified_diff.h"
#include "core/error.h"
#include "report/markdown.h"
#include "report/page_document.h"
#include "report/svg_charts.h"

namespace evo {
namespace {

struct ReportCommand : HistoryOptions {
  std::string out;  // empty: report.html, or the standard output for what is not a page; "-": the standard output
  std::string format = "html";
  std::vector<std::string> peers;
  std::size_t most_candidates = ReportOptions().most_candidates;
};

// From the baseline to the champion; empty if either has no source.
std::string ChampionDifference(const std::string& database, RunId run, const ReportTools& tools) {
  const History history(database, [](const Damage&) {});
  const RunRecord record = history.FindRun(run).record;
  const auto baseline = history.Baseline(run);
  const auto best = history.Best(run);
  if (!baseline || !best) return "";
  try {
    return UnifiedDiff("baseline", tools.story.render(record, *baseline), fmt::format("candidate {}", best->candidate.id),
                       tools.story.render(record, *best));
  } catch (const Error&) {
    return "";  // the story says of each step why it has no source
  }
}

std::string Formatted(const ReportCommand& command, const nlohmann::json& data, const ReportTools& tools) {
  if (command.format == "svg") return SvgCharts(data);
  if (command.format == "markdown")
    return StoryMarkdown(data, ChampionDifference(command.database, data["run"]["run"].get<RunId>(), tools));
  return ReportDocument(ReadReportPage(), data);
}

void RunReport(CommandContext& context, const ReportCommand& command) {
  ReportOptions options;
  options.run = command.run;
  options.most_candidates = command.most_candidates;
  for (const std::string& peer : command.peers) options.peers.push_back(ParsePeer(peer));
  const ReportTools tools = MakeReportTools(context);
  const nlohmann::json data = ReportData(command.database, options, tools);
  if (!data["remarks"].empty()) context.exit_code = 1;
  for (const auto& remark : data["remarks"]) Print(context.messages, "evo: {}\n", remark.get<std::string>());
  if (command.json) {
    PrintLines(context.out, Dump(data));
    return;
  }
  const std::string text = Formatted(command, data, tools);
  if (command.out == "-" || (command.out.empty() && command.format != "html")) {
    // A file behind the standard output gets the page as it is, byte for byte: its policy has digests of its parts.
    return command.format != "html" || IsTerminal(context.out) ? PrintLines(context.out, text) : PrintRaw(context.out, text);
  }
  const std::string file = command.out.empty() ? "report.html" : command.out;
  std::fflush(context.out);  // the file may be the same
  WriteOutputFile(file, text);
  const auto& candidates = data["candidates"];
  const auto drawn = candidates["id"].size();
  const auto total = candidates["total"].get<std::int64_t>();
  Print(context.messages, "{}: run {} of {}, {}{} candidates, {:.1f} MB\n", file, data["run"]["run"].get<RunId>(),
        command.database, candidates["stride"].get<std::int64_t>() > 1 ? fmt::format("a sample of {} of ", drawn) : std::string(),
        total, static_cast<double>(text.size()) / 1e6);
}

}  // namespace

void AddReport(CLI::App& app, CommandContext& context) {
  const auto command = std::make_shared<ReportCommand>();
  CLI::App* added =
      app.add_subcommand("report", "Write what a run did as one file for a browser, for a pull request, or as charts");
  AddHistoryOptions(*added, context, *command);
  added->add_option("--out", command->out,
                    "File; -: the standard output (default: report.html; markdown and svg go to the standard output)");
  added
      ->add_option("--format", command->format,
                   "html: one page that needs no network; markdown: the champion's story; svg: the charts")
      ->check(CLI::IsMember({"html", "markdown", "svg"}))
      ->capture_default_str();
  added
      ->add_option("--peer", command->peers,
                   "NAME=TIME of another implementation, such as PyTorch=12.5us, for a line in the charts; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  added->add_option("--most", command->most_candidates, "With more candidates than that, a sample of them is drawn")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  added->callback([&context, command] { RunReport(context, *command); });
}

}  // namespace evo
