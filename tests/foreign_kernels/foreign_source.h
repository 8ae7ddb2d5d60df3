#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/half.h"
#include "kernel_templates/task.h"

namespace evo {

// Two comments of a kernel in a file of its own say on what it runs:
//   buffers: NAME dtype[<BOUND] in|out|inout [SHAPE], ..
//   sizes: N=1; N=300
struct ForeignBuffer {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::uint32_t bound = 0;  // of integers
  bool out = false;
  bool drawn = true;  // whether it begins with random numbers
  std::string shape;
  std::string counted;  // how many of its elements are compared, from `evo:counted`; empty for all
};

// The text after `// WORD: `.
inline std::string CommentOf(const std::string& text, const std::string& word) {
  const std::string mark = "// " + word + ": ";
  const std::size_t at = text.find(mark);
  EXPECT_NE(at, std::string::npos) << word;
  return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
}

inline std::vector<ForeignBuffer> BuffersOf(const std::string& text) {
  std::vector<ForeignBuffer> buffers;
  std::istringstream words(CommentOf(text, "buffers"));
  ForeignBuffer next;
  for (std::string type, role; words >> next.name >> type >> role && std::getline(words, next.shape, ']');) {
    const std::size_t less = type.find('<');
    next.dtype = ParseDtype(type.substr(0, less)).value();
    next.bound = less == std::string::npos ? 0 : static_cast<std::uint32_t>(std::stoul(type.substr(less + 1)));
    next.out = role != "in";
    next.drawn = role != "out";
    next.shape.erase(0, next.shape.find('[') + 1);
    const std::string counted = "// evo:counted " + next.name + " ";
    const std::size_t at = text.find(counted);
    next.counted = at == std::string::npos ? "" : text.substr(at + counted.size(), text.find('\n', at) - at - counted.size());
    buffers.push_back(next);
    words.ignore();  // the comma
  }
  return buffers;
}

// A task for each line of sizes. Its reference is not run.
inline std::vector<Task> TasksOf(const std::string& text) {
  std::vector<Task> tasks;
  std::istringstream choices(CommentOf(text, "sizes"));
  for (std::string choice; std::getline(choices, choice, ';');) {
    std::vector<std::string> names, sizes, arguments, passed, parameters;
    std::istringstream words(choice);
    for (std::string word; words >> word;) {
      names.push_back(fmt::format("\"{}\"", word.substr(0, word.find('='))));
      sizes.push_back(fmt::format("{}: {}", names.back(), word.substr(word.find('=') + 1)));
    }
    for (const ForeignBuffer& buffer : BuffersOf(text)) {
      std::vector<std::string> shape;
      std::istringstream dimensions(buffer.shape);
      for (std::string dimension; std::getline(dimensions, dimension, ',');) shape.push_back(fmt::format("\"{}\"", dimension));
      std::string check = IsFloating(buffer.dtype) ? R"("check": {"l2": 1e-5, "max": 1e-4})" : R"("check": "exact")";
      if (!buffer.counted.empty()) check += fmt::format(R"(, "counted": "{}")", buffer.counted);
      const std::string drawn = IsFloating(buffer.dtype) ? R"("generators": ["normal"])" : R"("generators": ["index<2"])";
      arguments.push_back(fmt::format(R"({{"name": "{}", "role": "{}", "dtype": "{}", "shape": [{}], {}}})", buffer.name,
                                      buffer.out ? "out" : "in", ToString(buffer.dtype), fmt::join(shape, ", "),
                                      buffer.out ? check : drawn));
      passed.push_back(buffer.name);
      parameters.push_back(fmt::format("void* {}", buffer.name));
    }
    std::string cases;
    for (const char* name : {"search", "search_cpu", "held_out", "held_out_cpu"})
      cases += fmt::format(R"(, "{0}": [{{"name": "{0}", "sizes": {{{1}}}}}])", name, fmt::join(sizes, ", "));
    tasks.push_back(ParseTask(fmt::format(R"({{"name": "foreign", "summary": "one", "sizes": [{}], "arguments": [{}],
            "cases": {{"small": {{"name": "small", "sizes": {{{}}}}}{}}},
            "baseline": "naive", "bytes": "1", "operations": "1"}})",
                                          fmt::join(names, ", "), fmt::join(arguments, ", "), fmt::join(sizes, ", "), cases),
                              fmt::format("// evo:launch nothing({}) grid(1) block(1)\n__global__ void nothing({}) {{}}\n",
                                          fmt::join(passed, ", "), fmt::join(parameters, ", ")),
                              "foreign"));
  }
  return tasks;
}

// Random contents of a buffer, as bytes.
inline std::vector<std::byte> Drawn(const ForeignBuffer& buffer, std::size_t elements, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<std::byte> bytes(elements * ByteSize(buffer.dtype));
  for (std::size_t i = 0; i < elements; ++i) {
    std::byte* const at = bytes.data() + i * ByteSize(buffer.dtype);
    const float real = normal(random);
    const auto integer = static_cast<std::uint32_t>(random() % std::max(1u, buffer.bound));
    if (buffer.dtype == Dtype::kF32) {
      std::memcpy(at, &real, sizeof(real));
    } else if (buffer.dtype == Dtype::kF64) {
      const double longer = static_cast<double>(real);
      std::memcpy(at, &longer, sizeof(longer));
    } else if (IsFloating(buffer.dtype)) {
      const std::uint16_t shortened = buffer.dtype == Dtype::kF16 ? ToHalfBits(real) : ToBFloat16Bits(real);
      std::memcpy(at, &shortened, sizeof(shortened));
    } else
      std::memcpy(at, &integer, std::min(sizeof(integer), ByteSize(buffer.dtype)));
  }
  return bytes;
}

// The numbers that a buffer holds.
inline void Append(const ForeignBuffer& buffer, std::span<const std::byte> bytes, std::vector<double>& stored) {
  for (std::size_t at = 0; at < bytes.size(); at += ByteSize(buffer.dtype)) {
    if (buffer.dtype == Dtype::kF64) {
      std::memcpy(&stored.emplace_back(), bytes.data() + at, sizeof(double));
      continue;
    }
    if (buffer.dtype == Dtype::kI64 || buffer.dtype == Dtype::kU64) {
      std::int64_t longer = 0;  // of a few thousand small numbers
      std::memcpy(&longer, bytes.data() + at, sizeof(longer));
      stored.push_back(static_cast<double>(longer));
      continue;
    }
    float real = 0;
    std::uint32_t integer = 0;
    std::memcpy(&integer, bytes.data() + at, std::min(sizeof(integer), ByteSize(buffer.dtype)));
    std::memcpy(&real, &integer, sizeof(real));
    if (buffer.dtype == Dtype::kF16) real = FromHalfBits(static_cast<std::uint16_t>(integer));
    if (buffer.dtype == Dtype::kBF16) real = FromBFloat16Bits(static_cast<std::uint16_t>(integer));
    stored.push_back(IsFloating(buffer.dtype) ? static_cast<double>(real) : static_cast<double>(integer));
  }
}

// How far apart values may be, as a part of the largest one: as the rounding of a sum of some thousand terms, or of a few
// numbers of the shortest type that is stored or read; bytes that were rounded from sums may differ by one.
inline double ToleranceOf(const std::string& text) {
  double tolerance = 2e-5;
  for (const ForeignBuffer& buffer : BuffersOf(text)) {
    if (buffer.dtype == Dtype::kF16) tolerance = std::max(tolerance, 2e-3);
    if (buffer.dtype == Dtype::kBF16) tolerance = std::max(tolerance, 1.6e-2);
    if (buffer.dtype == Dtype::kU8 && buffer.out) tolerance = std::max(tolerance, 1.0 / 128);
  }
  return tolerance;
}

// How many outputs differ by more than a part of the largest one. Those of an exact child must be equal: a tolerance of 0.
inline int Differences(const std::vector<double>& expected, const std::vector<double>& stored, double tolerance) {
  if (expected.empty() || expected.size() != stored.size()) return -1;
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::fabs(value));
  int differences = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(stored[i])) continue;
    differences += !(std::fabs(expected[i] - stored[i]) <= tolerance * scale);
  }
  return differences;
}

}  // namespace evo
