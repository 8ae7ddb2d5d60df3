#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_templates/dtype.h"

namespace evo {

// One array of an .npz file, as numpy.savez and numpy.savez_compressed write them.
struct NpzArray {
  std::string name;                 // without ".npy"
  Dtype dtype = Dtype::kF64;        // of its elements; NumPy's bool is u8
  std::vector<std::int64_t> shape;  // empty for a single number
  std::string bytes;                // the elements, row-major, little endian
};

// More in one file is refused: it travels to every process that runs kernels.
inline constexpr std::uint64_t kMostNpzBytes = std::uint64_t{512} << 20;

// Reads a .npz file from its bytes. `file`: its name, for messages. Throws UsageError with the file, the array, what is wrong and
// what to do: a file that is no .npz or is damaged, arrays in Fortran order or big endian, elements that are not numbers.
std::vector<NpzArray> ParseNpz(std::string_view bytes, const std::string& file);

// "[3, 4]"
std::string ShapeText(const std::vector<std::int64_t>& shape);

}  // namespace evo
