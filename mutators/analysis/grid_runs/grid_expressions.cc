#include "mutators/analysis/grid_runs/grid_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

// Times the length of a row that is known.
constexpr std::int64_t kFarRow = 32;
// Values that one run computes: a second.
constexpr std::int64_t kMostGridWork = 150'000'000;

// What operators make of an operand.
std::string PromotedType(const std::string& type) {
  std::string plain = PlainType(type);
  return IsNarrowInteger(plain) ? "int" : plain;
}

}  // namespace

GridExpressions::GridExpressions(const SyntaxTree& tree, const ExpressionKinds& kinds, bool extents_known,
                                 GridConstants& constants, GridVariables& variables, GridCalls& calls, Refusal& refusal)
    : tree_(tree),
      kinds_(kinds),
      extents_known_(extents_known),
      constants_(constants),
      variables_(variables),
      calls_(calls),
      refusal_(refusal) {}

LaneValues GridExpressions::Refuse(const std::string& why) {
  refusal_.Add(why);
  return UnknownLanes(position_.lanes);
}

LaneValues GridExpressions::NotUnderstood(int expression) {
  return Refuse(fmt::format("{} is not understood", Quoted(tree_, expression)));
}

LaneValues GridExpressions::Unknown(int expression) {
  if (unknown_.empty()) unknown_ = fmt::format("{} is computed from data", Quoted(tree_, expression));
  return UnknownLanes(position_.lanes);
}

LaneValues GridExpressions::Checked(LaneResult result, int expression) {
  if (!result.understood) return NotUnderstood(expression);
  if (result.of_data && unknown_.empty()) Unknown(expression);
  return std::move(result.values);
}

LaneValues GridExpressions::Converted(LaneValues values, int converted, const std::string& to, int expression,
                                      const LaneMask& mask) {
  return Checked(ConvertedLanes(std::move(values), tree_.node(converted).type, to, mask), expression);
}

LaneValues GridExpressions::EvaluateAs(const std::string& type, int expression, const LaneMask& mask) {
  return Converted(Evaluate(expression, mask), expression, type, expression, mask);
}

LaneValues GridExpressions::Evaluate(int expression, const LaneMask& mask) {
  work_ += static_cast<std::int64_t>(position_.lanes) + 20;
  if (work_ > kMostGridWork) refusal_.Add(kGridRunTooLong);
  if (refusal_.given()) return UnknownLanes(position_.lanes);
  const SyntaxNode& node = tree_.node(expression);
  const ExpressionKind kind = kinds_.KindOf(expression);
  if (kinds_.IsBuiltin(expression)) return Builtin(expression);
  if (node.opaque && tree_.Text(expression).starts_with("assert(")) return UnknownLanes(position_.lanes);  // holds
  if (node.opaque) return Refuse(fmt::format("the macro {} is not understood", Quoted(tree_, expression)));
  if (node.children.empty() && kind != ExpressionKind::kName) return Literal(expression);
  switch (kind) {
    case ExpressionKind::kName:
      return Named(expression, mask);
    case ExpressionKind::kParentheses:
      return Evaluate(node.children.back(), mask);
    case ExpressionKind::kUnary:
      return Unary(expression, mask);
    case ExpressionKind::kBinary:
      return Binary(expression, mask);
    case ExpressionKind::kConditional:
      return Conditional(expression, mask);
    case ExpressionKind::kCast:
      return Converted(Evaluate(node.children.back(), mask), node.children.back(), node.type, expression, mask);
    case ExpressionKind::kReinterpret: {
      if (node.type.ends_with("&")) return variables_.Load(PlaceOf(expression, mask), mask);
      LaneValues pointer = Evaluate(node.children.back(), mask);
      if (pointer.memory < 0) return NotUnderstood(expression);
      return Converted(std::move(pointer), node.children.back(), node.type, expression, mask);
    }
    case ExpressionKind::kMember: {
      const int of = node.children.empty() ? -1 : WithoutParentheses(tree_, node.children.front());
      if (of < 0 || kinds_.KindOf(of) != ExpressionKind::kCall) return variables_.Load(PlaceOf(expression, mask), mask);
      const LaneValues vector = Evaluate(of, mask);
      const auto part = static_cast<std::size_t>(ThreadComponentOf(node.name));
      return part < vector.parts.size() ? vector.parts[part] : NotUnderstood(expression);
    }
    case ExpressionKind::kSubscript:
      return node.type.ends_with("]") ? Row(expression, mask) : variables_.Load(PlaceOf(expression, mask), mask);
    case ExpressionKind::kCall:
      // Of vectors.
      return node.name == "operator=" ? Assign(expression, mask) : calls_.Call(expression, mask);
    default:
      break;
  }
  if (node.children.size() == 1 && tree_.Text(node.children.front()) == tree_.Text(expression))
    return Evaluate(node.children.front(), mask);
  if (node.kind_name == "InitListExpr") return MakeVector(PlainType(node.type), node.children, expression, mask);
  return NotUnderstood(expression);
}

// A row of an array of two dimensions.
LaneValues GridExpressions::Row(int expression, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(expression);
  LaneValues row = Evaluate(node.children[0], mask);
  const LaneValues index = Evaluate(node.children[1], mask);
  // Extents are those of the present parameters; with others, rows lie far from each other.
  std::int64_t stride = extents_known_ ? 1 : kFarRow;
  for (const long long extent : ExtentsOf(node.type)) stride *= extent;
  stride *= row.width;
  for (std::size_t lane = 0; lane < position_.lanes; ++lane) row.numbers[lane] += index.numbers[lane] * stride;
  return row;
}

LaneValues GridExpressions::Literal(int expression) {
  const auto spelled = constants_.ValueOfLiteral(std::string(tree_.Text(expression)));
  if (!spelled) return Unknown(expression);
  return LaneValues(position_.lanes, spelled->number, spelled->known ? Knowledge::kKnown : Knowledge::kUnknown);
}

LaneValues GridExpressions::Named(int expression, const LaneMask& mask) {
  const SyntaxNode& name = tree_.node(expression);
  if (name.name == "warpSize") return LaneValues(position_.lanes, 32);
  if (name.refers_to < 0) return Literal(expression);
  const SyntaxNode& declared = tree_.node(name.refers_to);
  if (declared.kind_name == "EnumConstantDecl") return Literal(expression);
  const bool constant = declared.type.starts_with("const ") && !declared.type.ends_with("]");
  const bool of_memory = IsShared(tree_, name.refers_to) || variables_.IsOfDevice(name.refers_to);
  if (declared.kind_name == "VarDecl" && declared.function < 0 && !of_memory) {
    if (!constant || declared.children.empty()) return NotUnderstood(expression);
    const int value = declared.children.back();
    return Converted(Evaluate(value, mask), value, declared.type, expression, mask);
  }
  if (declared.type.ends_with("]") && declared.kind_name == "VarDecl") {
    LaneValues pointer(position_.lanes);
    pointer.memory = ArrayOf(name.refers_to, mask);
    pointer.width = std::max(1, ThreadVectorTypeOf(PlainType(declared.type.substr(0, declared.type.find('[')))).count);
    return pointer;
  }
  return variables_.Load(PlaceOf(expression, mask), mask);
}

LaneValues GridExpressions::Builtin(int expression) const {
  const std::string_view text = tree_.Text(expression);
  const auto axis = static_cast<std::size_t>(text.back() - 'x');
  const bool of_grid = text.starts_with("blockIdx") || text.starts_with("gridDim");
  const auto& extents = of_grid ? position_.grid : position_.threads;
  if (text.find("Dim") != std::string_view::npos) return LaneValues(position_.lanes, extents[axis]);
  std::int64_t stride = 1;
  for (std::size_t before = 0; before < axis; ++before) stride *= extents[before];
  if (of_grid) return LaneValues(position_.lanes, position_.block / stride % extents[axis]);
  LaneValues values(position_.lanes);
  for (std::size_t lane = 0; lane < position_.lanes; ++lane)
    values.numbers[lane] = static_cast<std::int64_t>(lane) / stride % extents[axis];
  return values;
}

int GridExpressions::ArrayOf(int variable, const LaneMask& mask) {
  if (const auto array = variables_.ArrayOf(variable)) return *array;
  DeclareArray(variable, mask);
  return variables_.ArrayOf(variable).value_or(-1);
}

void GridExpressions::DeclareArray(int variable, const LaneMask& mask) {
  const std::int64_t elements = variables_.DeclareArray(variable);
  for (const int child : tree_.node(variable).children) {
    if (tree_.node(child).kind_name != "InitListExpr") continue;
    LanePlace place{-1, *variables_.ArrayOf(variable), {}};
    const auto& values = tree_.node(child).children;
    for (std::int64_t i = 0; i < elements && !refusal_.given(); ++i) {
      place.index.assign(position_.lanes, i);
      const bool given = static_cast<std::size_t>(i) < values.size();
      const LaneValues value = given ? Evaluate(values[static_cast<std::size_t>(i)], mask) : LaneValues(position_.lanes);
      variables_.Store(place, value, mask);
    }
  }
}

LaneMask GridExpressions::Where(int condition, const LaneMask& mask) {
  const LaneValues values = Evaluate(condition, mask);
  LaneMask result(mask.size(), 0);
  for (std::size_t lane = 0; lane < mask.size() && !refusal_.given(); ++lane) {
    if (!mask[lane]) continue;
    if (values.known[lane] != Knowledge::kKnown && values.memory < 0)
      refusal_.Add(fmt::format("data decides {}", Quoted(tree_, condition)));
    // A pointer into an array is not null.
    result[lane] = values.memory >= 0 || values.numbers[lane] != 0;
  }
  return result;
}

LaneValues GridExpressions::Conditional(int expression, const LaneMask& mask) {
  const auto& parts = tree_.node(expression).children;
  if (parts.size() != 3) return NotUnderstood(expression);
  const LaneMask yes = Where(parts[0], mask), no = Without(mask, yes);
  const std::string& type = tree_.node(expression).type;
  LaneValues values = Converted(Evaluate(parts[1], yes), parts[1], type, expression, yes);
  LaneValues others = Converted(Evaluate(parts[2], no), parts[2], type, expression, no);
  if (!AnyLane(no)) return values;
  if (AnyLane(yes) && values.memory != others.memory) return NotUnderstood(expression);
  others.Take(values, yes);
  return others;
}

LaneValues GridExpressions::Unary(int expression, const LaneMask& mask) {
  const std::string_view spelled = kinds_.OperatorOf(expression);
  const int operand = tree_.node(expression).children.front();
  if (spelled == "*") return variables_.Load(PlaceOf(expression, mask), mask);
  if (spelled == "++" || spelled == "--") {
    const bool after = tree_.node(operand).range.begin == tree_.node(expression).range.begin;
    const LanePlace place = PlaceOf(operand, mask);
    LaneValues old = variables_.Load(place, mask);
    LaneValues changed = Combined(operand, spelled.substr(1), old, LaneValues(position_.lanes, 1), mask);
    const std::string type = PlainType(tree_.node(operand).type);
    if (IsNarrowInteger(type)) changed = Checked(ConvertedLanes(std::move(changed), "int", type, mask), expression);
    variables_.Store(place, changed, mask);
    return after ? old : changed;
  }
  if (spelled == "&") {
    LanePlace place = PlaceOf(operand, mask);
    if (place.memory < 0 && place.variable >= 0 && place.part < 0) place = variables_.InMemory(place.variable);
    if (place.memory < 0) return Refuse(fmt::format("the address {} is not understood", Quoted(tree_, expression)));
    LaneValues pointer(position_.lanes);
    pointer.memory = place.memory;
    pointer.numbers = std::move(place.index);
    pointer.width = place.width;
    return pointer;
  }
  return Checked(UnaryNumbers(spelled, Evaluate(operand, mask), PlainType(tree_.node(expression).type), mask), expression);
}

LaneValues GridExpressions::Binary(int expression, const LaneMask& mask) {
  const std::string_view spelled = kinds_.OperatorOf(expression);
  const auto& sides = tree_.node(expression).children;
  if (sides.size() != 2) return NotUnderstood(expression);
  if (IsAssignment(tree_, expression)) return Assign(expression, mask);
  if (spelled == ",") {
    Evaluate(sides[0], mask);
    return Evaluate(sides[1], mask);
  }
  if (spelled == "&&" || spelled == "||") return Logical(expression, mask);
  const LaneValues a = Evaluate(sides[0], mask);
  return Combined(expression, spelled, a, Evaluate(sides[1], mask), mask);
}

LaneValues GridExpressions::Logical(int expression, const LaneMask& mask) {
  const auto& sides = tree_.node(expression).children;
  const LaneMask left = Where(sides[0], mask);
  LaneMask open = mask;  // what the right side decides
  const bool both = kinds_.OperatorOf(expression) == "&&";
  for (std::size_t lane = 0; lane < mask.size(); ++lane) open[lane] = mask[lane] && (left[lane] != 0) == both;
  const LaneMask right = Where(sides[1], open);
  LaneValues values(position_.lanes);
  for (std::size_t lane = 0; lane < mask.size(); ++lane) values.numbers[lane] = open[lane] ? right[lane] : left[lane];
  return values;
}

LaneValues GridExpressions::Combined(int expression, std::string_view spelled, const LaneValues& a, const LaneValues& b,
                                     const LaneMask& mask) {
  if (refusal_.given()) return UnknownLanes(position_.lanes);
  if (a.memory >= 0 || b.memory >= 0) return Checked(MovedPointers(spelled, a, b), expression);
  const auto& sides = tree_.node(expression).children;
  const OperandTypes types = sides.size() == 2
                                 ? OperandTypes{PromotedType(tree_.node(sides[0]).type), PromotedType(tree_.node(sides[1]).type)}
                                 : OperandTypes{PromotedType(tree_.node(expression).type), "int"};
  return Checked(CombinedNumbers(spelled, a, b, types, mask), expression);
}

LaneValues GridExpressions::Assign(int expression, const LaneMask& mask) {
  const auto& sides = tree_.node(expression).children;
  const std::string_view spelled = tree_.node(expression).name == "operator=" ? "=" : kinds_.OperatorOf(expression);
  LaneValues values = Evaluate(sides.back(), mask);
  const LanePlace place = PlaceOf(sides[0], mask);
  const std::string& target = tree_.node(sides[0]).type;
  int converted = sides.back();
  if (spelled != "=") {
    values = Combined(expression, spelled.substr(0, spelled.size() - 1), variables_.Load(place, mask), values, mask);
    if (ClassOf(PlainType(target)) == TypeClass::kReal) converted = sides[0];
    if (IsNarrowInteger(PlainType(target)))
      values = Checked(ConvertedLanes(std::move(values), "int", PlainType(target), mask), expression);
  }
  values = Converted(std::move(values), converted, target, expression, mask);
  variables_.Store(place, values, mask);
  return values;
}

}  // namespace evo
