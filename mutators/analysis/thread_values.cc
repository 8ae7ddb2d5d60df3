// How a ThreadRun computes numbers and addresses.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_run.h"

namespace evo {
namespace {

using namespace std::string_view_literals;
using enum ThreadValue::Kind;

// Expressions of one run: some seconds.
constexpr std::int64_t kMostThreadSteps = 40'000'000;

bool IsComparison(std::string_view spelled) {
  return spelled == "<" || spelled == "<=" || spelled == ">" || spelled == ">=" || spelled == "==" || spelled == "!=";
}

template <typename T>
bool Compare(std::string_view spelled, T a, T b) {
  if (spelled == "<") return a < b;
  if (spelled == "<=") return a <= b;
  if (spelled == ">") return a > b;
  if (spelled == ">=") return a >= b;
  return (a == b) == (spelled == "==");
}

bool IsNameOnly(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  }) && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

std::int64_t Wrap(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

ThreadRun::Kind ThreadRun::KindOf(std::string_view name) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"DeclRefExpr", Kind::kName},        {"IntegerLiteral", Kind::kInteger},        {"FloatingLiteral", Kind::kReal},
      {"CXXBoolLiteralExpr", Kind::kBool}, {"ParenExpr", Kind::kParentheses},         {"UnaryOperator", Kind::kUnary},
      {"BinaryOperator", Kind::kBinary},   {"CompoundAssignOperator", Kind::kBinary}, {"ConditionalOperator", Kind::kConditional},
      {"CStyleCastExpr", Kind::kCast},     {"CXXStaticCastExpr", Kind::kCast},        {"CXXFunctionalCastExpr", Kind::kCast},
      {"MemberRefExpr", Kind::kMember},    {"ArraySubscriptExpr", Kind::kSubscript},  {"CallExpr", Kind::kCall}};
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return Kind::kOther;
}

ThreadValue ThreadRun::Evaluate(int expression) {
  if (Failed()) return {};
  if (++steps_ > kMostThreadSteps) return Refuse("it computes for longer than it is tried");
  const SyntaxNode& node = tree_.node(expression);
  if (node.children.empty() && kinds_[static_cast<std::size_t>(expression)] != Kind::kName) return Literal(expression);
  switch (kinds_[static_cast<std::size_t>(expression)]) {
    case Kind::kName:
      return Named(expression);
    case Kind::kParentheses:
      return Evaluate(node.children.back());
    case Kind::kUnary:
      return Unary(expression);
    case Kind::kBinary:
      return Binary(expression);
    case Kind::kConditional:
      return node.children.size() == 3 ? Evaluate(node.children[IsTrue(node.children[0]) ? 1 : 2]) : Refuse(Quoted(expression));
    case Kind::kCast:
      return Converted(Evaluate(node.children.back()), node.type);
    case Kind::kMember:
      return Builtin(expression);
    case Kind::kSubscript:
      if (setting_.addresses && IsTable(expression)) return Real(kSomeNumber);
      return Load(PlaceOf(expression), expression);
    case Kind::kCall:
      return Call(expression);
    default:
      break;
  }
  if (node.children.size() == 1 && tree_.Text(node.children.front()) == tree_.Text(expression))
    return Evaluate(node.children.front());
  return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
}

ThreadValue ThreadRun::Literal(int expression) {
  const std::string_view text = tree_.Text(expression);
  if (text == "true" || text == "false") return Integer(text == "true");
  if (const auto size = setting_.sizes.find(text); size != setting_.sizes.end() || DependsOnSize(tree_, text))
    return Refuse(fmt::format("{}, which the case decides", Quoted(expression)));
  const bool real = !IsNameOnly(text) && (text.find('.') != std::string_view::npos ||
                                          (text.find_first_of("eEfF") != std::string_view::npos && !text.starts_with("0x")));
  if (!real) {
    std::int64_t number = 0;
    const std::string_view digits = text.substr(0, text.find_last_not_of("uUlL") + 1);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool plain = error == std::errc{} && stop == digits.data() + digits.size();
    const auto value = plain ? std::optional(number) : ConstantValue(tree_, text);
    if (value) {
      if (IsNameOnly(text)) trace_.names.insert(std::string(text));
      trace_.largest_number = std::max(trace_.largest_number, std::abs(*value));
      return Integer(*value);
    }
  }
  if (const auto value = RealConstant(tree_, text)) return Real(*value, std::make_shared<const std::string>(text));
  return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
}

ThreadValue ThreadRun::Named(int expression) {
  const SyntaxNode& name = tree_.node(expression);
  if (name.refers_to < 0) return Literal(expression);  // of a header, or a macro
  const SyntaxNode& declared = tree_.node(name.refers_to);
  if (declared.function < 0) return Literal(expression);
  const ThreadValue& value = variables_[static_cast<std::size_t>(name.refers_to)];
  if (value.kind == kNone) return Refuse(fmt::format("{} is read and has no value that is known", Quoted(expression)));
  return value;
}

ThreadValue ThreadRun::Builtin(int expression) {
  // Implicit calls of conversions have the text of what they convert.
  const auto& parts = tree_.node(expression).children;
  if (parts.size() == 1 && tree_.Text(parts.front()) == tree_.Text(expression)) return Evaluate(parts.front());
  const std::string_view text = tree_.Text(expression);
  for (const char* builtin : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    if (!text.starts_with(builtin) || text.size() != std::string_view(builtin).size() + 2) continue;
    const std::size_t axis = "xyz"sv.find(text.back());
    if (axis == std::string_view::npos) continue;
    const int symbol = BuiltinSymbol(builtin, axis);
    const auto value = setting_.builtins.find(symbol);
    return Integer(value == setting_.builtins.end() ? (text.ends_with("Idx.x") ? 0 : 1) : value->second,
                   setting_.symbolic ? std::make_shared<const AffineForm>(AffineForm::Symbol(symbol)) : nullptr);
  }
  return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
}

ThreadValue ThreadRun::Unary(int expression) {
  const std::string_view spelled = operators_[static_cast<std::size_t>(expression)];
  const int operand = tree_.node(expression).children.front();
  if (spelled == "++" || spelled == "--") {
    const bool before = tree_.node(operand).range.begin > tree_.node(expression).range.begin;
    const Place place = PlaceOf(operand);
    const ThreadValue old = Load(place, operand);
    if (Failed()) return {};
    const ThreadValue changed = Combined(spelled == "++" ? "+" : "-", old, Integer(1));
    Store(place, changed, operand);
    return before ? changed : old;
  }
  if (spelled == "*") return Load(PlaceOf(expression), expression);
  if (spelled == "&") {
    const Place place = PlaceOf(operand);
    if (place.memory < 0) return Refuse(fmt::format("the address {}", Quoted(expression)));
    ThreadValue pointer;
    pointer.kind = kPointer;
    pointer.memory = place.memory;
    pointer.integer = place.index;
    pointer.form = place.form;
    return pointer;
  }
  const ThreadValue value = Evaluate(operand);
  if (spelled == "+") return value;
  if (spelled == "!") return Integer(value.kind == kReal ? value.real == 0 : value.integer == 0);
  if (spelled == "-" && value.kind == kInteger) return Combined("-", Integer(0), value);
  if (spelled == "-" && value.kind == kReal)
    return Real(-value.real, value.text ? std::make_shared<const std::string>(fmt::format("(-{})", *value.text)) : nullptr);
  return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
}

ThreadValue ThreadRun::Binary(int expression) {
  const std::string_view spelled = operators_[static_cast<std::size_t>(expression)];
  const auto& sides = tree_.node(expression).children;
  if (IsAssignment(tree_, expression)) return Assign(expression);
  if (spelled == ",") return Evaluate(sides[0]), Evaluate(sides[1]);
  if (spelled == "&&") return Integer(IsTrue(sides[0]) && IsTrue(sides[1]));
  if (spelled == "||") return Integer(IsTrue(sides[0]) || IsTrue(sides[1]));
  const ThreadValue left = Evaluate(sides[0]), right = Evaluate(sides[1]);
  if (Failed()) return {};
  const ThreadValue value = Combined(spelled, left, right);
  if (value.kind == kNone) return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
  return value;
}

ThreadValue ThreadRun::Combined(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  if (left.kind == kPointer && right.kind == kInteger && (spelled == "+" || spelled == "-"))
    return Moved(left, right, spelled == "+" ? 1 : -1);
  if (right.kind == kPointer && left.kind == kInteger && spelled == "+") return Moved(right, left, 1);
  if (left.kind == kInteger && right.kind == kInteger) return CombinedIntegers(spelled, left, right);
  const auto is_number = [](const ThreadValue& value) { return value.kind == kInteger || value.kind == kReal; };
  if (!is_number(left) || !is_number(right)) return {};
  return CombinedReals(spelled, Converted(left, "float"), Converted(right, "float"));
}

ThreadRun::Form ThreadRun::FormOf(const ThreadValue& value) const {
  return value.form ? value.form : std::make_shared<const AffineForm>(AffineForm::Constant(value.integer));
}

ThreadValue ThreadRun::Moved(const ThreadValue& pointer, const ThreadValue& by, int sign) {
  ThreadValue moved = pointer;
  moved.integer += sign * by.integer;
  if (pointer.form || by.form) moved.form = std::make_shared<const AffineForm>(FormOf(pointer)->Plus(*FormOf(by), sign));
  return moved;
}

void ThreadRun::NoteCompared(const ThreadValue& value) {
  if (!value.form) return;
  if (const auto constant = value.form->terms().find({}); constant != value.form->terms().end())
    trace_.largest_number = std::max(trace_.largest_number, std::abs(constant->second));
  trace_.deciding.merge(PlainSymbols(*value.form));
  if (IsUniform(*value.form)) trace_.compared.try_emplace(TextOf(*value.form), value.integer, *value.form);
}

ThreadRun::Form ThreadRun::NewOpaque(std::string text, const ThreadValue& left, const ThreadValue& right) {
  const bool of_thread = !IsUniform(*FormOf(left)) || !IsUniform(*FormOf(right));
  const auto [known, fresh] = opaque_numbers_.try_emplace(text, static_cast<int>(opaque_.size()));
  if (fresh) {
    std::set<int> symbols = PlainSymbols(*FormOf(left));
    symbols.merge(PlainSymbols(*FormOf(right)));
    opaque_.push_back({std::move(text), of_thread, std::move(symbols)});
  }
  return std::make_shared<const AffineForm>(AffineForm::Symbol(kFirstOpaque + known->second));
}

ThreadValue ThreadRun::CombinedIntegers(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  const std::int64_t a = left.integer, b = right.integer;
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool symbolic = left.form || right.form;
  if (IsComparison(spelled)) {
    if (symbolic) NoteCompared(left), NoteCompared(right);
    return Integer(Compare(spelled, a, b));
  }
  const auto polynomial = [&](auto combine) -> Form {
    return symbolic ? std::make_shared<const AffineForm>(combine(*FormOf(left), *FormOf(right))) : nullptr;
  };
  if (spelled == "+")
    return Integer(Wrap(ua + ub), polynomial([](const AffineForm& x, const AffineForm& y) { return x.Plus(y); }));
  if (spelled == "-")
    return Integer(Wrap(ua - ub), polynomial([](const AffineForm& x, const AffineForm& y) { return x.Plus(y, -1); }));
  if (spelled == "*")
    return Integer(Wrap(ua * ub), polynomial([](const AffineForm& x, const AffineForm& y) { return x.TimesForm(y); }));
  if (spelled == "<<" && !right.form && b >= 0 && b < 31) return CombinedIntegers("*", left, Integer(std::int64_t{1} << b));
  std::int64_t value = 0;
  if ((spelled == "/" || spelled == "%") && b != 0 && b != -1)
    value = spelled == "/" ? a / b : a % b;
  else if (spelled == ">>" && b >= 0 && b < 63)
    value = a >> b;
  else if (spelled == "&")
    value = a & b;
  else if (spelled == "|")
    value = a | b;
  else if (spelled == "^")
    value = a ^ b;
  else
    return {};
  if (!symbolic) return Integer(value);
  const auto text = [&](const ThreadValue& side) {
    const std::string spelt = TextOf(*FormOf(side));
    return IsNameOnly(spelt) ? spelt : fmt::format("({})", spelt);
  };
  return Integer(value, NewOpaque(fmt::format("({} {} {})", text(left), spelled, text(right)), left, right));
}

void ThreadRun::NoteLimit(const ThreadValue& a, const ThreadValue& b) {
  trace_.reals_compared = true;
  if ((a.text != nullptr) == (b.text != nullptr)) return;
  const auto limit = a.text ? std::pair(b.real, a.real) : std::pair(a.real, b.real);
  trace_.limits.push_back(limit);
}

ThreadValue ThreadRun::CombinedReals(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  if (IsComparison(spelled)) {
    NoteLimit(left, right);
    return Integer(Compare(spelled, left.real, right.real));
  }
  const auto text = left.text && right.text
                        ? std::make_shared<const std::string>(fmt::format("({} {} {})", *left.text, spelled, *right.text))
                        : nullptr;
  if (spelled == "+") return Real(left.real + right.real, text);
  if (spelled == "-") return Real(left.real - right.real, text);
  if (spelled == "*") {
    if (left.text && !right.text) trace_.factors.try_emplace(*left.text, left.real);
    if (right.text && !left.text) trace_.factors.try_emplace(*right.text, right.real);
    return Real(left.real * right.real, text);
  }
  if (spelled == "/") {
    if (right.text && !left.text) trace_.factors.try_emplace(fmt::format("(1.0f / {})", *right.text), 1 / right.real);
    return Real(left.real / right.real, text);
  }
  return {};
}

ThreadValue ThreadRun::Assign(int expression) {
  const auto& sides = tree_.node(expression).children;
  const bool overloaded = tree_.node(expression).kind_name == "CallExpr";  // of half: target, operator, value
  const std::string_view spelled = overloaded ? "=" : operators_[static_cast<std::size_t>(expression)];
  ThreadValue value = Evaluate(sides.back());
  const Place place = PlaceOf(sides.front());
  if (Failed()) return {};
  if (spelled != "=") {
    value = Combined(spelled.substr(0, spelled.size() - 1), Load(place, sides.front()), value);
    if (value.kind == kNone) return Refuse(fmt::format("{}, which is not understood", Quoted(expression)));
  }
  value = Converted(std::move(value), tree_.node(sides.front()).type);
  Store(place, value, sides.front());
  return value;
}

ThreadValue ThreadRun::Converted(ThreadValue value, std::string_view type) {
  const std::string plain = WithoutConst(std::string(type));
  const bool short_real = plain == "__half" || plain == "__nv_bfloat16";
  const bool real = plain == "float" || plain == "double" || short_real;
  if (short_real && value.kind == kReal && !value.element && !value.text) trace_.rounded = true;
  // The usual way to compare with both ends of a range: negative numbers become large ones.
  if (plain == "unsigned int" && value.kind == kInteger && value.integer < 0) {
    const ThreadValue negative = value;
    value.integer &= 0xffffffff;
    if (value.form) value.form = NewOpaque(fmt::format("unsigned({})", TextOf(*value.form)), negative, negative);
  }
  if (real && value.kind == kInteger) {
    std::shared_ptr<const std::string> text;
    if (!value.form || IsUniform(*value.form))
      text = std::make_shared<const std::string>(value.form ? fmt::format("float({})", TextOf(*value.form))
                                                            : fmt::format("{}.0f", value.integer));
    return Real(static_cast<double>(value.integer), text);
  }
  if (!real && value.kind == kReal && (IsArithmetic(plain) || plain == "bool"))
    return Integer(static_cast<std::int64_t>(value.real));  // of data: what depends on it is found by its values
  return value;
}

}  // namespace evo
