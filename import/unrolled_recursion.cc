#include "import/unrolled_recursion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace evo {
namespace {

constexpr int kMostLevels = 5;  // below the first; each of them has a part of the elements of the one above
constexpr std::string_view kLevel = "_evo_level_";

std::string NameAt(const std::string& name, int level) {
  return level == 0 ? name : fmt::format("{}{}{}", name, kLevel, std::min(level, kMostLevels));
}

class LevelWriter {
 public:
  LevelWriter(const SourceProgram& program, const ProgramFunction& function) : program_(program), function_(function) {
    first_ = program.TokenAt(function.range.begin);
    body_ = program.TokenAt(function.body.begin);
    last_ = program.TokenAt(function.body.end);
  }

  // Whether it calls itself, and launches a kernel.
  bool IsRecursive() const {
    bool calls = false, launches = false;
    for (std::size_t at = body_; at < last_; ++at) {
      calls = calls || IsOwnCall(at);
      launches = launches || program_.text().compare(program_.tokens()[at].begin, 3, "<<<") == 0;
    }
    return calls && launches && !HasDirective();
  }

  // Declarations of all levels below the first.
  std::string Declarations() const {
    std::string text;
    for (int level = 1; level <= kMostLevels; ++level) text += Written(first_, body_, level, true) + "; ";
    return text;
  }
  std::string Definitions() const {
    std::string text;
    for (int level = 1; level <= kMostLevels; ++level) text += " " + Written(first_, last_, level, false);
    return text;
  }
  // The function as it is, with calls of the first level.
  void ReplaceCalls(std::string& text) const {
    for (std::size_t at = last_; at-- > body_;) {
      if (IsOwnCall(at)) text.replace(program_.tokens()[at].begin, program_.tokens()[at].size(), NameAt(function_.name, 1));
    }
  }

 private:
  bool IsOwnCall(std::size_t at) const {
    const std::string_view next = program_.Token(at + 1);
    return program_.Token(at) == function_.name && (next == "(" || next == "<");
  }

  // A line of the preprocessor cannot be written on the same line as others.
  bool HasDirective() const {
    const std::string_view text = program_.Text(function_.range);
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
      const std::size_t first = text.find_first_not_of(" \t\n", end);
      if (first != std::string_view::npos && text[first] == '#') return true;
    }
    return false;
  }

  // Tokens on one line, with the names of a level. Defaults of parameters stand in the declarations alone.
  std::string Written(std::size_t first, std::size_t end, int level, bool defaults) const {
    std::string text;
    const auto& tokens = program_.tokens();
    const std::size_t open = ParameterList();
    const std::size_t close = program_.AfterBracket(open);
    bool left_out = false;
    for (std::size_t at = first; at < end; ++at) {
      const std::string_view token = program_.Token(at);
      if (!defaults && at > open && at < close) {
        if (token == "=") left_out = true;
        if (token == "," || at + 1 == close) left_out = false;
      }
      if (left_out) {
        if (token == "(" || token == "{") at = program_.AfterBracket(at) - 1;
        continue;
      }
      if (at > first && tokens[at].begin > tokens[at - 1].end) text += ' ';
      const bool own_name = at < body_ && token == function_.name && at + 1 == open;
      if (own_name) {
        text += NameAt(function_.name, level);
      } else if (at >= body_ && IsOwnCall(at)) {
        text += NameAt(function_.name, level + 1);
      } else {
        text += token;
      }
    }
    return text;
  }

  std::size_t ParameterList() const {
    std::size_t at = first_;
    while (at < body_ && !(program_.Token(at) == function_.name && program_.Token(at + 1) == "(")) ++at;
    return at + 1;
  }

  const SourceProgram& program_;
  const ProgramFunction& function_;
  std::size_t first_ = 0, body_ = 0, last_ = 0;  // tokens; last_ is the first behind it
};

}  // namespace

std::optional<std::string> WithLevels(const SourceProgram& program) {
  std::string text = program.text();
  bool any = false;
  std::vector<const ProgramFunction*> functions;
  for (const ProgramFunction& function : program.functions()) {
    if (!function.device && function.record.empty() && function.outer < 0) functions.push_back(&function);
  }
  std::sort(functions.begin(), functions.end(), [](const auto* a, const auto* b) { return a->range.begin > b->range.begin; });
  for (const ProgramFunction* function : functions) {
    const LevelWriter writer(program, *function);
    if (!writer.IsRecursive()) continue;
    any = true;
    text.insert(function->body.end, writer.Definitions());
    writer.ReplaceCalls(text);
    text.insert(function->range.begin, writer.Declarations());
  }
  return any ? std::optional(text) : std::nullopt;
}

bool HasAllLevels(const SourceProgram& written) {
  const auto& functions = written.functions();
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (LevelOf(written, static_cast<int>(i)) != 0) continue;
    for (int level = 2; level <= kMostLevels; ++level) {
      if (written.FindFunction(NameAt(functions[i].name, level)) < 0) return false;
    }
  }
  return true;
}

std::string_view PlainName(std::string_view name) { return name.substr(0, name.rfind(kLevel)); }

std::optional<int> LevelOf(const SourceProgram& program, int function) {
  if (function < 0) return std::nullopt;
  const std::string& name = program.functions()[static_cast<std::size_t>(function)].name;
  const std::size_t at = name.rfind(kLevel);
  if (at == std::string::npos) return program.FindFunction(NameAt(name, 1)) < 0 ? std::nullopt : std::optional(0);
  int level = 0;
  std::from_chars(name.data() + at + kLevel.size(), name.data() + name.size(), level);
  return level > 0 ? std::optional(level) : std::nullopt;
}

}  // namespace evo
