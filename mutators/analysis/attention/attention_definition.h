#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// An attention of matrices [heads, rows or keys, depth] whose elements are next to each other. Some heads may lie inside of the
// rows: [heads / inside, rows or keys, inside, depth].
struct AttentionShape {
  std::int64_t heads = 1, rows = 1, keys = 1, depth = 1;
  bool causal = false;
  std::int64_t inside = 1;

  std::int64_t IndexOf(std::int64_t head, std::int64_t line, std::int64_t lines, std::int64_t column) const {
    return ((head / inside * lines + line) * inside + head % inside) * depth + column;
  }
};

// What such an attention gives by its definition, for the elements of three buffers.
class AttentionDefinition {
 public:
  using Elements = std::function<double(std::int64_t)>;
  AttentionDefinition(const AttentionShape& shape, Elements q, Elements k, Elements v)
      : shape_(shape), q_(std::move(q)), k_(std::move(k)), v_(std::move(v)) {}

  // Whether what was stored is that, with this scale: of one row, or of all rows that have stored elements.
  bool HoldsFor(const BufferContents& stored, double scale, std::int64_t head, std::int64_t row) const;
  bool HoldsFor(const BufferContents& stored, double scale) const;
  // Whether each row's logarithm of sums is that.
  bool HoldsForSums(const BufferContents& stored, double scale) const;

 private:
  struct Row {
    std::vector<double> weights;
    double log_sum = 0;
  };
  Row RowOf(double scale, std::int64_t head, std::int64_t row) const;

  AttentionShape shape_;
  Elements q_, k_, v_;
};

}  // namespace evo
