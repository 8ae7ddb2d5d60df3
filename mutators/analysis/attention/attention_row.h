#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mutators/analysis/attention/attention_check.h"

namespace evo {

// What decides one row of an attention, of a thread that computed it.
struct AttentionRow {
  std::vector<std::int64_t> keys;  // that the row sees
  std::vector<double> dots;        // of these: products of the query and the key
  std::vector<double> terms;       // of these: what is added to scores, without its factor
  std::vector<std::size_t> rows;   // of these: where their values begin
  std::vector<double> values;
  std::vector<double> stored;

  // Whether what was stored is the definition's, with the keys from this one of the list on.
  bool IsDefined(double scale, double factor, std::size_t from = 0) const;
  // Whether some other key than that with the largest score counts.
  bool TellsScores(double scale, double factor) const;
  // The largest score, and the logarithm of the sum of the scores' exponentials.
  double Largest(double scale, double factor) const;
  double LogSum(double scale, double factor) const;
};

// nullopt if the thread read something else, or not what its row needs.
std::optional<AttentionRow> AttentionRowOf(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row);

}  // namespace evo
