#pragma once

#include <algorithm>
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
// inside, depth]. Several heads may share keys and values.
struct AttentionShape {
  std::int64_t heads = 1, rows = 1, keys = 1, depth = 1;
  bool causal = false;
  std::int64_t inside = 1;
  bool packed = false;
  std::int64_t value_depth = 1;                      // elements of a row of values and of the output
  std::int64_t output_inside = 1;                    // heads inside of the output's rows
  std::int64_t share_outside = 1, share_inside = 1;  // heads that share keys, of those outside and inside of the rows
  std::int64_t room = 1;                             // lines of a head's keys, of which `keys` count
  std::int64_t after = 0;                            // of causal rows: keys before that of the first row

  enum class Part : std::uint8_t { kQueries, kKeys, kValues };
  std::int64_t IndexIn(Part part, std::int64_t head, std::int64_t line, std::int64_t column) const {
    const std::int64_t outer = head / inside, inner = head % inside;
    if (packed) return (((outer * rows + line) * 3 + static_cast<std::int64_t>(part)) * inside + inner) * depth + column;
    if (part == Part::kQueries) return ((outer * rows + line) * inside + inner) * depth + column;
    const std::int64_t own = part == Part::kKeys ? depth : value_depth;
    return ((outer / share_outside * room + line) * (inside / share_inside) + inner / share_inside) * own + column;
  }
  std::int64_t OutputIndex(std::int64_t head, std::int64_t row, std::int64_t column) const {
    return ((head / output_inside * rows + row) * output_inside + head % output_inside) * value_depth + column;
  }
  // The keys that a row sees, if nothing else hides some.
  std::int64_t SeenBy(std::int64_t row) const {
    return causal ? std::max<std::int64_t>(0, std::min(row + 1 + after, keys)) : keys;
  }
};

// What an attention gives by its definition, for the elements of three buffers.
class AttentionDefinition {
 public:
  using Elements = std::function<double(std::int64_t)>;
  AttentionDefinition(const AttentionShape& shape, Elements q, Elements k, Elements v)
      : shape_(shape), q_(std::move(q)), k_(std::move(k)), v_(std::move(v)) {}

  // What is added to the score of a head, a row and a key, times the scale if `scaled`; minus infinity hides the key.
  using Term = std::function<double(std::int64_t head, std::int64_t row, std::int64_t key)>;
  void Add(Term term, bool scaled) { term_ = std::move(term), scaled_ = scaled; }

  // Whether what was stored is that, with this scale: of one row, or of all rows that have stored elements. A row that sees no
  // keys must be no number.
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
    bool empty = true;  // whether all keys are hidden
  };
  Row RowOf(double scale, std::int64_t head, std::int64_t row) const;

  AttentionShape shape_;
  Elements q_, k_, v_;
  Term term_;
  bool scaled_ = false;
  // Of the row that was looked at last: its sums of products.
  struct Dots {
    std::int64_t head = -1, row = -1;
    std::vector<double> sums;
  };
  mutable Dots last_;
};

}  // namespace evo
