#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace evo {

// The element types of arguments. Task files name them f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8.
enum class Dtype { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8 };

std::optional<Dtype> ParseDtype(std::string_view name);
std::string_view ToString(Dtype dtype);
std::size_t ByteSize(Dtype dtype);
bool IsFloating(Dtype dtype);
// The largest finite number of a floating type; of an integer type that of a double.
double LargestFinite(Dtype dtype);

}  // namespace evo
