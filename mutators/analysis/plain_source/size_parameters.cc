#include "mutators/analysis/plain_source/size_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
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

// Writes the sizes that one kernel names as its parameters.
class SizeReplacer {
 public:
  SizeReplacer(const MutationContext& context, int kernel) : context_(context), tree_(context.tree), kernel_(kernel) {}

  // False if the kernel names no size, or if a name of a size cannot be written out.
  bool Replace() {
    const auto& parts = tree_.node(kernel_).children;
    if (parts.empty() || tree_.node(parts.back()).kind_name != "CompoundStmt") return false;
    FindArraySizes(parts.back());
    const SourceRange body = tree_.node(parts.back()).range;
    const std::string_view text = tree_.Text(body);
    if (HasSizeInDirective(text)) return false;
    std::string_view before;
    for (const SourceRange& token : Tokenize(text)) {
      const std::string_view spelled = text.substr(token.begin, token.size());
      const SourceRange place{body.begin + token.begin, body.begin + token.end};
      const bool member = before == "." || before == "->" || before == "::";
      before = spelled;
      if (member || IsArraySize(place) || !DependsOnSizeMacro(spelled)) continue;
      const auto written = Written(spelled, kSizeDepth);
      if (!written) return false;
      splices_.emplace_back(place, *written);
    }
    if (splices_.empty()) return false;
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
  bool IsArraySize(const SourceRange& place) const {
    return std::any_of(array_sizes_.begin(), array_sizes_.end(), [&](const SourceRange& range) { return range.Contains(place); });
  }

  bool DependsOnSizeMacro(std::string_view token) const {
    const bool name = std::isalpha(static_cast<unsigned char>(token.front())) != 0 || token.front() == '_';
    return name && !IsDeclaredWithin(token) && DependsOnSize(tree_, token);
  }
  // A variable of the kernel hides a constant of the file.
  bool IsDeclaredWithin(std::string_view name) const {
    const auto within = Subtree(tree_, kernel_);
    return std::any_of(within.begin(), within.end(), [&](int at) {
      const SyntaxNode& node = tree_.node(at);
      return (node.kind_name == "VarDecl" || node.kind_name == "ParmDecl") && node.name == name;
    });
  }

  // A name with parameters in the place of sizes.
  std::optional<std::string> Written(std::string_view name, int depth) {
    if (depth == 0) return std::nullopt;
    if (IsSizeMacro(tree_.text(), name)) return ParameterFor(name);
    const std::string_view meaning = MeaningOf(tree_, name);
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

  // What stands in the source, which is the host's size.
  std::int64_t PresentValue(const std::string& macro) const {
    const std::string text(MeaningOf(tree_, macro));
    return std::strtoll(text.c_str(), nullptr, 0);
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  Splices splices_;
  std::vector<SourceRange> array_sizes_;
  std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

std::optional<std::string> WithSizesAsParameters(const MutationContext& context, FieldDeclarations& declarations) {
  if (context.rendered.size_macros.empty()) return std::nullopt;
  const SyntaxTree& tree = context.tree;
  Splices splices;
  std::vector<std::pair<std::string, std::vector<std::string>>> launches;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || tree.node(kernel).kind_name != "FunctionDecl") continue;
    const LaunchDirective* const launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
    if (launch == nullptr) continue;
    SizeReplacer replacer(context, kernel);
    if (!replacer.Replace()) continue;
    splices.insert(splices.end(), replacer.splices().begin(), replacer.splices().end());
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
  return text;
}

}  // namespace evo
