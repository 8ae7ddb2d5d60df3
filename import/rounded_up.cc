#include "import/rounded_up.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

bool SameText(const HostExpression& a, const HostExpression& b) { return a.Text() == b.Text(); }

// N * 1.0 is N in the quotients that ceil() is asked of.
HostExpression WithoutReals(const HostExpression& expression) {
  return Replaced(expression, [](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind != Kind::kNumber || !part.number.is_real) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(part.number.real);
    if (static_cast<double>(whole) != part.number.real) return std::nullopt;
    return HostExpression::Integer(whole);
  });
}

// What a condition says of the rest of a division.
struct Rest {
  HostExpression of, by;
  bool is_there = false;  // else that there is none
};

// `a % b`, `a % b != 0`, `a % b > 0`, `a % b == 0`, `a / b * b < a` and `a / b * b != a`.
std::optional<Rest> RestIn(const HostExpression& condition) {
  const auto is = [](const HostExpression& one, const char* op) { return one.kind == Kind::kBinary && one.Is(op); };
  if (is(condition, "%")) return Rest{condition.parts[0], condition.parts[1], true};
  const bool unequal = is(condition, "!="), equal = is(condition, "==");
  if (!unequal && !equal && !is(condition, ">") && !is(condition, "<")) return std::nullopt;
  const HostExpression &left = condition.parts[0], &right = condition.parts[1];
  if (is(left, "%") && IsNumber(right, 0) && !is(condition, "<")) return Rest{left.parts[0], left.parts[1], !equal};
  const bool whole = is(left, "*") && is(left.parts[0], "/") && SameText(left.parts[0].parts[1], left.parts[1]) &&
                     SameText(left.parts[0].parts[0], right);
  if (whole && (unequal || is(condition, "<"))) return Rest{right, left.parts[1], true};
  return std::nullopt;
}

bool IsQuotientOf(const HostExpression& expression, const Rest& rest) {
  return expression.kind == Kind::kBinary && expression.Is("/") && SameText(expression.parts[0], rest.of) &&
         SameText(expression.parts[1], rest.by);
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
    if (top.Is("-") && IsNumber(top.parts[1], 1) && top.parts[0].kind == Kind::kBinary && top.parts[0].Is("+")) {
      const HostExpression& sum = top.parts[0];
      if (SameText(sum.parts[1], bottom)) return HostExpression::Call("ceil_div", {sum.parts[0], bottom});
      if (SameText(sum.parts[0], bottom)) return HostExpression::Call("ceil_div", {sum.parts[1], bottom});
    }
    if (top.Is("+")) {
      for (const int rest : {1, 0}) {
        const HostExpression& added = top.parts[static_cast<std::size_t>(rest)];
        const HostExpression& kept = top.parts[static_cast<std::size_t>(1 - rest)];
        const bool numbers =
            bottom.kind == Kind::kNumber && IsNumber(added, bottom.number.integer - 1) && bottom.number.integer > 1;
        const bool names =
            added.kind == Kind::kBinary && added.Is("-") && SameText(added.parts[0], bottom) && IsNumber(added.parts[1], 1);
        if (numbers || names) return HostExpression::Call("ceil_div", {kept, bottom});
      }
      // (a - 1 + b) / b
      const HostExpression& first = top.parts[0];
      if (SameText(top.parts[1], bottom) && first.kind == Kind::kBinary && first.Is("-") && IsNumber(first.parts[1], 1))
        return HostExpression::Call("ceil_div", {first.parts[0], bottom});
    }
    return std::nullopt;
  }
  // a / b + (a % b != 0), a / b + (a % b == 0 ? 0 : 1)
  if (part.kind == Kind::kBinary && part.Is("+") && divides(part.parts[0])) {
    const HostExpression& more = part.parts[1];
    const bool choice = more.kind == Kind::kConditional;
    const auto rest = RestIn(choice ? more.parts[0] : more);
    const bool adds_one =
        choice ? rest && IsNumber(more.parts[rest->is_there ? 1 : 2], 1) && IsNumber(more.parts[rest->is_there ? 2 : 1], 0)
               : rest && rest->is_there && !more.Is("%");
    if (adds_one && IsQuotientOf(part.parts[0], *rest)) return HostExpression::Call("ceil_div", part.parts[0].parts);
  }
  // a % b == 0 ? a / b : a / b + 1
  if (part.kind == Kind::kConditional) {
    const auto rest = RestIn(part.parts[0]);
    const HostExpression& whole = part.parts[rest && rest->is_there ? 2 : 1];
    const HostExpression& more = part.parts[rest && rest->is_there ? 1 : 2];
    const HostExpression one = HostExpression::Integer(1);
    const bool adds_one =
        SameText(more, HostExpression::Binary("+", whole, one)) || SameText(more, HostExpression::Binary("+", one, whole));
    if (rest && adds_one && IsQuotientOf(whole, *rest)) return HostExpression::Call("ceil_div", whole.parts);
  }
  // (a - 1) / b + 1
  if (part.kind == Kind::kBinary && part.Is("+") && IsNumber(part.parts[1], 1) && divides(part.parts[0])) {
    const HostExpression& top = part.parts[0].parts[0];
    if (top.kind == Kind::kBinary && top.Is("-") && IsNumber(top.parts[1], 1))
      return HostExpression::Call("ceil_div", {top.parts[0], part.parts[0].parts[1]});
  }
  return std::nullopt;
}

}  // namespace evo
