#include "story/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {
namespace {

// Long enough for a statement, short enough for a line of a terminal.
constexpr std::size_t kEditTextWidth = 60;

// Of a character of several bytes in UTF-8, all but the first.
bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

std::string Shortened(const std::string& text) { return Cut(Folded(text), kEditTextWidth); }

// An edit of more changes to the source, and one that brings parameters, is summed up: `evo diff` has its lines.
constexpr std::size_t kMostListed = 3;

// What an anchor is at, by the name that libclang has for its kind: "a loop".
std::string_view WordFor(std::string_view kind) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"Pragma", "a pragma"},
      {"FunctionDecl", "a function"},
      {"FunctionTemplate", "a function"},
      {"CompoundStmt", "a block"},
      {"ForStmt", "a loop"},
      {"WhileStmt", "a loop"},
      {"DoStmt", "a loop"},
      {"IfStmt", "an if"},
      {"ReturnStmt", "a return"},
      {"DeclStmt", "a declaration"},
      {"VarDecl", "a variable"},
      {"ParmDecl", "an argument"},
      {"DeclRefExpr", "a name"},
      {"MemberRefExpr", "a member"},
      {"ArraySubscriptExpr", "an element"},
      {"CallExpr", "a call"},
      {"LambdaExpr", "a lambda"},
      {"IntegerLiteral", "a number"},
      {"FloatingLiteral", "a number"},
      {"CompoundAssignOperator", "an assignment"},
      {"ConditionalOperator", "a choice"},
  };
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& word) { return word.first == kind; });
  if (found != std::end(kWords)) return found->second;
  if (kind.ends_with("Attr") || kind.starts_with("attribute")) return "an attribute";
  if (kind.ends_with("Stmt")) return "a statement";
  if (kind.ends_with("Decl")) return "a declaration";
  if (kind.ends_with("Expr") || kind.ends_with("Operator") || kind.ends_with("Literal")) return "an expression";
  return kind;
}

std::string Describe(const SourceChange& change, const Edit& edit) {
  const Anchor& anchor = edit.anchors.at(change.anchor);
  const std::string_view what = WordFor(anchor.kind);
  const std::string where = anchor.function.empty() ? std::string(what) : fmt::format("{} in {}", what, anchor.function);
  const std::string text = Shortened(change.text);
  if (change.placement == Placement::kReplace) {
    return text.empty() ? fmt::format("delete {}", where) : fmt::format("replace {} by `{}`", where, text);
  }
  return fmt::format("put `{}` {} {}", text, change.placement == Placement::kBefore ? "before" : "after", where);
}

// "14 changes in Score, attention_naive": the lines are those of `evo diff`
std::string SumUp(const Edit& edit) {
  std::vector<std::string> functions;
  for (const SourceChange& change : edit.source) {
    const std::string& function = edit.anchors.at(change.anchor).function;
    if (!function.empty() && std::find(functions.begin(), functions.end(), function) == functions.end())
      functions.push_back(function);
  }
  return fmt::format("{} change{}{}{}", edit.source.size(), edit.source.size() == 1 ? "" : "s", functions.empty() ? "" : " in ",
                     fmt::join(functions, ", "));
}

// One for each kernel: "launch of k: grid(N, 1), block(32)".
std::vector<std::string> DescribeLaunches(const Edit& edit) {
  std::vector<std::string> parts;
  const std::string* kernel = nullptr;
  for (const LaunchChange& change : edit.launch) {
    const std::string field = change.field == "removed"  ? "removed"
                              : change.field == "unused" ? "workspaces that nothing uses removed"
                              : change.field == "before" ? fmt::format("evo:{} before it", Shortened(change.text))
                              : change.field == "ahead"  ? fmt::format("evo:{} before its loop", Shortened(change.text))
                              : change.field == "kernel" ? fmt::format("now of {}", Shortened(change.text))
                                                         : fmt::format("{}({})", change.field, Shortened(change.text));
    if (kernel != nullptr && *kernel == change.kernel) {
      parts.back() += ", " + field;
    } else {
      parts.push_back(fmt::format("launch of {}: {}", change.kernel, field));
    }
    kernel = &change.kernel;
  }
  return parts;
}

}  // namespace

std::string Folded(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string Cut(const std::string& line, std::size_t width) {
  if (line.size() <= width) return line;
  std::size_t end = width - 3;
  while (end > 0 && IsContinuation(line[end])) --end;
  return line.substr(0, end) + "...";
}

std::string Describe(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "none" : text;
}

// What the edit does, without its operator.
std::string DescribeChanges(const Edit& edit) {
  std::vector<std::string> parts;
  if (edit.source.size() > kMostListed || !edit.brings.empty()) {
    parts.push_back(SumUp(edit));
  } else {
    for (const SourceChange& change : edit.source) parts.push_back(Describe(change, edit));
  }
  for (std::string& launch : DescribeLaunches(edit)) parts.push_back(std::move(launch));
  if (!edit.parameters.empty()) parts.push_back(Describe(edit.parameters));
  std::string names;
  for (const auto& brought : edit.brings)
    names += fmt::format("{}{}", names.empty() ? "brings the parameters " : ", ", brought.name);
  if (!names.empty()) parts.push_back(names);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string Describe(const Edit& edit) { return fmt::format("{}: {}", edit.op, DescribeChanges(edit)); }

std::string DescribeStep(const Candidate& candidate, const Candidate* parent) {
  if (parent == nullptr)
    return fmt::format("template {}, {}", candidate.genome.template_name, Describe(candidate.genome.parameters));
  std::vector<std::string> parts;
  if (candidate.parents.size() > 1) parts.push_back(fmt::format("with {}", candidate.parents[1]));
  if (candidate.genome.template_name != parent->genome.template_name) {
    parts.push_back(fmt::format("template {}", candidate.genome.template_name));
  }
  Parameters changed;
  for (const auto& [name, value] : candidate.genome.parameters) {
    const auto before = parent->genome.parameters.find(name);
    if (before == parent->genome.parameters.end() || before->second != value) changed[name] = value;
  }
  if (!changed.empty()) parts.push_back(Describe(changed));
  const auto holds = [](const Genome& genome, const Edit& edit) {
    return std::find(genome.edits.begin(), genome.edits.end(), edit) != genome.edits.end();
  };
  for (const Edit& edit : candidate.genome.edits) {
    if (!holds(parent->genome, edit)) parts.push_back(edit.op == candidate.op ? DescribeChanges(edit) : Describe(edit));
  }
  for (const Edit& edit : parent->genome.edits) {
    if (!holds(candidate.genome, edit)) parts.push_back(fmt::format("without {}", Describe(edit)));
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<const Edit*> AddedEdits(const Genome& child, const Genome& parent) {
  std::vector<const Edit*> added;
  for (const Edit& edit : child.edits) {
    if (std::find(parent.edits.begin(), parent.edits.end(), edit) == parent.edits.end()) added.push_back(&edit);
  }
  return added;
}

}  // namespace evo
