#include "mutators/analysis/attention/derived_sizes.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string_view>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Of heads.
constexpr std::int64_t kMostHeadsOfNumber = 64;
constexpr std::size_t kMostDerivedNumbers = 2, kMostQuotients = 3, kMostIncrements = 2;
constexpr std::string_view kAndOne = " + 1";

bool IsSpelledNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::int64_t SizeOrNumber(const LaunchRuns::Sizes& sizes, const std::string& name) {
  return IsSpelledNumber(name) ? std::strtoll(name.c_str(), nullptr, 10) : sizes.at(name);
}

bool IsSizeOf(const SourceRuns& runs, const std::string& name) {
  return std::find(runs.names().begin(), runs.names().end(), name) != runs.names().end();
}

}  // namespace

DerivedSizes::DerivedSizes(const SyntaxTree& tree, const SourceRuns& runs) {
  for (const SourceRuns::Link& link : runs.links()) {
    if (link.launch == nullptr) continue;
    std::map<int, std::string> passed;
    std::size_t place = 0;
    for (const int child : tree.node(link.kernel).children) {
      const SyntaxNode& parameter = tree.node(child);
      if (parameter.kind_name != "ParmDecl" || place >= link.launch->arguments.size()) continue;
      const std::string& argument = passed[child] = link.launch->arguments[place++];
      if (!IsIntegerType(WithoutConst(parameter.type))) continue;
      const std::size_t slash = argument.find(" / ");
      if (slash != std::string::npos) AddQuotient(runs, {argument.substr(0, slash), argument.substr(slash + 3)});
      AddNumber(argument);
    }
    for (const Expression& dimension : link.launch->grid) {
      // As of `batch * heads * 4`.
      std::vector<std::string> tokens;
      for (const SourceRange& range : Tokenize(dimension.text()))
        tokens.push_back(dimension.text().substr(range.begin, range.size()));
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if ((i > 0 && tokens[i - 1] == "*") || (i + 1 < tokens.size() && tokens[i + 1] == "*")) AddNumber(tokens[i]);
      }
    }
    AddOfKernel(tree, runs, link.kernel, passed);
  }
}

// By what a kernel computes of what it is passed.
void DerivedSizes::AddOfKernel(const SyntaxTree& tree, const SourceRuns& runs, int kernel,
                               const std::map<int, std::string>& passed) {
  const auto passed_for = [&](int node) {
    const auto found = passed.find(NamedDeclaration(tree, node));
    return found == passed.end() ? std::string() : found->second;
  };
  for (const int node : Subtree(tree, kernel)) {
    const auto& sides = tree.node(node).children;
    const std::string_view operation = tree.Operator(node);
    if (sides.size() != 2) continue;
    const std::string left = passed_for(sides[0]), right = passed_for(sides[1]);
    const int dividend = WithoutParentheses(tree, sides[0]);
    if (operation == "/" && !right.empty() && !left.empty()) AddQuotient(runs, {left, right});
    if (operation == "/" && !right.empty() && tree.Operator(dividend) == "*") {
      // `head * groups / heads`.
      for (const int factor : tree.node(dividend).children) {
        if (const std::string divisor = passed_for(factor); !divisor.empty()) AddQuotient(runs, {right, divisor});
      }
    }
    const bool counts = (operation == "<=" && !right.empty()) || (operation == "+" && tree.Text(sides[1]) == "1");
    const std::string& counted = operation == "<=" ? right : left;
    if (!counts || !IsSizeOf(runs, counted) || increments_.size() >= kMostIncrements) continue;
    const std::string increment = counted + std::string(kAndOne);
    if (std::find(increments_.begin(), increments_.end(), increment) == increments_.end()) increments_.push_back(increment);
  }
}

void DerivedSizes::AddNumber(const std::string& text) {
  if (!IsSpelledNumber(text) || numbers_.size() >= kMostDerivedNumbers ||
      std::find(numbers_.begin(), numbers_.end(), text) != numbers_.end())
    return;
  const std::int64_t number = SizeOrNumber({}, text);
  if (number > 1 && number <= kMostHeadsOfNumber) numbers_.push_back(text);
}

void DerivedSizes::AddQuotient(const SourceRuns& runs, const Quotient& quotient) {
  const bool known =
      std::any_of(quotients_.begin(), quotients_.end(), [&](const Quotient& other) { return other.Text() == quotient.Text(); });
  if (known || quotients_.size() >= kMostQuotients || !IsSizeOf(runs, quotient.dividend) ||
      (!IsSpelledNumber(quotient.divisor) && !IsSizeOf(runs, quotient.divisor)) || quotient.dividend == quotient.divisor ||
      (IsSpelledNumber(quotient.divisor) && SizeOrNumber({}, quotient.divisor) > kMostHeadsOfNumber))
    return;
  quotients_.push_back(quotient);
  AddNumber(quotient.divisor);
}

std::vector<std::string> DerivedSizes::Quotients() const {
  std::vector<std::string> texts;
  for (const Quotient& one : quotients_) texts.push_back(one.Text());
  return texts;
}

LaunchRuns::Sizes DerivedSizes::With(LaunchRuns::Sizes sizes) const {
  for (const Quotient& one : quotients_) {
    const std::int64_t divisor = SizeOrNumber(sizes, one.divisor);
    std::int64_t& dividend = sizes.at(one.dividend);
    if (divisor > 0 && dividend % divisor != 0) dividend *= divisor;
  }
  for (const Quotient& one : quotients_) {
    const std::int64_t divisor = SizeOrNumber(sizes, one.divisor);
    sizes[one.Text()] = divisor > 0 ? sizes.at(one.dividend) / divisor : 0;
  }
  for (const std::string& number : numbers_) sizes[number] = SizeOrNumber({}, number);
  for (const std::string& one : increments_) sizes[one] = sizes.at(SizesOf(one).front()) + 1;
  return sizes;
}

LaunchRuns::Sizes DerivedSizes::Where(LaunchRuns::Sizes sizes, const std::string& name, std::int64_t value) const {
  for (const Quotient& one : quotients_) {
    if (one.Text() != name) continue;
    sizes[one.dividend] = value * SizeOrNumber(sizes, one.divisor);
    return With(std::move(sizes));
  }
  if (name.ends_with(kAndOne))
    sizes[SizesOf(name).front()] = std::max<std::int64_t>(0, value - 1);
  else
    sizes[name] = value;
  return With(std::move(sizes));
}

LaunchRuns::Sizes MatrixSizes::Few(const std::vector<std::string>& names, const std::vector<std::string>& more,
                                   std::int64_t least) const {
  LaunchRuns::Sizes few;
  for (const std::string& name : names)
    few[name] = sizes_.AtLeast(name, std::find(more.begin(), more.end(), name) != more.end() ? least : 1);
  return derived_.With(std::move(few));
}

std::vector<std::string> DerivedSizes::SizesOf(const std::string& name) {
  const std::size_t slash = name.find(" / ");
  if (name.ends_with(kAndOne)) return {name.substr(0, name.size() - kAndOne.size())};
  if (slash == std::string::npos) return {name};
  return {name.substr(0, slash), name.substr(slash + 3)};
}

}  // namespace evo
