#include "kernel_templates/dtype.h"

#include <array>
#include <cstddef>
#include <limits>

namespace evo {
namespace {

struct Row {
  std::string_view name;
  std::size_t bytes;
  bool floating;
};

// In the order of the enumeration.
constexpr std::array<Row, 12> kRows{{
    {"f64", 8, true},
    {"f32", 4, true},
    {"f16", 2, true},
    {"bf16", 2, true},
    {"i64", 8, false},
    {"i32", 4, false},
    {"i16", 2, false},
    {"i8", 1, false},
    {"u64", 8, false},
    {"u32", 4, false},
    {"u16", 2, false},
    {"u8", 1, false},
}};

const Row& RowOf(Dtype dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::optional<Dtype> ParseDtype(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

std::string_view ToString(Dtype dtype) { return RowOf(dtype).name; }
std::size_t ByteSize(Dtype dtype) { return RowOf(dtype).bytes; }
bool IsFloating(Dtype dtype) { return RowOf(dtype).floating; }

double LargestFinite(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case Dtype::kF16:
      return 65504;
    case Dtype::kBF16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace evo
