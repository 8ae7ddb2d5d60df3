#include "mutators/analysis/thread_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// How deep functions of the source call each other.
constexpr int kMostCalls = 6;

constexpr std::int64_t kWarpWidth = 32;

// What stands for a real number that does not count.
constexpr double kSomeNumber = 0.37;

bool IsRealType(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double" || plain == "__half" || plain == "__nv_bfloat16";
}

bool IsLoad(std::string_view callee) {
  return callee == "__ldg" || callee == "__ldcg" || callee == "__ldca" || callee == "__ldcs";
}

// Of digits, also with a suffix.
std::optional<std::int64_t> PlainInteger(std::string_view text) {
  std::int64_t number = 0;
  const std::string_view digits = text.substr(0, text.find_last_not_of("uUlL") + 1);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const char* const begin = digits.data() + (hexadecimal ? 2 : 0);
  const auto [stop, error] = std::from_chars(begin, digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  return error == std::errc{} && stop == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

// Whether an element is one of an array of real numbers that the run does not follow: at file scope, or of more dimensions.
bool IsTable(const SyntaxTree& tree, const ThreadMemory& memory, int expression) {
  if (!IsRealType(tree.node(expression).type)) return false;
  while (tree.node(expression).kind_name == "ArraySubscriptExpr")
    expression = WithoutParentheses(tree, tree.node(expression).children.front());
  const int array = NamedDeclaration(tree, expression);
  return array >= 0 && tree.node(array).kind_name == "VarDecl" && tree.node(array).type.ends_with("]") && !memory.HasArray(array);
}

// Of a number that the code spells. No size is beyond masks of lanes and the largest integers.
ThreadValue NotedInteger(ThreadTrace& trace, std::int64_t spelled) {
  if (std::abs(spelled) < std::numeric_limits<std::int32_t>::max())
    trace.largest_number = std::max(trace.largest_number, std::abs(spelled));
  return ThreadValue::Integer(spelled);
}

}  // namespace

ThreadExpressions::ThreadExpressions(const SyntaxTree& tree, ThreadCode& code, const ThreadSetting& setting,
                                     ThreadArithmetic& arithmetic, ThreadMemory& memory, FunctionBodies& bodies,
                                     ThreadTrace& trace, Refusal& refusal)
    : tree_(tree),
      code_(code),
      setting_(setting),
      arithmetic_(arithmetic),
      memory_(memory),
      bodies_(bodies),
      trace_(trace),
      refusal_(refusal) {}

ThreadValue ThreadExpressions::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

ThreadValue ThreadExpressions::NotUnderstood(int expression) {
  return Refuse(fmt::format("{}, which is not understood", Quoted(tree_, expression)));
}

ThreadValue ThreadExpressions::Evaluate(int expression) {
  if (refusal_.given()) return {};
  if (!code_.Affords()) return Refuse("it computes for longer than it is tried");
  const Nesting level(refusal_);
  if (level.TooDeep()) return Refuse(fmt::format("{} is nested too deeply", Quoted(tree_, expression)));
  const SyntaxNode& node = tree_.node(expression);
  const ExpressionKind kind = code_.kinds().KindOf(expression);
  if (node.children.empty() && kind != ExpressionKind::kName) return Literal(expression);
  switch (kind) {
    case ExpressionKind::kName:
      return Named(expression);
    case ExpressionKind::kParentheses:
      return Evaluate(node.children.back());
    case ExpressionKind::kUnary:
      return Unary(expression);
    case ExpressionKind::kBinary:
      return Binary(expression);
    case ExpressionKind::kConditional:
      if (node.children.size() != 3) return Refuse(Quoted(tree_, expression));
      return Evaluate(node.children[IsTrue(node.children[0]) ? 1 : 2]);
    case ExpressionKind::kCast:
      return EvaluateAs(node.type, node.children.back());
    case ExpressionKind::kMember:
      return Builtin(expression);
    case ExpressionKind::kSubscript:
      if (setting_.addresses && IsTable(tree_, memory_, expression)) return ThreadValue::Real(kSomeNumber);
      return node.type.ends_with("]") ? Row(expression) : memory_.Load(PlaceOf(expression));
    case ExpressionKind::kCall:
      return Call(expression);
    default:
      break;
  }
  if (node.children.size() == 1 && tree_.Text(node.children.front()) == tree_.Text(expression))
    return Evaluate(node.children.front());
  return NotUnderstood(expression);
}

// A row of an array of two dimensions or more.
ThreadValue ThreadExpressions::Row(int expression) {
  const SyntaxNode& node = tree_.node(expression);
  if (node.children.size() != 2) return NotUnderstood(expression);
  std::int64_t stride = 1;
  for (const long long extent : ExtentsOf(node.type)) stride *= extent;
  const ThreadValue row = arithmetic_.Combined("*", Evaluate(node.children[1]), ThreadValue::Integer(stride));
  const ThreadValue moved = arithmetic_.Combined("+", Evaluate(node.children[0]), row);
  return moved.kind == ThreadValue::Kind::kPointer ? moved : NotUnderstood(expression);
}

// What a call does that the threads of a block make together; nullopt for others.
std::optional<ThreadValue> ThreadExpressions::CallTogether(std::string_view callee, const std::vector<int>& arguments) {
  if (setting_.exchange == nullptr) return std::nullopt;
  const bool shuffles = callee.starts_with("__shfl") && callee.ends_with("_sync") && arguments.size() >= 3;
  if (callee == "__syncthreads") return memory_.PassBarrier(), ThreadValue::Integer(0);
  if (callee != "__syncwarp" && !shuffles) return std::nullopt;
  const ThreadValue masked = arguments.empty() ? ThreadValue::Integer(-1) : Evaluate(arguments[0]);
  if (masked.kind != ThreadValue::Kind::kInteger) return std::nullopt;
  const auto mask = static_cast<std::uint32_t>(masked.integer);
  if (!shuffles) return memory_.MeetWarp(mask), ThreadValue::Integer(0);
  ThreadValue value = Evaluate(arguments[1]);
  const ThreadValue by = Evaluate(arguments[2]);
  const std::int64_t width = arguments.size() > 3 ? Evaluate(arguments[3]).integer : kWarpWidth;
  if (refusal_.given() || by.kind != ThreadValue::Kind::kInteger || width <= 0 || width > kWarpWidth) return std::nullopt;
  const auto thread = static_cast<std::int64_t>(setting_.thread);
  const std::int64_t lane = thread % width, first = thread - lane;
  std::int64_t from = callee == "__shfl_xor_sync"    ? lane ^ by.integer
                      : callee == "__shfl_down_sync" ? lane + by.integer
                      : callee == "__shfl_up_sync"   ? lane - by.integer
                                                     : by.integer % width;
  if (from < 0 || from >= width) from = lane;
  return memory_.Shuffle(std::move(value), static_cast<std::size_t>(first + from), mask);
}

ThreadValue ThreadExpressions::Literal(int expression) {
  const std::string_view text = tree_.Text(expression);
  if (text == "true" || text == "false") return ThreadValue::Integer(text == "true");
  if (const auto number = PlainInteger(text)) return NotedInteger(trace_, *number);
  const ThreadCode::Constant& constant = code_.ConstantAt(expression);
  if (constant.depends_on_size || setting_.sizes.contains(text))
    return Refuse(fmt::format("{}, which the case decides", Quoted(tree_, expression)));
  if (constant.integer) {
    if (IsNameOnly(text)) trace_.names.insert(std::string(text));
    return NotedInteger(trace_, *constant.integer);
  }
  if (constant.real) return ThreadValue::Real(*constant.real, std::make_shared<const std::string>(text));
  return NotUnderstood(expression);
}

ThreadValue ThreadExpressions::Named(int expression) {
  const int declaration = tree_.node(expression).refers_to;
  // Of a header, a macro, or a constant of the file.
  if (declaration < 0 || tree_.node(declaration).function < 0) return Literal(expression);
  if (setting_.exchange != nullptr && IsShared(tree_, declaration))
    return tree_.node(declaration).type.ends_with("]") ? ThreadValue::Pointer(declaration)
                                                       : memory_.Load({-1, declaration, 0, nullptr, expression});
  const ThreadValue& value = memory_.Variable(declaration);
  if (value.kind != ThreadValue::Kind::kNone) return value;
  return Refuse(fmt::format("{} is read and has no value that is known", Quoted(tree_, expression)));
}

ThreadValue ThreadExpressions::Builtin(int expression) {
  // Implicit calls of conversions have the text of what they convert.
  const auto& parts = tree_.node(expression).children;
  const std::string_view text = tree_.Text(expression);
  if (parts.size() == 1 && tree_.Text(parts.front()) == text) return Evaluate(parts.front());
  if (!code_.kinds().IsBuiltin(expression)) return NotUnderstood(expression);
  const int symbol = BuiltinSymbol(text.substr(0, text.find('.')), static_cast<std::size_t>(text.back() - 'x'));
  const auto given = setting_.builtins.find(symbol);
  const std::int64_t value = given != setting_.builtins.end() ? given->second : text.ends_with("Idx.x") ? 0 : 1;
  if (!setting_.thread_symbols && text.starts_with("thread")) return ThreadValue::Integer(value);
  if (!setting_.thread_symbols && text.starts_with("blockDim")) return ThreadValue::Integer(value);
  return ThreadValue::Integer(value,
                              setting_.symbolic ? std::make_shared<const AffineForm>(AffineForm::Symbol(symbol)) : nullptr);
}

ThreadValue ThreadExpressions::Count(int expression) {
  const int operand = tree_.node(expression).children.front();
  const bool before = tree_.node(operand).range.begin > tree_.node(expression).range.begin;
  const ThreadPlace place = PlaceOf(operand);
  const ThreadValue old = memory_.Load(place);
  if (refusal_.given()) return {};
  const std::string_view spelled = code_.kinds().OperatorOf(expression).substr(1);
  const ThreadValue changed = arithmetic_.Combined(spelled, old, ThreadValue::Integer(1));
  memory_.Store(place, changed);
  return before ? changed : old;
}

ThreadValue ThreadExpressions::Unary(int expression) {
  const std::string_view spelled = code_.kinds().OperatorOf(expression);
  const int operand = tree_.node(expression).children.front();
  if (spelled == "++" || spelled == "--") return Count(expression);
  if (spelled == "*") return memory_.Load(PlaceOf(expression));
  if (spelled == "&") {
    const ThreadPlace place = PlaceOf(operand);
    if (place.memory < 0) return Refuse(fmt::format("the address {}", Quoted(tree_, expression)));
    return ThreadValue::Pointer(place.memory, place.index, place.form);
  }
  const ThreadValue value = arithmetic_.Unary(spelled, Evaluate(operand));
  return value.kind == ThreadValue::Kind::kNone ? NotUnderstood(expression) : value;
}

ThreadValue ThreadExpressions::Binary(int expression) {
  const std::string_view spelled = code_.kinds().OperatorOf(expression);
  const auto& sides = tree_.node(expression).children;
  if (IsAssignment(tree_, expression)) return Assign(expression);
  if (spelled == ",") return Evaluate(sides[0]), Evaluate(sides[1]);
  if (spelled == "&&") return ThreadValue::Integer(IsTrue(sides[0]) && IsTrue(sides[1]));
  if (spelled == "||") return ThreadValue::Integer(IsTrue(sides[0]) || IsTrue(sides[1]));
  const ThreadValue left = Evaluate(sides[0]), right = Evaluate(sides[1]);
  if (refusal_.given()) return {};
  const ThreadValue value = arithmetic_.Combined(spelled, left, right);
  return value.kind == ThreadValue::Kind::kNone ? NotUnderstood(expression) : value;
}

ThreadValue ThreadExpressions::Assign(int expression) {
  const auto& sides = tree_.node(expression).children;
  const bool overloaded = tree_.node(expression).kind_name == "CallExpr";  // of half: target, operator, value
  const std::string_view spelled = overloaded ? "=" : code_.kinds().OperatorOf(expression);
  ThreadValue value = Evaluate(sides.back());
  const ThreadPlace place = PlaceOf(sides.front());
  if (refusal_.given()) return {};
  if (spelled != "=") {
    value = arithmetic_.Combined(spelled.substr(0, spelled.size() - 1), memory_.Load(place), value);
    if (value.kind == ThreadValue::Kind::kNone) return NotUnderstood(expression);
  }
  value = arithmetic_.Converted(std::move(value), tree_.node(sides.front()).type);
  memory_.Store(place, value);
  return value;
}

ThreadPlace ThreadExpressions::PlaceOf(int named) {
  const int expression = WithoutParentheses(tree_, named);
  const SyntaxNode& node = tree_.node(expression);
  ThreadPlace place;
  ThreadValue pointer;
  if (const int variable = NamedDeclaration(tree_, expression); variable >= 0 && tree_.node(variable).function >= 0) {
    if (setting_.exchange != nullptr && IsShared(tree_, variable)) return {-1, variable, 0, nullptr, named};
    place.variable = variable;
    return place;
  }
  if (code_.kinds().KindOf(expression) == ExpressionKind::kSubscript && node.children.size() == 2)
    pointer = arithmetic_.Combined("+", Evaluate(node.children[0]), Evaluate(node.children[1]));
  else if (code_.kinds().OperatorOf(expression) == "*" && node.children.size() == 1)
    pointer = Evaluate(node.children[0]);
  if (pointer.kind != ThreadValue::Kind::kPointer) {
    NotUnderstood(expression);
    return place;
  }
  return {-1, pointer.memory, pointer.integer, pointer.form, named};
}

ThreadValue ThreadExpressions::Call(int expression) {
  const auto& parts = tree_.node(expression).children;
  if (parts.empty()) return NotUnderstood(expression);
  if (tree_.node(expression).name == "operator=") return Assign(expression);
  const int function = NamedDeclaration(tree_, parts.front());
  const std::vector<int> arguments(parts.begin() + 1, parts.end());
  const std::string& kind = function >= 0 ? tree_.node(function).kind_name : tree_.node(expression).kind_name;
  if (kind == "FunctionDecl" || kind == "FunctionTemplate") return CallDefined(function, arguments);
  const std::string_view callee = LibraryCallee(tree_, expression);
  if (const auto together = CallTogether(callee, arguments)) return *together;
  if (refusal_.given()) return {};
  if (!callee.empty() && !callee.starts_with("operator") && !arguments.empty()) {
    const ThreadValue value = CallKnown(callee, arguments, expression);
    if (value.kind == ThreadValue::Kind::kNone && !refusal_.given() && setting_.addresses &&
        IsRealType(tree_.node(expression).type))
      return ThreadValue::Real(kSomeNumber);
    if (value.kind != ThreadValue::Kind::kNone || refusal_.given()) return value;
    return Refuse(fmt::format("it calls {}, which is not known", callee));
  }
  // A constructor or a conversion of one value.
  if (parts.size() == 1) return EvaluateAs(tree_.node(expression).type, parts.front());
  return NotUnderstood(expression);
}

ThreadValue ThreadExpressions::CallDefined(int function, const std::vector<int>& arguments) {
  const SyntaxNode& called = tree_.node(function);
  const bool defined = !called.children.empty() && tree_.node(called.children.back()).kind_name == "CompoundStmt";
  if (!defined || depth_ >= kMostCalls) return Refuse(fmt::format("the function {}", called.name));
  std::vector<int> parameters;
  for (const int child : called.children) {
    if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  if (parameters.size() != arguments.size()) return Refuse(fmt::format("the arguments of {}", called.name));
  std::vector<ThreadValue> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& type = tree_.node(parameters[i]).type;
    if (type.ends_with("&") && !type.starts_with("const ")) return Refuse(fmt::format("{} takes references", called.name));
    values.push_back(EvaluateAs(type, arguments[i]));
  }
  if (refusal_.given()) return {};
  for (std::size_t i = 0; i < values.size(); ++i) memory_.Variable(parameters[i]) = std::move(values[i]);
  ++depth_;
  ThreadValue returned = bodies_.RunBody(called.children.back());
  --depth_;
  if (refusal_.given()) return {};
  return arithmetic_.Converted(std::move(returned), called.type.substr(0, called.type.find(" (")));
}

ThreadValue ThreadExpressions::CallKnown(std::string_view callee, const std::vector<int>& arguments, int call) {
  if (IsLoad(callee) && arguments.size() == 1) {
    const ThreadValue pointer = Evaluate(arguments.front());
    if (pointer.kind != ThreadValue::Kind::kPointer) return {};
    return memory_.Load({-1, pointer.memory, pointer.integer, pointer.form, call});
  }
  std::vector<ThreadValue> values;
  for (const int argument : arguments) values.push_back(Evaluate(argument));
  return refusal_.given() ? ThreadValue{} : arithmetic_.Called(callee, values);
}

}  // namespace evo
