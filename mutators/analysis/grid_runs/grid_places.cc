#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/grid_runs/grid_expressions.h"
#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {

LaneValues GridExpressions::MakeVector(std::string_view type, const std::vector<int>& numbers, int expression,
                                       const LaneMask& mask) {
  const ThreadVectorType vector = ThreadVectorTypeOf(type);
  if (vector.count == 0 || numbers.size() > static_cast<std::size_t>(vector.count)) return NotUnderstood(expression);
  LaneValues made = UnknownLanes(position_.lanes);
  for (const int number : numbers) made.parts.push_back(EvaluateAs(std::string(vector.number), number, mask));
  made.parts.resize(static_cast<std::size_t>(vector.count), LaneValues(position_.lanes));
  return made;
}

// A number of a vector.
LanePlace GridExpressions::PlaceOfMember(int expression, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(expression);
  const int part = ThreadComponentOf(node.name);
  LanePlace place;
  if (node.children.empty() || part < 0) {
    NotUnderstood(expression);
    return place;
  }
  const int base = WithoutParentheses(tree_, node.children.front());
  const std::string& type = tree_.node(base).type;
  const bool points = type.find('*') != std::string::npos;
  const ThreadVectorType vector = ThreadVectorTypeOf(PlainType(points ? type.substr(0, type.find('*')) : type));
  if (part >= vector.count) {
    NotUnderstood(expression);
    return place;
  }
  if (points) {
    LaneValues pointer = Evaluate(base, mask);
    if (pointer.memory < 0) NotUnderstood(expression);
    place.memory = pointer.memory;
    place.index = std::move(pointer.numbers);
  } else {
    place = PlaceOf(base, mask);
  }
  if (place.memory < 0) {
    place.part = part;
    return place;
  }
  for (std::int64_t& index : place.index) index += part;
  place.width = 1;
  return place;
}

LanePlace GridExpressions::PlaceOf(int expression, const LaneMask& mask) {
  expression = WithoutParentheses(tree_, expression);
  LanePlace place;
  if (const int variable = NamedDeclaration(tree_, expression); variable >= 0) {
    if (const LanePlace* const referred = variables_.ReferenceOf(variable)) return *referred;
    if (tree_.node(variable).kind_name == "VarDecl" && (IsShared(tree_, variable) || variables_.IsOfDevice(variable))) {
      place.memory = ArrayOf(variable, mask);
      place.index.assign(position_.lanes, 0);
      place.width = std::max(1, ThreadVectorTypeOf(PlainType(tree_.node(variable).type)).count);
      return place;
    }
    place.variable = variable;
    return place;
  }
  const SyntaxNode& node = tree_.node(expression);
  if (kinds_.KindOf(expression) == ExpressionKind::kMember) return PlaceOfMember(expression, mask);
  LaneValues pointer;
  if (kinds_.KindOf(expression) == ExpressionKind::kReinterpret && node.type.ends_with("&")) {
    LanePlace of = PlaceOf(node.children.back(), mask);
    pointer.memory = of.memory;
    pointer.numbers = std::move(of.index);
    pointer.known.assign(position_.lanes, Knowledge::kKnown);
    const std::string& from = tree_.node(node.children.back()).type;
    if (pointer.memory >= 0)
      pointer = Checked(ConvertedLanes(std::move(pointer), from + " *", node.type.substr(0, node.type.size() - 1) + "*", mask),
                        expression);
  } else if (kinds_.KindOf(expression) == ExpressionKind::kSubscript && node.children.size() == 2) {
    const LaneValues base = Evaluate(node.children[0], mask);
    pointer = Combined(expression, "+", base, Evaluate(node.children[1], mask), mask);
  } else if (kinds_.OperatorOf(expression) == "*" && node.children.size() == 1) {
    pointer = Evaluate(node.children[0], mask);
  }
  if (pointer.memory < 0) {
    NotUnderstood(expression);
    return place;
  }
  for (std::size_t lane = 0; lane < mask.size() && !refusal_.given(); ++lane) {
    if (mask[lane] && pointer.known[lane] != Knowledge::kKnown)
      refusal_.Add(fmt::format("data decides the place {}", Quoted(tree_, expression)));
  }
  place.memory = pointer.memory;
  place.width = pointer.width;
  place.index = std::move(pointer.numbers);
  if (node.type.find("volatile ") != std::string::npos) place.access = Strong();
  return place;
}

}  // namespace evo
