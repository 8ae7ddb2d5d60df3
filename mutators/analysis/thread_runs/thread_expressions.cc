#include "mutators/analysis/thread_runs/thread_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_atomics.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

constexpr std::int64_t kWarpWidth = 32;

const IntegerOperator kPlus("+"), kTimes("*");

// What `threadIdx.x` and the like are.
ThreadValue BuiltinValue(std::int64_t number, int symbol, const ThreadSetting& setting) {
  if (!setting.symbolic) return ThreadValue::Integer(number);
  const bool of_thread =
      symbol > BuiltinSymbol("blockIdx", 0) || (symbol <= BuiltinSymbol("blockDim", 0) && symbol > BuiltinSymbol("gridDim", 0));
  if (of_thread && !setting.thread_symbols) return ThreadValue::Integer(number);
  return ThreadValue::Integer(number, SharedForm(AffineForm::Symbol(symbol)));
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
      refusal_(refusal),
      integers_(code, setting, memory, trace, refusal),
      vectors_(tree, code, setting, arithmetic, memory, refusal) {}

ThreadValue ThreadExpressions::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

ThreadValue ThreadExpressions::NotUnderstood(int expression) {
  return Refuse(fmt::format("{}, which is not understood", Quoted(tree_, expression)));
}

ThreadValue ThreadExpressions::Evaluate(int expression) {
  using enum ThreadNode::Expression;
  if (refusal_.given()) return {};
  const ThreadNode& node = code_.At(expression);
  ThreadAddress plain;
  if (integers_.Evaluate(node, plain))
    return plain.memory < 0 ? ThreadValue::Integer(plain.integer) : ThreadValue::Pointer(plain.memory, plain.integer);
  if (!code_.Affords()) return Refuse("it computes for longer than it is tried");
  const Nesting level(refusal_);
  if (level.TooDeep()) return Refuse(fmt::format("{} is nested too deeply", Quoted(tree_, expression)));
  const int first = node.parts[0], second = node.parts[1];
  switch (node.expression) {
    case kLiteral:
      return Literal(node, expression);
    case kVariable:
      return Named(node, expression);
    case kSame:
      return Evaluate(first);
    case kCount:
      return Count(node);
    case kDereference:
    case kReinterpret:
      return vectors_.LoadAt(PlaceOf(expression), node);
    case kComponent: {
      ThreadValue part = vectors_.PartOf(node, code_.At(first), Evaluate(first), expression);
      return part.kind != ThreadValue::Kind::kNone || refusal_.given() ? part : NotUnderstood(expression);
    }
    case kAddress:
    case kUnary:
      return Unary(node, expression);
    case kAssignment: {
      ThreadValue assigned;
      return Assign(node, expression, &assigned), assigned;
    }
    case kComma:
      return Evaluate(first), Evaluate(second);
    case kAnd:
    case kOr:
      return Choose(node, expression);
    case kBinary:
      return Binary(node, expression);
    case kConditional:
      if (tree_.node(expression).children.size() != 3) return Refuse(Quoted(tree_, expression));
      return Choose(node, expression);
    case kCast: {
      ThreadValue value = EvaluateAs(node.type, first, tree_.node(expression).type);
      return vectors_.MayBeCast(node, value) ? value : NotUnderstood(expression);
    }
    case kBuiltin:
      return BuiltinValue(integers_.Builtin(node.detail), node.detail, setting_);
    case kRow:
    case kElement:
      return Element(node, expression);
    case kParts: {
      std::vector<ThreadValue> parts;
      const auto& given = tree_.node(expression).children;
      const std::size_t count = code_.structs().CountOf(node.structure);
      for (std::size_t i = 0; i < std::max(count, given.size()); ++i) {
        const ThreadType type = code_.structs().TypeAt(node.structure, static_cast<std::int64_t>(i));
        parts.push_back(i < given.size() ? EvaluateAs(type, given[i], tree_.node(given[i]).type)
                                         : arithmetic_.Converted(ThreadValue::Integer(0), type));
      }
      return parts.size() == count ? ThreadValue::Vector(std::move(parts)) : NotUnderstood(expression);
    }
    case kCall:
      return Call(node, expression);
    case kUnknown:
      break;
  }
  return NotUnderstood(expression);
}

void ThreadExpressions::Perform(int expression) {
  const ThreadNode& node = code_.At(expression);
  if (node.expression == ThreadNode::Expression::kAssignment && !refusal_.given()) {
    const Nesting level(refusal_);
    if (!level.TooDeep() && code_.Affords()) return Assign(node, expression, nullptr);
  }
  Evaluate(expression);
}

// A value that is only looked at: `own`, or where it is. Then nothing else may be computed that changes it.
const ThreadValue& ThreadExpressions::Operand(int expression, ThreadValue& own) {
  const ThreadNode& node = code_.At(expression);
  if (node.reads && !setting_.symbolic && !setting_.addresses && !refusal_.given()) {
    const Nesting level(refusal_);
    const std::int64_t steps = code_.steps();
    if (!level.TooDeep() && code_.Affords()) {
      const ThreadPlace place = PlaceOf(expression);
      const bool known = place.variable >= 0 || place.memory >= 0;
      if (const ThreadValue* const value = known ? memory_.ValueAt(place) : nullptr) return *value;
      if (place.variable < 0) return own = vectors_.LoadAt(place, node);
    }
    code_.TakeBack(steps);
  }
  return own = Evaluate(expression);
}

// Also a row of an array of two dimensions or more.
ThreadValue ThreadExpressions::Element(const ThreadNode& node, int expression) {
  if (node.expression == ThreadNode::Expression::kRow) {
    if (tree_.node(expression).children.size() != 2) return NotUnderstood(expression);
    const ThreadValue row = arithmetic_.Combined(kTimes, Evaluate(node.parts[1]), ThreadValue::Integer(node.stride));
    ThreadValue moved = arithmetic_.Combined(kPlus, Evaluate(node.parts[0]), row);
    return moved.kind == ThreadValue::Kind::kPointer ? moved : NotUnderstood(expression);
  }
  // Of a table: an array of real numbers that the run does not follow.
  const bool shared = setting_.exchange != nullptr && node.variable >= 0 && code_.variable(node.variable).shared;
  if (setting_.addresses && node.variable >= 0 && !shared && !memory_.HasArray(node.variable))
    return ThreadValue::Real(kSomeNumber);
  return vectors_.LoadAt(PlaceOf(expression), node);
}

ThreadValue ThreadExpressions::Literal(const ThreadNode& node, int expression) {
  if (const auto spelled = integers_.Spelled(node.detail)) return ThreadValue::Integer(*spelled);
  const ThreadConstant& constant = code_.constant(node.detail);
  if (constant.depends_on_size || setting_.sizes.contains(constant.text))
    return Refuse(fmt::format("{}, which the case decides", Quoted(tree_, expression)));
  if (constant.real) {
    ThreadValue value = ThreadValue::Real(*constant.real, constant.real_text);
    const std::string type = WithoutConst(tree_.node(expression).type);
    if (setting_.formulas) value.formula = FormulaLeaf(type, std::string(constant.text), true);
    return value;
  }
  return NotUnderstood(expression);
}

ThreadValue ThreadExpressions::Named(const ThreadNode& node, int expression) {
  if (setting_.exchange != nullptr) {
    const ThreadVariable& variable = code_.variable(node.variable);
    if (variable.shared)
      return variable.array ? ThreadValue::Pointer(node.variable) : memory_.Load({-1, node.variable, 0, nullptr, expression});
  }
  const ThreadValue& value = memory_.Variable(node.variable);
  if (value.kind != ThreadValue::Kind::kNone) return value;
  if (code_.variable(node.variable).device && setting_.contents.contains(node.variable))
    return code_.variable(node.variable).array ? ThreadValue::Pointer(node.variable)
                                               : memory_.Load({-1, node.variable, 0, nullptr, expression});
  const bool constant = code_.variable(node.variable).constant, device = code_.variable(node.variable).device;
  if (device || (constant && !setting_.sums && !setting_.formulas && !setting_.addresses)) return NotUnderstood(expression);
  if (constant) return ThreadValue::Pointer(node.variable);
  if (setting_.formulas && code_.variable(node.variable).declared && !code_.variable(node.variable).array) {
    ThreadValue unset = UnsetNumber(tree_, node.variable);
    if (unset.kind != ThreadValue::Kind::kNone) return unset;
  }
  return Refuse(fmt::format("{} is read and has no value that is known", Quoted(tree_, expression)));
}

ThreadValue ThreadExpressions::Count(const ThreadNode& node) {
  const ThreadPlace place = PlaceOf(node.parts[0]);
  if (place.variable >= 0 && place.variable != setting_.followed && !refusal_.given()) {
    ThreadValue& counter = memory_.Variable(place.variable);
    if (counter.kind == ThreadValue::Kind::kInteger && !counter.form) {
      const std::int64_t before = counter.integer;
      counter.integer = *node.computed.Result(before, 1);
      return ThreadValue::Integer(node.behind ? before : counter.integer);
    }
  }
  ThreadValue old = memory_.Load(place);
  if (refusal_.given()) return {};
  if (ThreadFormulas::IsOpen(old)) {
    const int counted = node.parts[0];
    ThreadValue more = formulas().Binary(node.computed.spelled(), old, counted, ThreadValue::Integer(1), counted, counted);
    memory_.Store(place, Converted(more, code_.At(counted).type, tree_.node(counted).type, counted));
    return node.behind ? old : more;
  }
  ThreadValue changed = arithmetic_.Combined(node.computed, old, vectors_.Scaled(node, old, ThreadValue::Integer(1)));
  memory_.Store(place, changed);
  return node.behind ? old : changed;
}

ThreadValue ThreadExpressions::Unary(const ThreadNode& node, int expression) {
  if (node.expression == ThreadNode::Expression::kAddress) {
    const ThreadPlace place = PlaceOf(node.parts[0]);
    if (place.memory < 0) return Refuse(fmt::format("the address {}", Quoted(tree_, expression)));
    return ThreadValue::Pointer(place.memory, place.index, place.form);
  }
  const ThreadValue of = Evaluate(node.parts[0]);
  if (ThreadFormulas::IsOpen(of)) return formulas().Unary(node.unary, of, expression);
  ThreadValue value = arithmetic_.Unary(node.unary, of);
  if (of.formula && value.kind == ThreadValue::Kind::kReal) value.formula = FormulaUnary(node.unary, of.formula);
  return value.kind == ThreadValue::Kind::kNone ? NotUnderstood(expression) : value;
}

ThreadValue ThreadExpressions::Binary(const ThreadNode& node, int expression) {
  // What only reads changes nothing, so that the left side may stay where it is.
  ThreadValue own_left, own_right;
  const bool stays = code_.At(node.parts[1]).reads;
  const ThreadValue& left = stays ? Operand(node.parts[0], own_left) : own_left = Evaluate(node.parts[0]);
  const ThreadValue& right = Operand(node.parts[1], own_right);
  if (refusal_.given()) return {};
  if (ThreadFormulas::IsOpen(left) || ThreadFormulas::IsOpen(right))
    return formulas().Binary(node.computed.spelled(), left, node.parts[0], right, node.parts[1], expression);
  ThreadValue value = !node.to_vectors ? arithmetic_.Combined(node.computed, left, right)
                      : left.kind == ThreadValue::Kind::kPointer
                          ? arithmetic_.Combined(node.computed, left, vectors_.Scaled(node, left, right))
                          : arithmetic_.Combined(node.computed, vectors_.Scaled(node, right, left), right);
  if (setting_.formulas) formulas().AddBinary(value, node.computed.spelled(), left, node.parts[0], right, node.parts[1]);
  return value.kind == ThreadValue::Kind::kNone ? NotUnderstood(expression) : value;
}

// Also by the operator of a half: target, operator, value. Null as the result: nobody asks for it.
void ThreadExpressions::Assign(const ThreadNode& node, int expression, ThreadValue* result) {
  const auto& sides = tree_.node(expression).children;
  ThreadValue value = Evaluate(sides.back());
  const ThreadPlace place = PlaceOf(sides.front());
  if (refusal_.given()) return;
  if (!node.assigns_only) {
    const ThreadValue* const old = memory_.ValueAt(place);
    const ThreadValue loaded = old != nullptr ? ThreadValue{} : memory_.Load(place);
    const ThreadValue& before = old != nullptr ? *old : loaded;
    const ThreadValue by = value;
    if (ThreadFormulas::IsOpen(before) || ThreadFormulas::IsOpen(by)) {
      value = formulas().Binary(node.computed.spelled(), before, sides.front(), by, sides.back(), expression);
    } else {
      value = arithmetic_.Combined(node.computed, before, vectors_.Scaled(node, before, by));
      if (setting_.formulas) formulas().AddBinary(value, node.computed.spelled(), before, sides.front(), by, sides.back());
    }
    if (value.kind == ThreadValue::Kind::kNone) {
      NotUnderstood(expression);
      return;
    }
  }
  const ThreadNode& target = code_.At(sides.front());
  if (value.kind == ThreadValue::Kind::kVector && place.memory >= 0 && !vectors_.FitsAt(place, target, value)) return;
  value = setting_.formulas ? Converted(value, target.type, tree_.node(sides.front()).type, sides.back())
                            : arithmetic_.Converted(value, target.type);
  if (vectors_.IsOfBits(place, target)) value = FloatOfBits(value);
  if (result != nullptr) *result = value;
  memory_.Store(place, std::move(value));
}

ThreadPlace ThreadExpressions::PlaceOf(int named) {
  const ThreadNode& node = code_.At(named);
  if (node.place == ThreadNode::Place::kVariable) {
    const ThreadVariable& variable = code_.variable(node.variable);
    if (variable.device || (setting_.exchange != nullptr && variable.shared)) return {-1, node.variable, 0, nullptr, named};
    ThreadPlace place;
    place.variable = node.variable;
    return place;
  }
  const std::array<int, 3>& parts = code_.At(node.bare).parts;
  ThreadValue pointer;
  if (node.place == ThreadNode::Place::kElement) {
    ThreadAddress address;
    const bool vectors = code_.At(parts[0]).to_vectors;
    if (!vectors && integers_.EvaluateElement(parts[0], parts[1], address))
      return {-1, address.memory, address.integer, nullptr, named};
    const ThreadValue index = Evaluate(parts[1]), array = Evaluate(parts[0]);
    pointer = arithmetic_.Combined(kPlus, array, vectors ? vectors_.Scaled(code_.At(parts[0]), array, index) : index);
  } else if (node.place == ThreadNode::Place::kDereference) {
    pointer = Evaluate(parts[0]);
  } else if (node.place == ThreadNode::Place::kComponent) {
    const ThreadNode& part = code_.At(node.bare);
    const ThreadPlace place = vectors_.PlaceOfPart(part, PlaceOf(part.parts[0]));
    if (place.variable >= 0 || place.memory >= 0) return place;
  } else if (node.place == ThreadNode::Place::kReinterpret) {
    const ThreadPlace place = PlaceOf(parts[0]);
    const int each = place.memory < 0 || setting_.addresses ? 0 : code_.variable(place.memory).bytes;
    if (each > 0 && (node.vector ? node.bytes % each == 0 : node.bytes == each)) return place;
  }
  if (pointer.kind != ThreadValue::Kind::kPointer) {
    NotUnderstood(node.bare);
    return {};
  }
  return {-1, pointer.memory, pointer.integer, std::move(pointer.form), named};
}

// What a call does that the threads of a block make together; nullopt for others.
std::optional<ThreadValue> ThreadExpressions::CallTogether(const ThreadCallee& callee, std::span<const int> arguments) {
  using enum ThreadCallee::Kind;
  if (callee.kind < kBlockBarrier) return std::nullopt;
  if (memory_.limit() != ThreadMemory::Limit::kNone) return Refuse("elements decide whether it waits for other threads");
  if (callee.kind == kBlockBarrier) return memory_.PassBarrier(), ThreadValue::Integer(0);
  if (callee.shuffles() && arguments.size() < 3) return std::nullopt;
  const ThreadValue masked = arguments.empty() ? ThreadValue::Integer(-1) : Evaluate(arguments[0]);
  if (masked.kind != ThreadValue::Kind::kInteger) return std::nullopt;
  const auto mask = static_cast<std::uint32_t>(masked.integer);
  if (!callee.shuffles()) return memory_.MeetWarp(mask), ThreadValue::Integer(0);
  ThreadValue value = Evaluate(arguments[1]);
  const ThreadValue by = Evaluate(arguments[2]);
  const std::int64_t width = arguments.size() > 3 ? Evaluate(arguments[3]).integer : kWarpWidth;
  if (refusal_.given() || by.kind != ThreadValue::Kind::kInteger || width <= 0 || width > kWarpWidth) return std::nullopt;
  const auto thread = static_cast<std::int64_t>(setting_.thread);
  const std::int64_t lane = thread % width, first = thread - lane;
  std::int64_t from = callee.kind == kShuffleXor    ? lane ^ by.integer
                      : callee.kind == kShuffleDown ? lane + by.integer
                      : callee.kind == kShuffleUp   ? lane - by.integer
                                                    : by.integer % width;
  if (from < 0 || from >= width) from = lane;
  return memory_.Shuffle(std::move(value), static_cast<std::size_t>(first + from), mask);
}

}  // namespace evo
