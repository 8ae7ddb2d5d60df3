#include "kernel_templates/renderer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_line.h"
#include "kernel_templates/parameter_block.h"

namespace evo {
namespace {

constexpr std::string_view kHeaderStop = "#pragma nv_hdrstop";
constexpr std::array<std::string_view, 12> kFields{"grid",   "block",  "shared",  "cluster", "arguments", "template",
                                                   "kernel", "before", "removed", "unused",  "when",      "ahead"};

// The declared values of each parameter. They come from the directives, because a genome may name others.
std::map<std::string, std::vector<std::int64_t>> DeclaredValues(std::string_view text) {
  std::map<std::string, std::vector<std::int64_t>> declared;
  for (const Directive& directive : FindDirectives("source", text)) {
    if (directive.word != "param") continue;
    std::string_view rest = directive.text;
    const std::string name(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(name.size());
    std::vector<std::int64_t>& values = declared[name];
    for (rest = Trim(rest); !rest.empty(); rest = Trim(rest)) {
      std::int64_t value = 0;
      const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (read.ptr == rest.data()) break;
      values.push_back(value);
      rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
    }
  }
  return declared;
}

bool HasHeaderStop(std::string_view text) {
  const std::vector<SourceLine> lines = SplitLines(text);
  return std::any_of(lines.begin(), lines.end(), [](const SourceLine& line) { return Trim(line.text) == kHeaderStop; });
}

// A change of a launch line: `text` replaces the range [begin, end) of the directive's text.
struct Replacement {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

// The kernel with its template arguments.
LaunchPart ExpressionOf(const LaunchLine& line) {
  return {line.kernel.begin, line.template_arguments ? line.template_arguments->end + 1 : line.kernel.end};
}

Replacement ReplacementIn(const std::string& directive, const LaunchLine& line, const LaunchChange& change) {
  if (change.field == "arguments") return {line.arguments.begin, line.arguments.end, change.text};
  if (change.field == "kernel") return {line.kernel.begin, ExpressionOf(line).end, change.text};
  const bool removes = Trim(change.text).empty();
  if (change.field == "template") {
    const std::string text = removes ? "" : fmt::format("<{}>", change.text);
    if (!line.template_arguments) return {line.kernel.end, line.kernel.end, text};
    return {line.template_arguments->begin - 1, line.template_arguments->end + 1, text};
  }
  const std::string text = removes ? "" : fmt::format("{}({})", change.field, change.text);
  if (const LaunchClause* clause = line.Find(change.field)) return {clause->whole.begin, clause->whole.end, text};
  return {directive.size(), directive.size(), removes ? "" : " " + text};
}

// The lines of a directive, with the end of the last.
LaunchPart LinesOf(std::string_view text, const Directive& directive) {
  std::size_t begin = directive.end;
  for (const SourceLine& line : SplitLines(text)) {
    if (line.number == directive.line) begin = line.begin;
  }
  const std::size_t end = text.find('\n', directive.end);
  return {begin, end == std::string_view::npos ? text.size() : end + 1};
}

// Where the outermost loop begins that is open at a directive, or the directive itself.
const Directive& OutermostAround(const std::vector<Directive>& all, const Directive& directive) {
  std::vector<const Directive*> open;
  for (const Directive& one : all) {
    if (one.line >= directive.line) break;
    if (one.word == "repeat") open.push_back(&one);
    if (one.word == "end" && !open.empty()) open.pop_back();
  }
  return open.empty() ? directive : *open.front();
}

// Removes the directives for which `goes` holds.
template <class Goes>
std::string WithoutDirectives(std::string text, const Goes& goes) {
  std::vector<Directive> directives = FindDirectives("source", text);
  std::reverse(directives.begin(), directives.end());
  for (const Directive& directive : directives) {
    if (!goes(directive)) continue;
    const LaunchPart lines = LinesOf(text, directive);
    text.erase(lines.begin, lines.end - lines.begin);
  }
  return text;
}

// Removes loops, not in others, that only exchange names of buffers which no launch behind them uses.
std::string WithoutEmptyLoops(std::string text) {
  const std::vector<Directive> all = FindDirectives("source", text);
  std::vector<std::pair<int, int>> gone;  // lines
  int open = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    open += all[i].word == "repeat" ? 1 : all[i].word == "end" ? -1 : 0;
    if (all[i].word != "repeat" || open != 1) continue;
    std::vector<std::string> names;
    std::size_t end = i + 1;
    for (; end < all.size() && all[end].word == "swap"; ++end) {
      const std::string::size_type gap = all[end].text.find_first_of(" \t");
      names.push_back(all[end].text.substr(0, gap));
      names.emplace_back(Trim(std::string_view(all[end].text).substr(std::min(gap, all[end].text.size()))));
    }
    if (end == all.size() || all[end].word != "end") continue;
    const auto uses = [&](const std::string& name) {
      return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(end), all.end(), [&](const Directive& directive) {
        return directive.word != "workspace" && ContainsName(directive.text, name);
      });
    };
    if (std::none_of(names.begin(), names.end(), uses)) gone.emplace_back(all[i].line, all[end].line);
  }
  return WithoutDirectives(std::move(text), [&](const Directive& directive) {
    const bool loops = directive.word == "repeat" || directive.word == "swap" || directive.word == "end";
    return loops && std::any_of(gone.begin(), gone.end(), [&](const auto& lines) {
             return lines.first <= directive.line && directive.line <= lines.second;
           });
  });
}

// Removes the launch lines of a kernel, and the workspaces of theirs that no other line uses.
std::string WithoutLaunches(const std::string& text, const std::string& kernel) {
  const auto launches_it = [&](const Directive& directive) {
    return directive.word == "launch" && ParseLaunchLine(directive.text).kernel.Of(directive.text) == kernel;
  };
  std::vector<std::string> arguments;
  for (const Directive& directive : FindDirectives("source", text)) {
    if (!launches_it(directive)) continue;
    for (std::string& one : SplitAtCommas(ParseLaunchLine(directive.text).arguments.Of(directive.text)))
      arguments.push_back(std::move(one));
  }
  std::string changed = WithoutEmptyLoops(WithoutDirectives(text, launches_it));
  const std::vector<Directive> rest = FindDirectives("source", changed);
  std::erase_if(arguments, [&](const std::string& name) {
    return std::any_of(rest.begin(), rest.end(), [&](const Directive& directive) {
      return directive.word != "workspace" && directive.word != "memset" && ContainsName(directive.text, name);
    });
  });
  return WithoutDirectives(std::move(changed), [&](const Directive& directive) {
    const std::string name = directive.text.substr(0, directive.text.find_first_of(" \t"));
    const bool declares = directive.word == "workspace" || directive.word == "memset";
    return declares && std::find(arguments.begin(), arguments.end(), name) != arguments.end();
  });
}

// Removes workspaces that nothing but evo:memset names.
std::string WithoutUnusedWorkspaces(std::string text) {
  const std::vector<Directive> all = FindDirectives("source", text);
  return WithoutDirectives(std::move(text), [&](const Directive& directive) {
    if (directive.word != "workspace" && directive.word != "memset") return false;
    const std::string name = directive.text.substr(0, directive.text.find_first_of(" \t"));
    const auto declares = [&](const Directive& one) {
      return one.word == "workspace" && one.text.substr(0, one.text.find_first_of(" \t")) == name;
    };
    const auto names = [&](const Directive& one) {
      return one.word != "workspace" && one.word != "memset" && ContainsName(one.text, name);
    };
    return std::any_of(all.begin(), all.end(), declares) && std::none_of(all.begin(), all.end(), names);
  });
}

}  // namespace

std::string RenderParameters(const std::string& text, const Parameters& parameters) {
  const auto declared = DeclaredValues(text);
  std::string rendered = text;
  std::vector<ParameterBlock> blocks = FindParameterBlocks(text);
  for (const auto& [name, value] : parameters) {
    const auto values = declared.find(name);
    if (values == declared.end()) throw Error(fmt::format("parameter {}: the template declares no parameter of this name", name));
    if (std::find(values->second.begin(), values->second.end(), value) == values->second.end()) {
      throw Error(fmt::format("parameter {}: {} is not among its values {}", name, value, fmt::join(values->second, ", ")));
    }
    if (std::none_of(blocks.begin(), blocks.end(), [&, n = name](const ParameterBlock& b) { return b.name == n; })) {
      throw Error(fmt::format("parameter {}: the source no longer defines it", name));
    }
  }
  // From the last block to the first, so that the offsets of the remaining blocks stay valid.
  std::reverse(blocks.begin(), blocks.end());
  for (const ParameterBlock& block : blocks) {
    const auto value = parameters.find(block.name);
    if (value == parameters.end()) continue;
    rendered.replace(block.value_begin, block.value_end - block.value_begin, std::to_string(value->second));
  }
  const IncludeEnd includes = FindIncludeEnd(rendered);
  if (includes.line == 0 || HasHeaderStop(rendered)) return rendered;
  const bool newline_missing = rendered[includes.offset - 1] != '\n';
  rendered.insert(includes.offset, fmt::format("{}{}\n", newline_missing ? "\n" : "", kHeaderStop));
  return rendered;
}

std::optional<std::string> RenderLaunchChange(const std::string& text, const LaunchChange& change) {
  if (std::find(kFields.begin(), kFields.end(), change.field) == kFields.end()) {
    throw Error(fmt::format("launch change: no field '{}'; there are {}", change.field, fmt::join(kFields, ", ")));
  }
  if (change.text.find_first_of("\r\n\\") != std::string::npos) {
    throw Error(fmt::format("launch change: the {} of {} must be one line without a backslash", change.field, change.kernel));
  }
  std::string changed = text;
  bool found = false;
  std::vector<Directive> directives = FindDirectives("source", text);
  std::reverse(directives.begin(), directives.end());
  for (const Directive& directive : directives) {
    if (directive.word != "launch") continue;
    const LaunchLine line = ParseLaunchLine(directive.text);
    const LaunchPart named = change.field == "kernel" ? ExpressionOf(line) : line.kernel;
    if (named.Of(directive.text) != change.kernel) continue;
    if (change.field == "removed") return WithoutLaunches(text, change.kernel);
    if (change.field == "unused") return WithoutUnusedWorkspaces(text);
    if (change.field == "before" || change.field == "ahead") {
      const bool ahead = change.field == "ahead";
      const LaunchPart lines = LinesOf(text, ahead ? OutermostAround(FindDirectives("source", text), directive) : directive);
      changed.insert(lines.begin, fmt::format("// evo:{}\n", change.text));
      return changed;
    }
    found = true;
    const Replacement part = ReplacementIn(directive.text, line, change);
    const std::size_t begin = part.begin < directive.origin.size() ? directive.origin[part.begin] : directive.end;
    const std::size_t end = part.end == part.begin ? begin : directive.origin[part.end - 1] + 1;
    changed.replace(begin, end - begin, part.text);
  }
  if (!found) return std::nullopt;
  return changed;
}

}  // namespace evo
