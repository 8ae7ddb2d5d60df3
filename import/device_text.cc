#include "import/device_text.h"

#include <algorithm>
#include <map>
#include <optional>

#include "import/device_items.h"
#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

// Headers that device code needs where it has a word with this part, and that NVRTC has, or evo for it.
struct DeviceHeader {
  std::string_view name;
  std::vector<std::string_view> parts;
};
const std::vector<DeviceHeader>& DeviceHeaders() {
  static const std::vector<DeviceHeader> kHeaders = {
      {"cuda_fp16.h", {"half"}},
      {"cuda_bf16.h", {"bfloat16"}},
      {"cuda_fp8.h", {"fp8"}},
      {"mma.h", {"wmma"}},
      {"cooperative_groups.h", {"cooperative_groups"}},
      {"cooperative_groups/reduce.h", {"cooperative_groups"}},
      {"cooperative_groups/scan.h", {"cooperative_groups"}},
      {"cuda_pipeline.h", {"__pipeline"}},
      {"cuda/barrier", {"barrier"}},
      {"cuda/pipeline", {"pipeline"}},
      {"cfloat", {"FLT_", "DBL_"}},
      {"float.h", {"FLT_", "DBL_"}},
      {"climits", {"_MAX", "_MIN"}},
      {"limits.h", {"_MAX", "_MIN"}},
      {"limits", {"numeric_limits"}},
      {"cmath", {"std"}},
      {"cstdint", {"_t"}},
      {"stdint.h", {"_t"}},
      {"type_traits", {"std"}},
      {"utility", {"std"}},
  };
  return kHeaders;
}

// Of `const int A = 1, B = 2;` what is left without some of its variables; empty if it is not understood.
std::string WithoutVariables(std::string_view text, const std::set<std::string>& names, const std::set<std::string>& moved) {
  const auto tokens = SpelledTokens(text);
  std::size_t first = 0;
  while (first < tokens.size() && !names.contains(std::string(tokens[first]))) ++first;
  if (first == tokens.size() || tokens.back() != ";") return "";
  const auto type = static_cast<std::size_t>(tokens[first].data() - text.data());
  std::string left;
  int depth = 0;
  std::size_t begin = first;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    depth += token == "(" || token == "{" || token == "[" ? 1 : token == ")" || token == "}" || token == "]" ? -1 : 0;
    if (i + 1 < tokens.size() && (token != "," || depth > 0)) continue;
    if (!names.contains(std::string(tokens[begin]))) return "";
    const auto from = static_cast<std::size_t>(tokens[begin].data() - text.data());
    const auto to = static_cast<std::size_t>(token.data() - text.data());
    if (!moved.contains(std::string(tokens[begin])))
      left += (left.empty() ? "" : ", ") + std::string(text.substr(from, to - from));
    begin = i + 1;
  }
  return left.empty() ? "" : std::string(text.substr(0, type)) + left + ";";
}

class DeviceTextMaker {
 public:
  DeviceTextMaker(const SourceProgram& program, const std::set<std::string>& kernels, const std::set<std::string>& types,
                  const std::set<std::string>& moved)
      : program_(program), items_(program, kernels, types), moved_(moved), lines_(SplitLines(program.text())) {
    keep_.resize(lines_.size());
  }

  DeviceText Run() {
    result_.words = items_.words();
    Mark();
    Write();
    return std::move(result_);
  }

 private:
  std::size_t LineAt(std::uint32_t offset) const {
    const auto found = std::upper_bound(lines_.begin(), lines_.end(), offset,
                                        [](std::uint32_t at, const SourceLine& line) { return at < line.begin; });
    return static_cast<std::size_t>(found - lines_.begin()) - 1;
  }

  bool IsComment(std::size_t line) const {
    const std::string_view text = Trim(lines_[line].text);
    return text.starts_with("//") || comment_[line];
  }

  void MarkRange(const SourceRange& range, bool with_comment) {
    std::size_t first = LineAt(range.begin);
    const std::size_t last = LineAt(range.end > range.begin ? range.end - 1 : range.begin);
    for (std::size_t i = first; i <= last; ++i) keep_[i] = true;
    while (with_comment && first > 0 && IsComment(first - 1)) keep_[--first] = true;
  }

  // Functions of a class that only the host can call, where they have lines of their own.
  void LeaveOutMethodsOfHost() {
    for (const ProgramFunction& one : program_.functions()) {
      if (one.record.empty() || one.device || program_.Text(one.range).find("constexpr") != std::string_view::npos) continue;
      const std::size_t first = LineAt(one.range.begin), last = LineAt(one.range.end - 1);
      const std::string_view text = program_.text();
      const std::uint32_t begin = lines_[first].begin,
                          end = lines_[last].begin + static_cast<std::uint32_t>(lines_[last].text.size());
      const std::string_view behind = Trim(text.substr(one.range.end, end > one.range.end ? end - one.range.end : 0));
      if (!Trim(text.substr(begin, one.range.begin - begin)).empty() || (!behind.empty() && behind != ";")) continue;
      for (std::size_t i = first; i <= last; ++i) keep_[i] = false;
    }
  }

  // Lines that lie in a /* comment */ and have nothing else.
  void FindComments() {
    comment_.assign(lines_.size(), false);
    const std::string& text = program_.text();
    for (std::size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*", at)) {
      const std::size_t line_begin = lines_[LineAt(static_cast<std::uint32_t>(at))].begin;
      const std::size_t end = text.find("*/", at + 2);
      if (end == std::string::npos) return;
      if (Trim(std::string_view(text).substr(line_begin, at - line_begin)).empty()) {
        const std::size_t last = LineAt(static_cast<std::uint32_t>(end));
        const std::size_t after = lines_[last].begin + lines_[last].text.size();
        if (Trim(std::string_view(text).substr(end + 2, after - end - 2)).empty()) {
          for (std::size_t i = LineAt(static_cast<std::uint32_t>(at)); i <= last; ++i) comment_[i] = true;
        }
      }
      at = end + 2;
    }
  }

  void Mark() {
    FindComments();
    for (const DeviceItem& item : items_.all()) {
      if (!item.kept) continue;
      const auto is_moved = [&](const std::string& name) { return moved_.contains(name); };
      if (std::all_of(item.names.begin(), item.names.end(), is_moved)) continue;
      if (std::any_of(item.names.begin(), item.names.end(), is_moved)) {
        const std::string rest = item.variable ? WithoutVariables(program_.Text(item.range), item.names, moved_) : "";
        if (!rest.empty()) keep_[LineAt(item.range.begin)] = true, rewritten_[LineAt(item.range.begin)] = rest;
        continue;
      }
      MarkRange(item.range, true);
      for (const SourceRange& scope : items_.scopes()) {
        if (!scope.Contains(item.range)) continue;
        const std::size_t open = program_.text().find('{', scope.begin);
        MarkRange({scope.begin, static_cast<std::uint32_t>(open + 1)}, false);
        MarkRange({scope.end - 1, scope.end}, false);
      }
      for (const int node : item.nodes) {
        const ProgramVariable* variable = nullptr;
        for (const ProgramVariable& one : program_.variables()) {
          if (one.node == node) variable = &one;
        }
        if (variable != nullptr && variable->constant_memory) result_.constants.insert(variable->name);
        if (variable != nullptr && variable->device_memory) result_.globals.insert(variable->name);
      }
    }
    LeaveOutMethodsOfHost();
    for (const ProgramMacro& macro : program_.macros()) {
      if (items_.Needs(macro) && !moved_.contains(macro.name)) MarkRange(macro.range, true);
    }
    MarkConditions();
    DropDecided();
    ReadIncludes();
  }

  // Conditions inside of what is kept go with the branch that is not compiled, where they ask for nothing that the file defines:
  // a candidate may ask for its own macros only.
  void DropDecided() {
    std::vector<std::vector<std::size_t>> open;  // lines of each group: #if, #elif, #else
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (keep_[i] && !program_.lines()[i].active && !open.empty() && AsksForUndefined(open)) keep_[i] = false;
      std::string_view line = Trim(lines_[i].text);
      if (!line.starts_with('#') || !InKeptItem(i)) continue;
      line = Trim(line.substr(1));
      if (line.starts_with("if")) {
        open.push_back({i});
      } else if (line.starts_with("el") && !open.empty()) {
        open.back().push_back(i);
      } else if (line.starts_with("endif") && !open.empty()) {
        if (AsksForUndefined(open.back())) {
          for (const std::size_t at : open.back()) keep_[at] = false;
          keep_[i] = false;
        }
        open.pop_back();
      }
    }
  }

  // The parser has decided every condition of the group, and none has a macro of the file.
  bool AsksForUndefined(const std::vector<std::size_t>& group) const {
    if (!program_.lines()[group.front()].decided) return false;
    return std::none_of(group.begin(), group.end(), [&](std::size_t line) {
      const auto tokens = SpelledTokens(Trim(lines_[line].text).substr(1));
      return std::any_of(tokens.begin(), tokens.end(),
                         [&](std::string_view token) { return program_.FindMacro(token) != nullptr; });
    });
  }
  bool AsksForUndefined(const std::vector<std::vector<std::size_t>>& groups) const {
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) { return AsksForUndefined(group); });
  }

  // Conditions of the preprocessor stay where they choose between macros that are kept, by what only the compiler knows. What
  // they choose between otherwise is decided: the parser saw one branch.
  void MarkConditions() {
    struct Open {
      std::vector<std::size_t> lines;
      bool needed = false;
    };
    std::vector<Open> open;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::string_view line = Trim(lines_[i].text);
      if (!line.starts_with('#') || InKeptItem(i)) continue;
      line = Trim(line.substr(1));
      if (line.starts_with("if")) {
        open.push_back({{i}, false});
      } else if (open.empty()) {
        continue;
      } else if (line.starts_with("el")) {
        open.back().lines.push_back(i);
      } else if (line.starts_with("endif")) {
        open.back().lines.push_back(i);
        const Open closed = std::move(open.back());
        open.pop_back();
        if (!closed.needed || program_.lines()[closed.lines.front()].decided) continue;
        for (const std::size_t at : closed.lines) keep_[at] = true;
        if (!open.empty()) open.back().needed = true;
      } else if (line.starts_with("define") && keep_[i] && !IsGuard(open.back().lines.front())) {
        open.back().needed = true;
      }
    }
  }

  // `#ifndef X` with an empty `#define X` in the next line: an include guard.
  bool IsGuard(std::size_t line) const {
    const auto name = SpelledTokens(Trim(lines_[line].text).substr(1));
    if (name.size() != 2 || name[0] != "ifndef") return false;
    const ProgramMacro* macro = program_.FindMacro(name[1]);
    return macro != nullptr && macro->body.empty();
  }

  bool InKeptItem(std::size_t line) const {
    const auto at = static_cast<std::uint32_t>(lines_[line].begin);
    return std::any_of(items_.all().begin(), items_.all().end(),
                       [&](const DeviceItem& item) { return item.kept && item.range.begin <= at && at < item.range.end; });
  }

  bool IsNeeded(std::string_view header) const {
    for (const DeviceHeader& known : DeviceHeaders()) {
      if (known.name != header) continue;
      return std::any_of(result_.words.begin(), result_.words.end(), [&](const std::string& word) {
        return std::any_of(known.parts.begin(), known.parts.end(),
                           [&](std::string_view part) { return word.find(part) != std::string::npos; });
      });
    }
    return false;
  }

  void ReadIncludes() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::string_view line = Trim(lines_[i].text);
      if (!line.starts_with('#') || InKeptItem(i)) continue;
      line = Trim(line.substr(1));
      if (!line.starts_with("include")) continue;
      const std::size_t begin = line.find('<');
      const std::size_t end = line.find('>');
      if (begin == std::string_view::npos || end == std::string_view::npos) continue;
      const std::string name(line.substr(begin + 1, end - begin - 1));
      const bool device = IsNeeded(name);
      auto& list = device ? result_.includes : result_.dropped;
      const std::string spelled = "<" + name + ">";
      if (std::find(list.begin(), list.end(), spelled) == list.end()) list.push_back(spelled);
      keep_[i] = false;
    }
  }

  void Write() {
    std::size_t first = 0;
    while (first < lines_.size() && IsComment(first)) ++first;
    for (std::size_t i = 0; i < first; ++i) {
      result_.heading += std::string(lines_[i].text) + "\n";
      keep_[i] = false;
    }
    bool blank = true;  // no second blank line, none at the beginning
    bool gap = false;   // something was left out
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view text = Trim(lines_[i].text);
      const bool empty = text.empty();
      if (!keep_[i]) {
        gap = true;
        continue;
      }
      if (gap && !blank) result_.code += '\n';
      gap = false;
      blank = empty;
      const auto rewritten = rewritten_.find(i);
      std::string_view line = rewritten == rewritten_.end() ? lines_[i].text : std::string_view(rewritten->second);
      if (line.ends_with('\r')) line.remove_suffix(1);
      result_.code += std::string(line) + "\n";
    }
  }

  const SourceProgram& program_;
  DeviceItems items_;
  const std::set<std::string>& moved_;
  std::vector<SourceLine> lines_;
  std::vector<bool> keep_;
  std::vector<bool> comment_;
  std::map<std::size_t, std::string> rewritten_;  // lines
  DeviceText result_;
};

}  // namespace

DeviceText DeviceTextOf(const SourceProgram& program, const std::set<std::string>& kernels, const std::set<std::string>& types,
                        const std::set<std::string>& moved) {
  return DeviceTextMaker(program, kernels, types, moved).Run();
}

}  // namespace evo
