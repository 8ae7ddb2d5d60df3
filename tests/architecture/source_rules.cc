#include "tests/architecture/source_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace evo::testing {
namespace {

// What each folder may include of ours, beside itself. A folder that is not here may include nothing; that makes a new one be
// thought about.
const std::map<std::string, std::set<std::string>>& Arrows() {
  static const std::map<std::string, std::set<std::string>> kArrows = {
      {"core", {}},
      {"platform", {"core"}},
      {"syntax", {"core", "platform"}},
      {"kernel_templates", {"core"}},
      {"import", {"core", "kernel_templates", "syntax"}},
      {"mutators", {"core", "kernel_templates", "syntax"}},
      {"evaluator", {"core", "kernel_templates", "platform"}},
      {"db", {"core"}},
      {"engine", {"core"}},
      {"story", {"core", "db"}},
      {"report", {"core", "db", "story"}},
  };
  return kArrows;
}

// The same for the rooms of mutators/analysis, from what reads the text of a source to what knows one kind of kernel. Files of no
// room, and the other folders of mutators/, may include all of them.
const std::map<std::string, std::set<std::string>>& AnalysisArrows() {
  static const std::map<std::string, std::set<std::string>> kArrows = {
      {"source", {}},
      {"numbers", {"source"}},
      {"thread_runs", {"numbers", "source"}},
      {"block_runs", {"numbers", "source", "thread_runs"}},
      {"grid_runs", {"block_runs", "numbers", "source", "thread_runs"}},
      {"reductions", {"block_runs", "grid_runs", "numbers", "source", "thread_runs"}},
      {"plain_source", {"reductions", "source", "thread_runs"}},
      {"scans", {"grid_runs", "numbers", "source", "thread_runs"}},
      {"attention", {"grid_runs", "numbers", "plain_source", "source", "thread_runs"}},
      {"products", {"grid_runs", "numbers", "plain_source", "reductions", "source", "thread_runs"}},
      {"convolutions", {"grid_runs", "numbers", "products", "source", "thread_runs"}},
      {"stencils", {"grid_runs", "numbers", "reductions", "source", "thread_runs"}},
      {"rows", {"attention", "block_runs", "grid_runs", "numbers", "scans", "source", "thread_runs"}},
  };
  return kArrows;
}

// Those that may include everything.
const std::set<std::string> kOutermost = {"cli", "bench", "tests"};

std::string FirstFolder(const std::string& path) { return path.substr(0, path.find('/')); }

// The room of mutators/analysis that a file is in; empty if it is in none.
std::string AnalysisRoom(const std::string& path) {
  static const std::string kAnalysis = "mutators/analysis/";
  if (!path.starts_with(kAnalysis)) return {};
  const std::string rest = path.substr(kAnalysis.size());
  return rest.find('/') == std::string::npos ? std::string() : FirstFolder(rest);
}

// Whether a room that knows less would include one that knows more.
bool IsAgainstRooms(const std::string& from, const std::string& included) {
  const std::string room = AnalysisRoom(from), to = AnalysisRoom(included);
  if (room.empty() || room == to || !included.starts_with("mutators/analysis/")) return false;
  const auto arrows = AnalysisArrows().find(room);
  return arrows == AnalysisArrows().end() || !arrows->second.contains(to);
}

template <typename Judge>
Violations EachLine(const std::string& path, std::string_view text, Judge judge) {
  Violations violations;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string found = judge(line);
    if (!found.empty()) violations.push_back(fmt::format("{}:{}: {}", path, number, found));
  }
  return violations;
}

// Without the comment at its end and without what stands in quotation marks.
std::string CodeOf(const std::string& line) {
  static const std::regex kQuoted(R"("(\\.|[^"\\])*")");
  const std::string code = std::regex_replace(line, kQuoted, "\"\"");
  return code.substr(0, code.find("//"));
}

}  // namespace

Violations ForbiddenIncludes(const std::string& path, std::string_view text) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*["<]([^">]+)[">].*)");
  const std::string from = FirstFolder(path);
  if (kOutermost.contains(from)) return {};
  return EachLine(path, text, [&](const std::string& line) -> std::string {
    std::smatch match;
    if (!std::regex_match(line, match, kInclude)) return {};
    const std::string included = match[1];
    const std::string to = FirstFolder(included);
    if (IsAgainstRooms(path, included)) return fmt::format("{} may not include {}", AnalysisRoom(path), included);
    if (to == included || to == from) return {};
    if (!Arrows().contains(to) && !kOutermost.contains(to) && included.find("../") == std::string::npos) return {};  // not ours
    const auto arrows = Arrows().find(from);
    if (arrows != Arrows().end() && arrows->second.contains(to)) return {};
    return fmt::format("{} may not include {} ({})", from, to, included);
  });
}

namespace {

// A command prints where its context says, so that a test can read it. Only main, the context's default and the progress of a run
// name the streams themselves.
Violations NamedStreams(const std::string& path, std::string_view text) {
  if (path == "cli/print.cc") return {};
  static const std::regex kUncleaned(R"(\bfmt::v?print\b|\bf(puts|write|printf)\s*\()");
  const Violations uncleaned = EachLine(path, text, [&](const std::string& line) -> std::string {
    return std::regex_search(CodeOf(line), kUncleaned) ? "what is printed is cleaned by cli/print.h" : std::string();
  });
  if (!uncleaned.empty()) return uncleaned;
  static const std::set<std::string> kMayName = {"cli/main.cc", "cli/command_context.h", "cli/commands/run.cc"};
  if (kMayName.contains(path)) return {};
  static const std::regex kNames(R"(\bstd(out|err)\b|\bstd::(cout|cerr|clog)\b|\bprintf\s*\(|\bputs\s*\()");
  return EachLine(path, text, [&](const std::string& line) -> std::string {
    std::smatch match;
    const std::string code = CodeOf(line);
    return std::regex_search(code, match, kNames) ? fmt::format("a command prints to its context's stream: {}", match.str())
                                                  : std::string();
  });
}

}  // namespace

Violations Printing(const std::string& path, std::string_view text) {
  const std::string folder = FirstFolder(path);
  if (folder == "cli") return NamedStreams(path, text);
  if (kOutermost.contains(folder)) return {};
  static const std::regex kPrints(R"(\b(std::(cout|cerr|clog)\b|(f|v|vf)?printf\s*\(|f?puts\s*\(|putchar\s*\(|perror\s*\(|)"
                                  R"(fmt::(v)?print\b|std::exit\s*\(|spdlog::))");
  return EachLine(path, text, [&](const std::string& line) -> std::string {
    std::smatch match;
    const std::string code = CodeOf(line);
    if (!std::regex_search(code, match, kPrints)) return {};
    // A worker that dies of an exception says why in one line; the coordinator reads it.
    if (path == "evaluator/workers/worker_main.cc" && code.find("fprintf(stderr") != std::string::npos) return {};
    return fmt::format("only cli/ talks to the user: {}", match.str());
  });
}

Violations LibraryTexts(const std::string& path, std::string_view text) {
  if (path.starts_with("core/json_error.") || path.starts_with("tests/")) return {};
  static const std::regex kHandler(R"(catch \(const (?:std::exception|[\w:]*json::\w+)& (\w+)\))");
  constexpr int kLines = 8;  // of a handler
  std::string passed_on;     // "error.what()" within a handler
  int left = 0;
  return EachLine(path, text, [&](const std::string& line) -> std::string {
    std::smatch match;
    const std::string code = CodeOf(line);
    if (std::regex_search(code, match, kHandler)) {
      passed_on = match[1].str() + ".what()";
      left = kLines;
    } else if (code.find("catch (") != std::string::npos) {
      left = 0;
    }
    if (left-- <= 0 || code.find(passed_on) == std::string::npos) return {};
    return "a text of the JSON library may reach the user: PlainText() instead of " + passed_on;
  });
}

std::vector<std::string> SourceFiles(const std::filesystem::path& root) {
  std::vector<std::string> files;
  std::set<std::string> folders = kOutermost;
  for (const auto& [folder, arrows] : Arrows()) folders.insert(folder);
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with(".") && !name.starts_with("build")) folders.insert(name);
  }
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || (extension != ".h" && extension != ".cc")) continue;
      if (path.find("/include/") == std::string::npos) files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace evo::testing
