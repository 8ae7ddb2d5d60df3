#include "mutators/analysis/plain_source/size_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/size_macro.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "syntax/splices.h"

namespace evo {
namespace {

// Bounds how deep macros that are made of sizes name one another.
constexpr int kSizeDepth = 8;
// What a size is taken for in the sizes of arrays, so that runs may have others than the present one.
constexpr std::int64_t kRoomOfArrays = 640;

// What stands in the source, which is the host's size.
std::int64_t PresentSize(const SyntaxTree& tree, const std::string& macro) {
  const std::string text(MeaningOf(tree, macro));
  return std::strtoll(text.c_str(), nullptr, 0);
}

// Writes the sizes that one kernel names as its parameters.
class SizeReplacer {
 public:
  SizeReplacer(const MutationContext& context, int kernel) : context_(context), tree_(context.tree), kernel_(kernel) {}

  // False if the kernel names no size, or if a name of a size cannot be written out.
  bool Replace() {
    const auto& parts = tree_.node(kernel_).children;
    if (parts.empty() || tree_.node(parts.back()).kind_name != "CompoundStmt") return false;
    FindArraySizes(parts.back());
    FindLocals(parts.back());
    const SourceRange body = tree_.node(parts.back()).range;
    const std::string_view text = tree_.Text(body);
    if (HasSizeInDirective(text)) return false;
    std::string_view before;
    for (const SourceRange& token : Tokenize(text)) {
      const std::string_view spelled = text.substr(token.begin, token.size());
      const SourceRange place{body.begin + token.begin, body.begin + token.end};
      const bool member = before == "." || before == "->" || before == "::";
      before = spelled;
      if (member || IsIn(removed_, place) || !DependsOnSizeMacro(spelled)) continue;
      if (IsIn(array_sizes_, place)) {
        if (locals_.contains(spelled)) splices_.emplace_back(place, WithoutLocals(spelled));
        continue;
      }
      const auto written = Written(spelled, kSizeDepth);
      if (!written) return false;
      splices_.emplace_back(place, *written);
    }
    if (names_.empty()) return false;
    for (const SourceRange& range : removed_) splices_.emplace_back(range, "");
    const int last = LastParameter(tree_, kernel_);
    if (last < 0) return false;
    // The smallest come last, as numbers of taps and distances do where authors list sizes.
    std::stable_sort(names_.begin(), names_.end(),
                     [&](const auto& a, const auto& b) { return PresentValue(a.first) > PresentValue(b.first); });
    std::string parameters;
    for (const auto& [macro, name] : names_) parameters += fmt::format(", int {}", name);
    const std::uint32_t end = tree_.node(last).range.end;
    splices_.emplace_back(SourceRange{end, end}, parameters);
    return true;
  }

  const Splices& splices() const { return splices_; }
  // Sizes of which arrays need room for other values.
  const std::set<std::string>& of_arrays() const { return of_arrays_; }
  // Of the sizes, what the parameters are called.
  const std::vector<std::pair<std::string, std::string>>& names() const { return names_; }

 private:
  // Whether `#if` or the like asks for a size: what it leaves is that of the present one.
  bool HasSizeInDirective(std::string_view text) const {
    for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
      const std::string_view line = text.substr(at, text.find('\n', at) - at);
      const auto tokens = Tokenize(line);
      const auto is_size = [&](const SourceRange& token) { return DependsOnSizeMacro(line.substr(token.begin, token.size())); };
      if (std::any_of(tokens.begin(), tokens.end(), is_size)) return true;
    }
    return false;
  }

  // What stands between the brackets of variables that are arrays must be a constant.
  void FindArraySizes(int body) {
    for (const int at : Subtree(tree_, body)) {
      const SyntaxNode& variable = tree_.node(at);
      if (variable.kind_name != "VarDecl" || variable.type.find('[') == std::string::npos) continue;
      const std::string_view text = tree_.Text(variable.range);
      const auto tokens = Tokenize(text);
      const auto spelled = [&](std::size_t i) {
        return i < tokens.size() ? text.substr(tokens[i].begin, tokens[i].size()) : std::string_view();
      };
      std::size_t i = 0;
      while (i < tokens.size() && spelled(i) != variable.name) ++i;
      for (++i; spelled(i) == "["; ++i) {
        const std::uint32_t begin = tokens[i].begin;
        for (int depth = 1; depth > 0 && i + 1 < tokens.size();) {
          ++i;
          depth += (spelled(i) == "[") - (spelled(i) == "]");
        }
        array_sizes_.push_back({variable.range.begin + begin, variable.range.begin + tokens[i].end});
      }
    }
  }
  static bool IsIn(const std::vector<SourceRange>& ranges, const SourceRange& place) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const SourceRange& range) { return range.Contains(place); });
  }

  // Constants of the kernel that are made of sizes are written out: as they are in the sizes of arrays, else with parameters.
  void FindLocals(int body) {
    for (const int at : Subtree(tree_, body)) {
      const SyntaxNode& variable = tree_.node(at);
      if (variable.kind_name != "VarDecl" || variable.children.empty() || !variable.type.starts_with("const ") ||
          variable.type.find_first_of("[*&") != std::string::npos || CountOf(variable.name) != 1)
        continue;
      const SourceRange value = tree_.node(variable.children.back()).range;
      const std::string_view text = tree_.Text(value);
      bool constant = true, of_size = false;
      for (const SourceRange& token : Tokenize(text)) {
        const std::string_view name = text.substr(token.begin, token.size());
        if (std::isalpha(static_cast<unsigned char>(name.front())) == 0 && name.front() != '_') continue;
        of_size = of_size || DependsOnSizeMacro(name);
        constant = constant && (locals_.contains(std::string(name)) ||
                                (CountOf(name) == 0 && (DependsOnSizeMacro(name) || ConstantValue(tree_, name))));
      }
      const bool in_array = std::any_of(array_sizes_.begin(), array_sizes_.end(), [&](const SourceRange& range) {
        return ContainsName(std::string(tree_.Text(range)), variable.name);
      });
      const bool spelled = tree_.Text({variable.range.begin, value.begin}).find("constexpr") != std::string_view::npos;
      if (!constant || !of_size || (!in_array && !spelled)) continue;
      const SyntaxNode& statement = tree_.node(variable.parent);
      if (statement.kind_name != "DeclStmt" || statement.children.size() != 1) continue;
      locals_[variable.name] = text;
      removed_.push_back(statement.range);
    }
    for (const int at : Subtree(tree_, body)) {
      // With more than one such extent runs would take too much memory.
      std::vector<SourceRange> extents;
      if (tree_.node(at).kind_name != "VarDecl") continue;
      for (const SourceRange& range : array_sizes_) {
        if (tree_.node(at).range.Contains(range) && NamesSize(tree_.Text(range))) extents.push_back(range);
      }
      if (extents.size() == 1) NoteRoom(tree_.Text(extents.front()), kSizeDepth);
    }
  }

  bool NamesSize(std::string_view text) const {
    const auto tokens = Tokenize(text);
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const SourceRange& token) { return DependsOnSizeMacro(text.substr(token.begin, token.size())); });
  }

  // The sizes behind the size of an array.
  void NoteRoom(std::string_view text, int depth) {
    for (const SourceRange& token : Tokenize(text)) {
      const std::string_view name = text.substr(token.begin, token.size());
      if (depth == 0 || !DependsOnSizeMacro(name)) continue;
      if (IsSizeMacro(tree_.text(), name))
        of_arrays_.emplace(name);
      else
        NoteRoom(MeaningHere(name), depth - 1);
    }
  }

  std::string WithoutLocals(std::string_view name) const {
    const auto local = locals_.find(name);
    if (local == locals_.end()) return std::string(name);
    std::string text = local->second;
    for (const auto& [other, meaning] : locals_) {
      if (ContainsName(text, other)) text = WithOtherName(text, other, WithoutLocals(other));
    }
    return "(" + text + ")";
  }

  std::string_view MeaningHere(std::string_view name) const {
    const auto local = locals_.find(name);
    return local != locals_.end() ? std::string_view(local->second) : MeaningOf(tree_, name);
  }

  bool DependsOnSizeMacro(std::string_view token) const {
    const bool name = std::isalpha(static_cast<unsigned char>(token.front())) != 0 || token.front() == '_';
    return name && (locals_.contains(token) || (CountOf(token) == 0 && DependsOnSize(tree_, token)));
  }
  // A variable of the kernel hides a constant of the file.
  std::ptrdiff_t CountOf(std::string_view name) const {
    const auto within = Subtree(tree_, kernel_);
    return std::count_if(within.begin(), within.end(), [&](int at) {
      const SyntaxNode& node = tree_.node(at);
      return (node.kind_name == "VarDecl" || node.kind_name == "ParmDecl") && node.name == name;
    });
  }

  // A name with parameters in the place of sizes.
  std::optional<std::string> Written(std::string_view name, int depth) {
    if (depth == 0) return std::nullopt;
    if (IsSizeMacro(tree_.text(), name)) return ParameterFor(name);
    const std::string_view meaning = MeaningHere(name);
    if (meaning.empty()) return std::nullopt;
    std::string text = "(";
    std::uint32_t end = 0;
    for (const SourceRange& token : Tokenize(meaning)) {
      const std::string_view spelled = meaning.substr(token.begin, token.size());
      if (token.begin > end && text.size() > 1) text += " ";
      end = token.end;
      if (!DependsOnSizeMacro(spelled)) {
        text += spelled;
        continue;
      }
      const auto written = Written(spelled, depth - 1);
      if (!written) return std::nullopt;
      text += *written;
    }
    return text + ")";
  }

  std::string ParameterFor(std::string_view macro) {
    const auto known = std::find_if(names_.begin(), names_.end(), [&](const auto& one) { return one.first == macro; });
    if (known != names_.end()) return known->second;
    std::string name(macro);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string text = tree_.text();
    for (const auto& [other, taken] : names_) text += " " + taken;
    return names_.emplace_back(macro, UnusedName(text, name)).second;
  }

  std::int64_t PresentValue(const std::string& macro) const { return PresentSize(tree_, macro); }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  Splices splices_;
  std::vector<SourceRange> array_sizes_, removed_;
  std::map<std::string, std::string, std::less<>> locals_;  // initialisers of constants
  std::set<std::string> of_arrays_;
  std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

std::optional<std::string> WithSizesAsParameters(const MutationContext& context, FieldDeclarations& declarations) {
  if (context.rendered.size_macros.empty()) return std::nullopt;
  const SyntaxTree& tree = context.tree;
  Splices splices;
  std::vector<std::pair<std::string, std::vector<std::string>>> launches;
  SizeValues room;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || tree.node(kernel).kind_name != "FunctionDecl") continue;
    const LaunchDirective* const launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
    if (launch == nullptr) continue;
    SizeReplacer replacer(context, kernel);
    if (!replacer.Replace()) continue;
    splices.insert(splices.end(), replacer.splices().begin(), replacer.splices().end());
    for (const std::string& macro : replacer.of_arrays()) room[macro] = std::max(kRoomOfArrays, PresentSize(tree, macro));
    auto arguments = launch->arguments;
    for (const auto& [macro, name] : replacer.names()) {
      const auto& macros = context.rendered.size_macros;
      const auto size = std::find_if(macros.begin(), macros.end(), [&](const SizeMacro& one) { return one.name == macro; });
      if (size == macros.end()) return std::nullopt;
      arguments.emplace_back(size->value.text());
      declarations[tree.node(kernel).name].emplace_back(name, fmt::format("const int {} = {};", name, macro));
    }
    launches.emplace_back(launch->kernel, std::move(arguments));
  }
  std::optional<std::string> text = Spliced(tree, std::move(splices));
  for (const auto& [kernel, arguments] : launches) {
    if (text) text = RenderLaunchChange(*text, {kernel, "arguments", fmt::format("{}", fmt::join(arguments, ", "))});
  }
  return text ? std::optional(RenderSizes(*std::move(text), room)) : text;
}

}  // namespace evo
