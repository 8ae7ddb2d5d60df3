#include "cli/report_tools.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "cli/describe.h"
#include "cli/kept_sources.h"
#include "cli/story_tools.h"
#include "cli/verdict.h"
#include "core/error.h"
#include "evo_version.h"
#include "kernel_templates/kernel_template.h"
#include "platform/installation.h"

namespace evo {
namespace {

constexpr std::size_t kKeptBytes = 2 << 20;  // the lines of several champions

}  // namespace

ReportTools MakeReportTools(const CommandContext& context) {
  ReportTools tools;
  const auto sources = std::make_shared<KeptSources>(context.make_renderer, kKeptBytes);
  tools.story = MakeStoryTools({});
  tools.story.render = [sources](const RunRecord& run, const CandidateRecord& record) { return sources->Render(run, record); };
  tools.render_once = [sources](const RunRecord& run, const CandidateRecord& record) { return sources->RenderOnce(run, record); };
  tools.verdict = Verdict;
  tools.evidence = [](const ChampionCheck& check) {
    std::vector<std::pair<std::string, std::string>> lines;
    for (EvidenceLine& line : DescribeEvidence(check, false)) lines.emplace_back(std::move(line.heading), std::move(line.text));
    return lines;
  };
  tools.space = [](const TemplateText& text) -> std::optional<SearchSpace> { return ParseTemplate(text.name, text.text).space; };
  tools.version = kEvoVersion;
  return tools;
}

Peer ParsePeer(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const std::size_t equals = text.rfind('=');
  const auto wrong = [&] {
    return UsageError(fmt::format("--peer {}: write NAME=TIME with a unit, such as PyTorch=12.5us", text));
  };
  if (equals == std::string::npos || equals == 0) throw wrong();
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, value);
  if (error != std::errc() || !(value > 0)) throw wrong();
  for (const auto& [unit, ns] : kUnits) {
    if (std::string_view(rest, static_cast<std::size_t>(end - rest)) == unit) return {text.substr(0, equals), value * ns};
  }
  throw wrong();
}

std::string ReadReportPage() {
  const auto path = ShareDirectory() / "report" / "page.html";
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) throw Error(fmt::format("{}: cannot be read; build the target report_page", path.string()));
  return text.str();
}

}  // namespace evo
