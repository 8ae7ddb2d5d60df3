#include "mutators/analysis/block_runs/lane_arithmetic.h"

#include <algorithm>
#include <utility>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

// How C++ computes an operator of two arithmetic types.
struct CommonType {
  bool real = false;
  bool is_unsigned = false;
  NumberType fitted{"int"};  // what sides and result are converted to; the widest for real numbers
};

CommonType CommonOf(std::string_view spelled, const std::string& left, const std::string& right) {
  const bool shift = spelled == "<<" || spelled == ">>";
  CommonType common;
  common.real = ClassOf(left) == TypeClass::kReal || ClassOf(right) == TypeClass::kReal;
  const bool wide = IsWide(left) || (IsWide(right) && !shift);
  common.is_unsigned =
      !common.real && (wide ? (IsUnsigned(left) && IsWide(left)) || (IsUnsigned(right) && IsWide(right) && !shift)
                            : left == "unsigned int" || (right == "unsigned int" && !shift));
  common.fitted = NumberType(common.real || wide ? "long long" : common.is_unsigned ? "unsigned int" : "int");
  return common;
}

// The result of known numbers; nullopt if there is none.
std::optional<std::int64_t> KnownResult(const IntegerOperator& computed, std::int64_t a, std::int64_t b, const CommonType& common,
                                        bool divides) {
  const auto number = computed.Result(common.fitted.Fit(a), common.fitted.Fit(b), common.is_unsigned);
  if (!number || (common.real && divides && a % b != 0)) return std::nullopt;
  return computed.compares() || common.real ? *number : common.fitted.Fit(*number);
}

// Of pointers into one memory, or of one and null, which no pointer into a memory is.
LaneResult ComparedPointers(const IntegerOperator& computed, const LaneValues& a, const LaneValues& b) {
  LaneResult result{UnknownLanes(a.numbers.size())};
  const bool same = a.memory == b.memory;
  for (std::size_t lane = 0; lane < a.numbers.size(); ++lane) {
    if (a.known[lane] != Knowledge::kKnown || b.known[lane] != Knowledge::kKnown) continue;
    const auto number = same ? computed.Result(a.numbers[lane], b.numbers[lane])
                             : std::optional<std::int64_t>(computed.kind() == IntegerOperator::Kind::kUnequal);
    result.values.numbers[lane] = number.value_or(0);
    if (number) result.values.known[lane] = Knowledge::kKnown;
  }
  return result;
}

}  // namespace

LaneResult CombinedNumbers(std::string_view spelled, const LaneValues& a, const LaneValues& b, const OperandTypes& types,
                           const LaneMask& mask) {
  LaneResult result{UnknownLanes(mask.size())};
  const CommonType common = CommonOf(spelled, types.left, types.right);
  const TypeClass left = ClassOf(types.left), right = ClassOf(types.right);
  const bool linear = spelled == "+" || spelled == "-", multiplies = spelled == "*", divides = spelled == "/";
  const IntegerOperator computed(spelled);
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane] || a.known[lane] == Knowledge::kUnknown || b.known[lane] == Knowledge::kUnknown) continue;
    const bool a_data = a.known[lane] == Knowledge::kElements, b_data = b.known[lane] == Knowledge::kElements;
    if (!a_data && !b_data) {
      const auto number = KnownResult(computed, a.numbers[lane], b.numbers[lane], common, divides);
      if (!number) continue;
      result.values.numbers[lane] = *number;
      result.values.known[lane] = Knowledge::kKnown;
      continue;
    }
    const bool scaled = multiplies && a_data != b_data;
    // An integer that is converted to a float on the way is known; an element is not.
    const bool converted = left != right && ((a_data && left == TypeClass::kInteger) || (b_data && right == TypeClass::kInteger));
    if ((!linear && !scaled) || converted || (a_data ? left : right) == TypeClass::kOther) {
      result.of_data = true;
      continue;
    }
    result.values.numbers[lane] = *computed.Result(a.numbers[lane], b.numbers[lane]);
    result.values.known[lane] = Knowledge::kElements;
  }
  return result;
}

LaneResult MovedPointers(std::string_view spelled, const LaneValues& a, const LaneValues& b) {
  const IntegerOperator computed(spelled);
  const bool equality = computed.kind() == IntegerOperator::Kind::kEqual || computed.kind() == IntegerOperator::Kind::kUnequal;
  const bool apart = spelled == "-" && a.width == 1 && b.width == 1;
  if (equality || (a.memory == b.memory && (computed.compares() || apart))) return ComparedPointers(computed, a, b);
  LaneResult result{UnknownLanes(a.numbers.size())};
  result.understood = (spelled == "+" && (a.memory < 0 || b.memory < 0)) || (spelled == "-" && b.memory < 0);
  if (!result.understood) return result;
  result.values.memory = std::max(a.memory, b.memory);
  result.values.width = a.memory >= 0 ? a.width : b.width;
  const std::int64_t of_a = a.memory >= 0 ? 1 : b.width, of_b = b.memory >= 0 ? 1 : a.width;
  for (std::size_t lane = 0; lane < a.numbers.size(); ++lane) {
    if (a.known[lane] == Knowledge::kKnown && b.known[lane] == Knowledge::kKnown) result.values.known[lane] = Knowledge::kKnown;
    const std::int64_t left = a.numbers[lane] * of_a, right = b.numbers[lane] * of_b;
    result.values.numbers[lane] = spelled == "+" ? left + right : left - right;
  }
  return result;
}

LaneResult UnaryNumbers(std::string_view spelled, LaneValues values, const std::string& type, const LaneMask& mask) {
  LaneResult result{std::move(values)};
  result.understood = result.values.memory < 0 && (spelled == "-" || spelled == "+" || spelled == "!" || spelled == "~");
  const NumberType fitted(type);
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    std::int64_t& number = result.values.numbers[lane];
    const bool data = result.values.known[lane] == Knowledge::kElements;
    if (data && mask[lane] && (spelled == "!" || spelled == "~")) {
      result.of_data = true;
      result.values.known[lane] = Knowledge::kUnknown;
    }
    if (spelled == "-") number = Truncated(0 - static_cast<std::uint64_t>(number));
    if (spelled == "!") number = number == 0;
    if (spelled == "~") number = ~number;
    if (!data) number = fitted.Fit(number);
  }
  return result;
}

LaneResult ConvertedLanes(LaneValues values, const std::string& from, const std::string& to, const LaneMask& mask) {
  LaneResult result{std::move(values)};
  if (from == to) return result;
  const std::string source = PlainType(from), target = PlainType(to);
  if (source == target) return result;
  if (result.values.memory >= 0) {
    const auto element = [](const std::string& type) { return PlainType(type.substr(0, type.find_first_of("*[("))); };
    const auto number = [](const std::string& type) {
      const ThreadVectorType vector = ThreadVectorTypeOf(type);
      return vector.count > 0 ? std::string(vector.number) : type;
    };
    const std::string of_source = element(source), of_target = element(target);
    const bool pointer = target.find('*') != std::string::npos || target.ends_with("]");
    result.understood = pointer && number(of_source) == number(of_target);
    result.values.width = std::max(1, ThreadVectorTypeOf(of_target).count);
    return result;
  }
  result.understood = result.values.parts.empty();
  const NumberType fitted(target);
  // What operators make of a narrow integer has its value.
  const bool widens = IsNarrowInteger(source) && (target == "int" || target == "unsigned int");
  const bool keeps = widens || (ClassOf(source) == ClassOf(target) && ClassOf(target) != TypeClass::kOther);
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane]) continue;
    if (result.values.known[lane] == Knowledge::kElements && !keeps) {
      result.of_data = true;
      result.values.known[lane] = Knowledge::kUnknown;
    } else if (result.values.known[lane] == Knowledge::kKnown) {
      result.values.numbers[lane] = fitted.Fit(result.values.numbers[lane]);
    }
  }
  return result;
}

LaneResult ExtremeNumbers(bool largest, LaneValues a, const LaneValues& b, const LaneMask& mask) {
  LaneResult result{std::move(a)};
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane]) continue;
    std::int64_t& number = result.values.numbers[lane];
    number = largest ? std::max(number, b.numbers[lane]) : std::min(number, b.numbers[lane]);
    if (result.values.known[lane] == Knowledge::kKnown && b.known[lane] == Knowledge::kKnown) continue;
    result.of_data = true;
    result.values.known[lane] = Knowledge::kUnknown;
  }
  return result;
}

std::optional<LaneValues> ShuffledLanes(std::string_view callee, const LaneValues& values, const LaneValues& by,
                                        const LaneValues& width, const LaneMask& mask) {
  LaneValues result = UnknownLanes(mask.size());
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane]) continue;
    const std::int64_t size = width.numbers[lane], own = static_cast<std::int64_t>(lane % 32), step = by.numbers[lane];
    if (by.known[lane] != Knowledge::kKnown || size < 1 || size > 32 || 32 % size != 0) return std::nullopt;
    const std::int64_t first = own / size * size;
    std::int64_t from = own;
    if (callee == "__shfl_up_sync" && own - step >= first) from = own - step;
    if (callee == "__shfl_down_sync" && own + step < first + size) from = own + step;
    if (callee == "__shfl_xor_sync") from = (own ^ step) < first + size ? own ^ step : own;
    if (callee == "__shfl_sync") from = first + ((step % size) + size) % size;
    const std::size_t source = lane - static_cast<std::size_t>(own) + static_cast<std::size_t>(from);
    // A lane that does not take part gives nothing that is defined.
    if (source >= mask.size() || !mask[source]) continue;
    result.numbers[lane] = values.numbers[source];
    result.known[lane] = values.known[source];
  }
  return result;
}

}  // namespace evo
