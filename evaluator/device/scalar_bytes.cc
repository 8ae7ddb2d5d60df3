#include "evaluator/device/scalar_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/half.h"

namespace evo {
namespace {

template <typename T>
ScalarBytes Store(T value) {
  ScalarBytes stored;
  std::memcpy(stored.bytes.data(), &value, sizeof(value));
  stored.size = sizeof(value);
  return stored;
}

template <typename T>
std::optional<ScalarBytes> StoreInteger(const Number& number) {
  std::int64_t integer = number.integer;
  if (number.is_real) {
    // Every whole number within these bounds is exact as a double.
    constexpr double kWhole = 9007199254740992.0;  // 2^53
    if (!(std::abs(number.real) <= kWhole) || number.real != std::trunc(number.real)) return std::nullopt;
    integer = static_cast<std::int64_t>(number.real);
  }
  if constexpr (std::numeric_limits<T>::is_signed) {
    if (integer < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
        integer > static_cast<std::int64_t>(std::numeric_limits<T>::max())) {
      return std::nullopt;
    }
  } else if (integer < 0 || static_cast<std::uint64_t>(integer) > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
    return std::nullopt;
  }
  return Store(static_cast<T>(integer));
}

}  // namespace

std::optional<ScalarBytes> ToBytes(const ScalarUse& scalar) {
  const Number& value = scalar.value;
  switch (scalar.dtype) {
    case Dtype::kF64:
      return Store(value.AsReal());
    case Dtype::kF32:
      return Store(static_cast<float>(value.AsReal()));
    case Dtype::kF16:
      return Store(ToHalfBits(value.AsReal()));
    case Dtype::kBF16:
      return Store(ToBFloat16Bits(value.AsReal()));
    case Dtype::kI64:
      return StoreInteger<std::int64_t>(value);
    case Dtype::kI32:
      return StoreInteger<std::int32_t>(value);
    case Dtype::kI16:
      return StoreInteger<std::int16_t>(value);
    case Dtype::kI8:
      return StoreInteger<std::int8_t>(value);
    case Dtype::kU64:
      return StoreInteger<std::uint64_t>(value);
    case Dtype::kU32:
      return StoreInteger<std::uint32_t>(value);
    case Dtype::kU16:
      return StoreInteger<std::uint16_t>(value);
    case Dtype::kU8:
      return StoreInteger<std::uint8_t>(value);
  }
  return std::nullopt;
}

namespace {

std::optional<std::vector<std::byte>> FieldBytes(const std::variant<Address, ScalarUse>& field) {
  ScalarBytes bytes;
  if (const auto* address = std::get_if<Address>(&field)) {
    bytes = Store(*address);
  } else {
    const auto scalar = ToBytes(std::get<ScalarUse>(field));
    if (!scalar) return std::nullopt;
    bytes = *scalar;
  }
  return std::vector<std::byte>(bytes.bytes.begin(), bytes.bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size));
}

}  // namespace

std::optional<std::vector<std::byte>> ArgumentBytes(const DeviceArgument& argument) {
  if (const auto* address = std::get_if<Address>(&argument)) return FieldBytes(std::variant<Address, ScalarUse>(*address));
  if (const auto* scalar = std::get_if<ScalarUse>(&argument)) return FieldBytes(std::variant<Address, ScalarUse>(*scalar));
  const auto* whole = std::get_if<DeviceStruct>(&argument);
  if (whole == nullptr) return std::nullopt;
  std::vector<std::byte> bytes;
  std::size_t alignment = 1;
  const auto align = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
  for (const auto& field : whole->fields) {
    const auto one = FieldBytes(field);
    if (!one) return std::nullopt;
    alignment = std::max(alignment, one->size());
    align(one->size());
    bytes.insert(bytes.end(), one->begin(), one->end());
  }
  align(alignment);
  return bytes;
}

}  // namespace evo
