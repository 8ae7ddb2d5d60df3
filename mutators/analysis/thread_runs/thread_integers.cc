#include "mutators/analysis/thread_runs/thread_integers.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace evo {
namespace {

bool Add(ThreadAddress& to, const ThreadAddress& offset, std::int64_t sign) {
  to.integer += sign * offset.integer;
  return true;
}

}  // namespace

ThreadIntegers::ThreadIntegers(ThreadCode& code, const ThreadSetting& setting, const ThreadMemory& memory, ThreadTrace& trace,
                               Refusal& refusal)
    : code_(code), setting_(setting), memory_(memory), trace_(trace), refusal_(refusal) {
  builtins_.fill(1);
  for (const char* index : {"threadIdx", "blockIdx"})
    builtins_[static_cast<std::size_t>(kFirstBuiltinSymbol - BuiltinSymbol(index, 0))] = 0;
  for (const auto& [symbol, value] : setting.builtins) builtins_[static_cast<std::size_t>(kFirstBuiltinSymbol - symbol)] = value;
}

bool ThreadIntegers::Evaluate(const ThreadNode& node, ThreadAddress& result) {
  if (!node.plain || setting_.symbolic) return false;
  const std::int64_t steps = code_.steps();
  if (Compute(node, result)) return true;
  code_.TakeBack(steps);
  return false;
}

bool ThreadIntegers::EvaluateElement(int array, int index, ThreadAddress& result) {
  const ThreadNode &pointer = code_.At(array), &offset = code_.At(index);
  if (!pointer.plain || !offset.plain || setting_.symbolic || refusal_.given()) return false;
  const std::int64_t steps = code_.steps();
  ThreadAddress by;
  if (Compute(offset, by) && Compute(pointer, result) && by.memory < 0 && result.memory >= 0) return Add(result, by, 1);
  code_.TakeBack(steps);
  return false;
}

bool ThreadIntegers::Compute(const ThreadNode& node, ThreadAddress& result) {
  using enum ThreadNode::Expression;
  const Nesting level(refusal_);
  if (!code_.Affords() || level.TooDeep()) return false;
  result.memory = -1;
  switch (node.expression) {
    case kLiteral: {
      const auto spelled = Spelled(node.detail);
      result.integer = spelled.value_or(0);
      return spelled.has_value();
    }
    case kVariable:
      return ComputeVariable(node.variable, result);
    case kBuiltin:
      result.integer = Builtin(node.detail);
      return true;
    case kSame:
      return Compute(code_.At(node.parts[0]), result);
    case kUnary:
      return ComputeUnary(node, result);
    case kCast:
      if (!Compute(code_.At(node.parts[0]), result)) return false;
      if (result.memory < 0 && node.type == ThreadType::kUnsigned && result.integer < 0) result.integer &= 0xffffffff;
      return true;
    case kBinary:
      return ComputeBinary(node, result);
    case kAnd:
    case kOr:
    case kConditional:
      return ComputeChoice(node, result);
    case kRow:
      return ComputeRow(node, result);
    case kCall:
      return ComputeExtreme(node, result);
    default:
      return false;
  }
}

bool ThreadIntegers::ComputeVariable(int declaration, ThreadAddress& result) const {
  if (setting_.exchange != nullptr) {
    const ThreadVariable& variable = code_.variable(declaration);
    result.memory = declaration;
    result.integer = 0;
    if (variable.shared) return variable.array;
  }
  const ThreadValue& value = memory_.Variable(declaration);
  result.memory = value.kind == ThreadValue::Kind::kPointer ? value.memory : -1;
  result.integer = value.integer;
  return (result.memory >= 0 || value.kind == ThreadValue::Kind::kInteger) && !value.form;
}

bool ThreadIntegers::ComputeBinary(const ThreadNode& node, ThreadAddress& result) {
  ThreadAddress right;
  if (!Compute(code_.At(node.parts[0]), result) || !Compute(code_.At(node.parts[1]), right)) return false;
  const IntegerOperator::Kind kind = node.computed.kind();
  const bool adds = kind == IntegerOperator::Kind::kPlus;
  if (result.memory >= 0 && right.memory < 0 && (adds || kind == IntegerOperator::Kind::kMinus))
    return Add(result, right, adds ? 1 : -1);
  if (right.memory >= 0 && result.memory < 0 && adds) return std::swap(result, right), Add(result, right, 1);
  if (result.memory >= 0 || right.memory >= 0) return false;
  if (kind == IntegerOperator::Kind::kLeft && right.integer >= 31) return false;  // as ThreadArithmetic
  const auto value = node.computed.Result(result.integer, right.integer);
  result.integer = value.value_or(0);
  return value.has_value();
}

bool ThreadIntegers::ComputeUnary(const ThreadNode& node, ThreadAddress& result) {
  if (!Compute(code_.At(node.parts[0]), result) || result.memory >= 0) return false;
  const auto number = static_cast<std::uint64_t>(result.integer);
  if (node.unary == '-') result.integer = Truncated(0 - number);
  if (node.unary == '~') result.integer = ~result.integer;
  if (node.unary == '!') result.integer = result.integer == 0;
  return node.unary == '-' || node.unary == '~' || node.unary == '!' || node.unary == '+';
}

bool ThreadIntegers::ComputeRow(const ThreadNode& node, ThreadAddress& result) {
  ThreadAddress index;
  if (!Compute(code_.At(node.parts[1]), index) || !Compute(code_.At(node.parts[0]), result)) return false;
  if (index.memory >= 0 || result.memory < 0) return false;
  index.integer *= node.stride;
  return Add(result, index, 1);
}

// `a && b`, `a || b`, `a ? b : c`.
bool ThreadIntegers::ComputeChoice(const ThreadNode& node, ThreadAddress& result) {
  if (!Compute(code_.At(node.parts[0]), result)) return false;
  const bool holds = result.memory >= 0 || result.integer != 0;
  if (node.expression == ThreadNode::Expression::kConditional) return Compute(code_.At(node.parts[holds ? 1 : 2]), result);
  result = {-1, holds};
  if (holds == (node.expression == ThreadNode::Expression::kOr)) return true;
  if (!Compute(code_.At(node.parts[1]), result)) return false;
  result = {-1, result.memory >= 0 || result.integer != 0};
  return true;
}

bool ThreadIntegers::ComputeExtreme(const ThreadNode& node, ThreadAddress& result) {
  ThreadAddress other;
  if (!Compute(code_.At(node.parts[1]), result) || !Compute(code_.At(node.parts[2]), other)) return false;
  const bool largest = code_.call(node.detail).callee.kind == ThreadCallee::Kind::kLargest;
  result.integer = largest ? std::max(result.integer, other.integer) : std::min(result.integer, other.integer);
  return result.memory < 0 && other.memory < 0;
}

std::optional<std::int64_t> ThreadIntegers::Spelled(int number) {
  const ThreadConstant& constant = code_.constant(number);
  if (constant.is_bool) return constant.plain;
  if (!constant.plain && (constant.depends_on_size || !constant.integer || setting_.sizes.contains(constant.text)))
    return std::nullopt;
  if (!constant.plain && constant.is_name) NoteName(number);
  const std::int64_t spelled = constant.plain ? *constant.plain : *constant.integer;
  // No size is beyond masks of lanes and the largest integers.
  if (std::abs(spelled) < std::numeric_limits<std::int32_t>::max())
    trace_.largest_number = std::max(trace_.largest_number, std::abs(spelled));
  return spelled;
}

void ThreadIntegers::NoteName(int number) {
  const auto at = static_cast<std::size_t>(number);
  if (at >= named_.size()) named_.resize(code_.constants());
  if (named_[at]) return;
  named_[at] = true;
  trace_.names.emplace(code_.constant(number).text);
}

}  // namespace evo
