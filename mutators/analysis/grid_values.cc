// How a GridRun computes numbers, conditions and addresses.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/grid_run.h"
#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// Times the length of a row that is known.
constexpr std::int64_t kFarRow = 32;
// Values that one run computes: a second.
constexpr std::int64_t kMostGridWork = 150'000'000;

bool IsBuiltinName(std::string_view text) {
  for (const std::string_view name : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."}) {
    if (text.size() == name.size() + 1 && text.starts_with(name)) return text.back() >= 'x' && text.back() <= 'z';
  }
  return false;
}

}  // namespace

GridRun::GridRun(const MutationContext& context) : context_(context), tree_(context.tree) {
  using enum Kind;
  const std::map<std::string_view, Kind> kinds{{"DeclRefExpr", kName},
                                               {"IntegerLiteral", kLiteral},
                                               {"FloatingLiteral", kLiteral},
                                               {"CXXBoolLiteralExpr", kLiteral},
                                               {"ParenExpr", kParentheses},
                                               {"UnaryOperator", kUnary},
                                               {"BinaryOperator", kBinary},
                                               {"CompoundAssignOperator", kBinary},
                                               {"ConditionalOperator", kConditional},
                                               {"CStyleCastExpr", kCast},
                                               {"CXXStaticCastExpr", kCast},
                                               {"CXXFunctionalCastExpr", kCast},
                                               {"ArraySubscriptExpr", kSubscript},
                                               {"CallExpr", kCall}};
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const int node = static_cast<int>(i);
    const auto kind = kinds.find(tree_.nodes()[i].kind_name);
    const bool is_builtin = !tree_.nodes()[i].type.empty() && IsBuiltinName(tree_.Text(node));
    kinds_.push_back(is_builtin ? kBuiltin : kind == kinds.end() ? kOther : kind->second);
    operators_.emplace_back(tree_.Operator(node));
  }
}

LaneValues GridRun::Unknown(int node) {
  if (trace_.unknown.empty()) trace_.unknown = fmt::format("{} is computed from data", Quoted(node));
  return LaneValues(lanes_, 0, Knowledge::kUnknown);
}

LaneValues GridRun::Evaluate(int expression, const Mask& mask) {
  work_ += static_cast<std::int64_t>(lanes_) + 20;
  if (work_ > kMostGridWork) Refuse("it computes for longer than it is tried");
  if (refused()) return LaneValues(lanes_, 0, Knowledge::kUnknown);
  const SyntaxNode& node = tree_.node(expression);
  const Kind kind = kinds_[static_cast<std::size_t>(expression)];
  if (kind == Kind::kBuiltin) return Builtin(expression);
  if (node.opaque) return Refuse(fmt::format("the macro {} is not understood", Quoted(expression)));
  if (node.children.empty() && kind != Kind::kName) return Literal(expression);
  switch (kind) {
    case Kind::kName:
      return Named(expression, mask);
    case Kind::kParentheses:
      return Evaluate(node.children.back(), mask);
    case Kind::kUnary:
      return Unary(expression, mask);
    case Kind::kBinary:
      return Binary(expression, mask);
    case Kind::kConditional:
      return Conditional(expression, mask);
    case Kind::kCast:
      return Converted(Evaluate(node.children.back(), mask), tree_.node(node.children.back()).type, node.type, expression, mask);
    case Kind::kSubscript:
      if (node.type.ends_with("]")) break;
      return Load(PlaceOf(expression, mask), mask);
    case Kind::kCall:
      return Call(expression, mask);
    default:
      break;
  }
  if (kind == Kind::kSubscript) {
    // A row of an array of two dimensions.
    LaneValues row = Evaluate(node.children[0], mask);
    const LaneValues index = Evaluate(node.children[1], mask);
    // Extents are those of the present parameters; with others, rows lie far from each other.
    std::int64_t stride = setting_->present ? 1 : kFarRow;
    for (const long long extent : ExtentsOf(node.type)) stride *= extent;
    for (std::size_t lane = 0; lane < lanes_; ++lane) row.numbers[lane] += index.numbers[lane] * stride;
    return row;
  }
  if (node.children.size() == 1 && tree_.Text(node.children.front()) == tree_.Text(expression))
    return Evaluate(node.children.front(), mask);
  return Refuse(fmt::format("{} is not understood", Quoted(expression)));
}

LaneValues GridRun::Literal(int expression) {
  const std::string text(tree_.Text(expression));
  if (text == "true" || text == "false") return LaneValues(lanes_, text == "true");
  if (const auto given = setting_->parameters.find(text); given != setting_->parameters.end()) {
    trace_.names.insert(text);
    return LaneValues(lanes_, given->second);
  }
  for (const SizeMacro& macro : context_.rendered.size_macros) {
    if (macro.name != text) continue;
    const auto value = Evaluated(macro.value);
    return value ? LaneValues(lanes_, *value) : LaneValues(lanes_, 0, Knowledge::kUnknown);
  }
  const bool is_name = std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '.';
  std::int64_t number = 0;
  const std::string digits = text.substr(0, text.find_last_not_of("uUlL") + 1);
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc{} && stop == digits.data() + digits.size()) return LaneValues(lanes_, number);
  if (const auto value = ConstantValue(tree_, digits)) {
    if (is_name) trace_.names.insert(text);
    return LaneValues(lanes_, *value);
  }
  const auto real = RealConstant(tree_, text);
  if (real && std::abs(*real) < 1e15 && *real == std::trunc(*real)) return LaneValues(lanes_, static_cast<std::int64_t>(*real));
  return Unknown(expression);
}

LaneValues GridRun::Named(int expression, const Mask& mask) {
  const SyntaxNode& name = tree_.node(expression);
  if (name.name == "warpSize") return LaneValues(lanes_, 32);
  if (name.refers_to < 0) return Literal(expression);
  const SyntaxNode& declared = tree_.node(name.refers_to);
  const bool constant = declared.type.starts_with("const ") && !declared.type.ends_with("]");
  if (declared.kind_name == "VarDecl" && declared.function < 0 && !IsShared(tree_, name.refers_to)) {
    if (!constant || declared.children.empty()) return Refuse(fmt::format("{} is not understood", Quoted(expression)));
    return Converted(Evaluate(declared.children.back(), mask), tree_.node(declared.children.back()).type, declared.type,
                     expression, mask);
  }
  if (declared.type.ends_with("]") && declared.kind_name == "VarDecl") {
    if (!arrays_.contains(name.refers_to)) DeclareArray(name.refers_to, mask);
    LaneValues pointer(lanes_);
    pointer.memory = arrays_[name.refers_to];
    return pointer;
  }
  return Load(PlaceOf(expression, mask), mask);
}

LaneValues GridRun::Builtin(int expression) {
  const std::string_view text = tree_.Text(expression);
  const bool x = text.ends_with(".x"), is_index = text.find("Idx") != std::string_view::npos;
  LaneValues values(lanes_, is_index ? 0 : 1);
  if (!x) return values;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    values.numbers[lane] = text.starts_with("threadIdx")  ? static_cast<std::int64_t>(lane)
                           : text.starts_with("blockIdx") ? at_
                           : text.starts_with("blockDim") ? static_cast<std::int64_t>(lanes_)
                                                          : grid_;
  }
  return values;
}

GridRun::Mask GridRun::Where(int condition, const Mask& mask) {
  const LaneValues values = Evaluate(condition, mask);
  Mask result(lanes_, 0);
  for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) {
    if (!mask[lane]) continue;
    if (values.known[lane] != Knowledge::kKnown || values.memory >= 0) Refuse(fmt::format("data decides {}", Quoted(condition)));
    result[lane] = values.numbers[lane] != 0;
  }
  return result;
}

LaneValues GridRun::Conditional(int expression, const Mask& mask) {
  const auto& parts = tree_.node(expression).children;
  if (parts.size() != 3) return Refuse(fmt::format("{} is not understood", Quoted(expression)));
  const Mask yes = Where(parts[0], mask);
  Mask no = mask;
  for (std::size_t lane = 0; lane < lanes_; ++lane) no[lane] = mask[lane] && !yes[lane];
  const std::string& type = tree_.node(expression).type;
  LaneValues values = Converted(Evaluate(parts[1], yes), tree_.node(parts[1]).type, type, expression, yes);
  const LaneValues others = Converted(Evaluate(parts[2], no), tree_.node(parts[2]).type, type, expression, no);
  if (values.memory != others.memory) return Refuse(fmt::format("{} is not understood", Quoted(expression)));
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (yes[lane]) continue;
    values.numbers[lane] = others.numbers[lane];
    values.known[lane] = others.known[lane];
  }
  return values;
}

LaneValues GridRun::Unary(int expression, const Mask& mask) {
  const std::string_view spelled = operators_[static_cast<std::size_t>(expression)];
  const int operand = tree_.node(expression).children.front();
  if (spelled == "*") return Load(PlaceOf(expression, mask), mask);
  if (spelled == "++" || spelled == "--") {
    const bool after = tree_.node(operand).range.begin == tree_.node(expression).range.begin;
    const Place place = PlaceOf(operand, mask);
    LaneValues old = Load(place, mask);
    LaneValues one(lanes_, 1);
    LaneValues changed = Computed(operand, spelled == "++" ? "+" : "-", old, one, mask);
    Store(place, changed, mask);
    return after ? old : changed;
  }
  if (spelled == "&") {
    Place place = PlaceOf(operand, mask);
    if (place.memory < 0) return Refuse(fmt::format("the address {} is not understood", Quoted(expression)));
    LaneValues pointer(lanes_);
    pointer.memory = place.memory;
    pointer.numbers = std::move(place.index);
    return pointer;
  }
  LaneValues values = Evaluate(operand, mask);
  if (values.memory >= 0 || (spelled != "-" && spelled != "+" && spelled != "!" && spelled != "~"))
    return Refuse(fmt::format("{} is not understood", Quoted(expression)));
  const std::string type = PlainType(tree_.node(expression).type);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    std::int64_t& number = values.numbers[lane];
    const bool data = values.known[lane] == Knowledge::kElements;
    if (data && mask[lane] && (spelled == "!" || spelled == "~")) {
      Unknown(expression);
      values.known[lane] = Knowledge::kUnknown;
    }
    if (spelled == "-") number = Truncated(0 - static_cast<std::uint64_t>(number));
    if (spelled == "!") number = number == 0;
    if (spelled == "~") number = ~number;
    if (!data) number = Fitted(number, type);
  }
  return values;
}

LaneValues GridRun::Binary(int expression, const Mask& mask) {
  const std::string_view spelled = operators_[static_cast<std::size_t>(expression)];
  const auto& sides = tree_.node(expression).children;
  if (sides.size() != 2) return Refuse(fmt::format("{} is not understood", Quoted(expression)));
  if (IsAssignment(tree_, expression)) return Assign(expression, mask);
  if (spelled == ",") {
    Evaluate(sides[0], mask);
    return Evaluate(sides[1], mask);
  }
  if (spelled == "&&" || spelled == "||") {
    const Mask left = Where(sides[0], mask);
    Mask open = mask;
    for (std::size_t lane = 0; lane < lanes_; ++lane) open[lane] = mask[lane] && (left[lane] != 0) == (spelled == "&&");
    const Mask right = Where(sides[1], open);
    LaneValues values(lanes_);
    for (std::size_t lane = 0; lane < lanes_; ++lane) values.numbers[lane] = open[lane] ? right[lane] : left[lane];
    return values;
  }
  const LaneValues a = Evaluate(sides[0], mask);
  return Computed(expression, spelled, a, Evaluate(sides[1], mask), mask);
}

LaneValues GridRun::Computed(int expression, std::string_view spelled, const LaneValues& a, const LaneValues& b,
                             const Mask& mask) {
  LaneValues values(lanes_, 0, Knowledge::kUnknown);
  if (refused()) return values;
  if (a.memory >= 0 || b.memory >= 0) {
    const bool moves = (spelled == "+" && (a.memory < 0 || b.memory < 0)) || (spelled == "-" && b.memory < 0);
    if (!moves) return Refuse(fmt::format("{} is not understood", Quoted(expression)));
    values.memory = std::max(a.memory, b.memory);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      const bool known = a.known[lane] == Knowledge::kKnown && b.known[lane] == Knowledge::kKnown;
      values.known[lane] = known ? Knowledge::kKnown : Knowledge::kUnknown;
      values.numbers[lane] = spelled == "+" ? a.numbers[lane] + b.numbers[lane] : a.numbers[lane] - b.numbers[lane];
    }
    return values;
  }
  const auto& sides = tree_.node(expression).children;
  const std::string type = PlainType(tree_.node(expression).type);
  const bool two = sides.size() == 2;
  const std::string left = two ? PlainType(tree_.node(sides[0]).type) : type;
  const std::string right = two ? PlainType(tree_.node(sides[1]).type) : "int";
  const bool real = ClassOf(left) == TypeClass::kReal || ClassOf(right) == TypeClass::kReal;
  const bool shift = spelled == "<<" || spelled == ">>";
  const bool wide = IsWide(left) || (IsWide(right) && !shift);
  const bool is_unsigned = !real && (wide ? (IsUnsigned(left) && IsWide(left)) || (IsUnsigned(right) && IsWide(right) && !shift)
                                          : left == "unsigned int" || (right == "unsigned int" && !shift));
  const char* const common = real || wide ? "long long" : is_unsigned ? "unsigned int" : "int";
  const bool same = !two || ClassOf(left) == ClassOf(right);
  const bool linear = spelled == "+" || spelled == "-";
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane] || a.known[lane] == Knowledge::kUnknown || b.known[lane] == Knowledge::kUnknown) continue;
    const bool a_data = a.known[lane] == Knowledge::kElements, b_data = b.known[lane] == Knowledge::kElements;
    if (!a_data && !b_data) {
      const auto number = IntegerResult(spelled, Fitted(a.numbers[lane], common), Fitted(b.numbers[lane], common), is_unsigned);
      if (!number || (real && spelled == "/" && a.numbers[lane] % b.numbers[lane] != 0)) continue;
      values.numbers[lane] = Compares(spelled) || real ? *number : Fitted(*number, wide ? "long long" : common);
      values.known[lane] = Knowledge::kKnown;
      continue;
    }
    const bool scaled = spelled == "*" && a_data != b_data;
    // An integer that is converted to a float on the way is known; an element is not.
    const bool converted =
        !same && ((a_data && ClassOf(left) == TypeClass::kInteger) || (b_data && ClassOf(right) == TypeClass::kInteger));
    if ((!linear && !scaled) || converted || ClassOf(a_data ? left : right) == TypeClass::kOther) {
      Unknown(expression);
      continue;
    }
    values.numbers[lane] = *IntegerResult(spelled, a.numbers[lane], b.numbers[lane], false);
    values.known[lane] = Knowledge::kElements;
  }
  return values;
}

LaneValues GridRun::Assign(int expression, const Mask& mask) {
  const auto& sides = tree_.node(expression).children;
  const std::string_view spelled = operators_[static_cast<std::size_t>(expression)];
  LaneValues values = Evaluate(sides[1], mask);
  const Place place = PlaceOf(sides[0], mask);
  std::string from = tree_.node(sides[1]).type;
  if (spelled != "=") {
    values = Computed(expression, spelled.substr(0, spelled.size() - 1), Load(place, mask), values, mask);
    if (ClassOf(PlainType(tree_.node(sides[0]).type)) == TypeClass::kReal) from = tree_.node(sides[0]).type;
  }
  values = Converted(std::move(values), from, tree_.node(sides[0]).type, expression, mask);
  Store(place, values, mask);
  return values;
}

LaneValues GridRun::Converted(LaneValues values, const std::string& from, const std::string& to, int node, const Mask& mask) {
  const std::string source = PlainType(from), target = PlainType(to);
  if (values.memory >= 0) {
    const auto element = [](const std::string& type) { return PlainType(type.substr(0, type.find_first_of("*["))); };
    const bool pointers = target.find('*') != std::string::npos && element(source) == element(target);
    return pointers || source == target ? values : Refuse(fmt::format("{} is not understood", Quoted(node)));
  }
  if (source == target) return values;
  const bool keeps = ClassOf(source) == ClassOf(target) && ClassOf(target) != TypeClass::kOther;
  const bool integer =
      ClassOf(target) == TypeClass::kInteger || IsArithmetic(target) || target == "bool" || target.ends_with("char");
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    if (values.known[lane] == Knowledge::kElements && !keeps) {
      Unknown(node);
      values.known[lane] = Knowledge::kUnknown;
    } else if (values.known[lane] == Knowledge::kKnown && integer) {
      values.numbers[lane] = Fitted(values.numbers[lane], target);
    }
  }
  return values;
}

}  // namespace evo
