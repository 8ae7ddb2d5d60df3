#include "import/loop_reader.h"

#include <algorithm>

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr int kMostNested = 4;  // of variables that stand for one another
constexpr int kWarp = 32;       // what a loop whose step is not known steps over: most often warp.size()

}  // namespace

std::optional<KernelLoop> LoopReader::Read(int at, const ProgramFunction& function, const Names& names) {
  const auto tokens = program_.Tokens(program_.tree().node(at).range);
  std::vector<std::vector<std::string_view>> parts(1);
  int depth = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i] == "(" && ++depth == 1) continue;
    if (tokens[i] == ")" && --depth == 0) break;
    if (tokens[i] == ";" && depth == 1) {
      parts.emplace_back();
    } else {
      parts.back().push_back(tokens[i]);
    }
  }
  if (parts.size() != 3 || parts[1].size() < 3 || parts[2].empty()) return std::nullopt;
  const auto equals = std::find(parts[0].begin(), parts[0].end(), "=");
  if (equals == parts[0].end() || equals == parts[0].begin()) return std::nullopt;
  KernelLoop loop;
  loop.step = std::string(*(equals - 1));
  const auto comma = std::find(equals, parts[0].end(), ",");
  HostExpression from = Resolved(ParseHostExpression({equals + 1, comma}), function, names);
  const HostExpression condition = ParseHostExpression(parts[1]);
  if (condition.kind != Kind::kBinary || !condition.parts[0].Is(loop.step)) return std::nullopt;
  HostExpression to = Resolved(condition.parts[1], function, names);
  const bool down = condition.Is(">") || condition.Is(">=");
  if (down) std::swap(from, to);
  // `a = begin; a < begin + n`
  if (auto rest = Without(to, from)) {
    to = *std::move(rest);
    from = HostExpression::Integer(0);
  }
  // `a = middle - n; a <= middle + n`
  if (from.kind == Kind::kBinary && from.Is("-")) {
    if (auto rest = Without(to, from.parts[0])) {
      to = HostExpression::Binary("+", *std::move(rest), from.parts[1]);
      from = HostExpression::Integer(0);
    }
  }
  if (!to.IsKnown() || !IsOfHost(to)) return Downwards(parts[2], loop, HostExpression::Integer(kWarp / 2));
  HostExpression span = from.IsKnown() && IsOfHost(from) ? HostExpression::Binary("-", to, from) : to;
  if (condition.Is("<=") || condition.Is(">=")) span = HostExpression::Binary("+", span, HostExpression::Integer(1));
  // `i += STEP`: one that depends on the thread or the grid means that others take the rest.
  const auto assign = std::find_if(parts[2].begin(), parts[2].end(), [](auto t) { return t == "+=" || t == "-="; });
  const bool halves = std::any_of(parts[2].begin(), parts[2].end(), [](auto t) { return t == ">>=" || t == "/=" || t == "/"; });
  if (halves) return Downwards(parts[2], loop, Simplified(to));
  loop.terms = loop.trips = Simplified(span);
  if (assign == parts[2].end()) return loop;
  HostExpression step = Resolved(ParseHostExpression({assign + 1, parts[2].end()}), function, names);
  const bool known = step.IsKnown() && IsOfHost(step);
  if (!known) step = HostExpression::Integer(kWarp);
  loop.trips = Simplified(HostExpression::Call("ceil_div", {span, step}));
  if (known && from.IsKnown() && IsOfHost(from)) loop.terms = loop.trips;
  return loop;
}

// The sum without one of its terms; nullopt if it does not have it.
std::optional<HostExpression> LoopReader::Without(const HostExpression& sum, const HostExpression& term) {
  if (sum.kind != Kind::kBinary || (!sum.Is("+") && !sum.Is("-")) || term.kind == Kind::kNumber) return std::nullopt;
  if (sum.parts[0].Text() == term.Text() && sum.Is("+")) return sum.parts[1];
  if (sum.parts[1].Text() == term.Text() && sum.Is("+")) return sum.parts[0];
  auto left = Without(sum.parts[0], term);
  if (!left) return std::nullopt;
  return HostExpression::Binary(sum.text, *std::move(left), sum.parts[1]);
}

// A loop that halves its variable adds up what other threads have, which are twice as many as it begins with.
std::optional<KernelLoop> LoopReader::Downwards(const std::vector<std::string_view>& step, KernelLoop loop,
                                                const HostExpression& half) {
  const bool halves = std::any_of(step.begin(), step.end(), [](auto t) { return t == ">>=" || t == "/=" || t == "/"; });
  if (!halves) return std::nullopt;
  loop.terms = Simplified(HostExpression::Binary("*", HostExpression::Integer(2), half));
  loop.trips = HostExpression::Integer(1);
  return loop;
}

// Whether all its names are of the host.
bool LoopReader::IsOfHost(const HostExpression& expression) const {
  const auto names = expression.Names();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return host_.leaves().contains(name); });
}

HostExpression LoopReader::Resolved(const HostExpression& expression, const ProgramFunction& function, const Names& names,
                                    int depth) {
  const HostExpression known = Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind == Kind::kMember && (part.parts[0].Is("blockDim") || part.parts[0].Is("gridDim"))) {
      const auto& dimensions = part.parts[0].Is("blockDim") ? launch_.block : launch_.grid;
      const std::size_t axis = part.Is("x") ? 0 : part.Is("y") ? 1 : 2;
      return axis < dimensions.size() ? std::optional(dimensions[axis]) : std::nullopt;
    }
    if (part.kind == Kind::kMember) {
      const auto field = names.find(part.Text());
      return field == names.end() ? std::nullopt : std::optional(field->second);
    }
    if (part.kind != Kind::kName) return std::nullopt;
    if (const auto name = names.find(part.text); name != names.end()) return name->second;
    for (const ProgramVariable& variable : program_.variables()) {
      if (variable.name != part.text || variable.function < 0 || depth > kMostNested) continue;
      if (program_.functions()[static_cast<std::size_t>(variable.function)].node != function.node) continue;
      if (variable.loop || variable.initialiser.size() == 0) return std::nullopt;
      return Resolved(ParseHostExpression(program_.Tokens(variable.initialiser)), function, names, depth + 1);
    }
    return std::nullopt;
  });
  return host_.Resolve(known, -1);
}

}  // namespace evo
