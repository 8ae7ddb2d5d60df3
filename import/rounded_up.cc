#include "import/rounded_up.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

bool IsWholeNumber(const HostExpression& expression, std::int64_t value) {
  return expression.kind == Kind::kNumber && !expression.number.is_real && expression.number.integer == value;
}

bool IsNone(const HostExpression& expression) { return IsWholeNumber(expression, 0); }

bool SameWritten(const HostExpression& a, const HostExpression& b) { return a.Text() == b.Text(); }

// N * 1.0 is N in the quotients that ceil() is asked of.
HostExpression WithoutReals(const HostExpression& expression) {
  return Replaced(expression, [](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind != Kind::kNumber || !part.number.is_real) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(part.number.real);
    if (static_cast<double>(whole) != part.number.real) return std::nullopt;
    return HostExpression::Integer(whole);
  });
}

}  // namespace

std::optional<HostExpression> RoundedUp(const HostExpression& part) {
  const auto divides = [](const HostExpression& e) { return e.kind == Kind::kBinary && e.Is("/"); };
  if (part.kind == Kind::kCall && (part.Is("ceil") || part.Is("ceilf")) && part.parts.size() == 1) {
    if (part.parts[0].kind == Kind::kCall && part.parts[0].Is("log2") && part.parts[0].parts.size() == 1)
      return HostExpression::Call("ceil_log", {part.parts[0].parts[0], HostExpression::Integer(2)});
    const HostExpression inner = WithoutReals(part.parts[0]);
    if (divides(inner)) return HostExpression::Call("ceil_div", {inner.parts[0], inner.parts[1]});
    return inner;
  }
  if (divides(part)) {
    const HostExpression& top = part.parts[0];
    const HostExpression& bottom = part.parts[1];
    if (top.kind != Kind::kBinary) return std::nullopt;
    // (a + b) - 1 or (a + (b - 1)), or with numbers a + 255 over 256
    if (top.Is("-") && IsWholeNumber(top.parts[1], 1) && top.parts[0].kind == Kind::kBinary && top.parts[0].Is("+")) {
      const HostExpression& sum = top.parts[0];
      if (SameWritten(sum.parts[1], bottom)) return HostExpression::Call("ceil_div", {sum.parts[0], bottom});
      if (SameWritten(sum.parts[0], bottom)) return HostExpression::Call("ceil_div", {sum.parts[1], bottom});
    }
    if (top.Is("+")) {
      for (const int rest : {1, 0}) {
        const HostExpression& added = top.parts[static_cast<std::size_t>(rest)];
        const HostExpression& kept = top.parts[static_cast<std::size_t>(1 - rest)];
        const bool numbers =
            bottom.kind == Kind::kNumber && IsWholeNumber(added, bottom.number.integer - 1) && bottom.number.integer > 1;
        const bool names = added.kind == Kind::kBinary && added.Is("-") && SameWritten(added.parts[0], bottom) &&
                           IsWholeNumber(added.parts[1], 1);
        if (numbers || names) return HostExpression::Call("ceil_div", {kept, bottom});
      }
      // (a - 1 + b) / b
      const HostExpression& first = top.parts[0];
      if (SameWritten(top.parts[1], bottom) && first.kind == Kind::kBinary && first.Is("-") && IsWholeNumber(first.parts[1], 1))
        return HostExpression::Call("ceil_div", {first.parts[0], bottom});
    }
    return std::nullopt;
  }
  // a / b + (a % b != 0)
  if (part.kind == Kind::kBinary && part.Is("+") && divides(part.parts[0]) && part.parts[1].kind == Kind::kBinary &&
      (part.parts[1].Is("!=") || part.parts[1].Is(">")) && IsNone(part.parts[1].parts[1])) {
    const HostExpression rest = HostExpression::Binary("%", part.parts[0].parts[0], part.parts[0].parts[1]);
    if (SameWritten(part.parts[1].parts[0], rest)) return HostExpression::Call("ceil_div", {rest.parts[0], rest.parts[1]});
  }
  // a / b + (a % b == 0 ? 0 : 1)
  if (part.kind == Kind::kBinary && part.Is("+") && divides(part.parts[0]) && part.parts[1].kind == Kind::kConditional) {
    const HostExpression& choice = part.parts[1];
    const HostExpression rest = HostExpression::Binary("%", part.parts[0].parts[0], part.parts[0].parts[1]);
    const HostExpression none = HostExpression::Binary("==", rest, HostExpression::Integer(0));
    const bool zero_one =
        IsWholeNumber(choice.parts[1], 0) && IsWholeNumber(choice.parts[2], 1) && SameWritten(choice.parts[0], none);
    const bool one_zero = IsWholeNumber(choice.parts[1], 1) && IsWholeNumber(choice.parts[2], 0) &&
                          (SameWritten(choice.parts[0], rest) ||
                           SameWritten(choice.parts[0], HostExpression::Binary("!=", rest, HostExpression::Integer(0))) ||
                           SameWritten(choice.parts[0], HostExpression::Binary(">", rest, HostExpression::Integer(0))));
    if (zero_one || one_zero) return HostExpression::Call("ceil_div", {part.parts[0].parts[0], part.parts[0].parts[1]});
  }
  // a % b == 0 ? a / b : a / b + 1
  if (part.kind == Kind::kConditional) {
    const HostExpression& condition = part.parts[0];
    const bool compared = condition.kind == Kind::kBinary && (condition.Is("==") || condition.Is("!=") || condition.Is(">"));
    const HostExpression& rest = compared && IsNone(condition.parts[1]) ? condition.parts[0] : condition;
    const bool none = compared && condition.Is("==");
    const HostExpression& whole = part.parts[none ? 1 : 2];
    const HostExpression& more = part.parts[none ? 2 : 1];
    const bool rests = rest.kind == Kind::kBinary && rest.Is("%") && divides(whole) &&
                       SameWritten(rest.parts[0], whole.parts[0]) && SameWritten(rest.parts[1], whole.parts[1]);
    if (rests && SameWritten(more, HostExpression::Binary("+", whole, HostExpression::Integer(1))))
      return HostExpression::Call("ceil_div", {whole.parts[0], whole.parts[1]});
  }
  // (a - 1) / b + 1
  if (part.kind == Kind::kBinary && part.Is("+") && IsWholeNumber(part.parts[1], 1) && divides(part.parts[0])) {
    const HostExpression& top = part.parts[0].parts[0];
    if (top.kind == Kind::kBinary && top.Is("-") && IsWholeNumber(top.parts[1], 1))
      return HostExpression::Call("ceil_div", {top.parts[0], part.parts[0].parts[1]});
  }
  return std::nullopt;
}

}  // namespace evo
