#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// An attention of matrices [heads, rows or keys, depth] whose elements are next to each other. Some heads may lie inside of the
// rows: [heads / inside, rows or keys, inside, depth]. Queries, keys and values may be in one buffer: [heads / inside, rows, 3,
// inside, depth].
struct AttentionShape {
  std::int64_t heads = 1, rows = 1, keys = 1, depth = 1;
  bool causal = false;
  std::int64_t inside = 1;
  bool packed = false;

  enum class Part : std::uint8_t { kQueries, kKeys, kValues };
  std::int64_t IndexIn(Part part, std::int64_t head, std::int64_t line, std::int64_t lines, std::int64_t column) const {
    if (!packed) return IndexOf(head, line, lines, column);
    const std::int64_t at = (head / inside * lines + line) * 3 + static_cast<std::int64_t>(part);
    return (at * inside + head % inside) * depth + column;
  }
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
  // What some numbers of each row, by the rows' numbers in all heads, may be of its scores: one of these in all rows, of which
  // some have been stored in each buffer.
  using Statistics = std::map<std::string, ScoreStatistic>;
  std::vector<Statistics> StatisticsOf(std::vector<Statistics> choices, const std::map<std::string, BufferContents>& stored,
                                       const std::map<std::string, Elements>& starts, double scale) const;

 private:
  struct Row {
    std::vector<double> weights;
    double largest = 0, log_sum = 0;
  };
  Row RowOf(double scale, std::int64_t head, std::int64_t row) const;

  AttentionShape shape_;
  Elements q_, k_, v_;
};

}  // namespace evo
