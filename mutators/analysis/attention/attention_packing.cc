#include "mutators/analysis/attention/attention_packing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace evo {
namespace {

// Beyond all declarations of a source.
constexpr int kDistanceOfParts = 1 << 24;
constexpr std::int64_t kPlacesOfQueries = 3;

using PackedElements = std::map<std::int64_t, ThreadTrace::Access>;

// Where each row begins among elements of which `depth` follow each other; empty if they do not.
std::vector<std::int64_t> RowsIn(const PackedElements& elements, std::int64_t depth) {
  std::vector<std::int64_t> rows;
  std::int64_t place = 0, expected = 0;
  for (const auto& [index, access] : elements) {
    if (place == 0) rows.push_back(expected = index);
    if (index != expected++) return {};
    place = (place + 1) % depth;
  }
  return place == 0 ? rows : std::vector<std::int64_t>{};
}

}  // namespace

int BufferOfPart(int part) { return part < kDistanceOfParts ? part : part % kDistanceOfParts; }

std::vector<AttentionPacking> PackingsOf(const ThreadTrace& trace) {
  std::vector<AttentionPacking> packings;
  if (trace.stores.size() != 1) return packings;
  const auto depth = static_cast<std::int64_t>(trace.stores.begin()->second.size());
  for (const auto& [parameter, elements] : trace.reads) {
    const std::size_t rows = RowsIn(elements, depth).size();
    if (rows < 4) continue;  // with two keys at least
    for (const bool by_token : {true, false}) {
      if (rows % 2 == 0) {
        packings.push_back({parameter, depth, by_token, -1});
        continue;
      }
      for (int query = 0; query < kPlacesOfQueries; ++query) packings.push_back({parameter, depth, by_token, query});
    }
  }
  return packings;
}

void SplitParts(const AttentionPacking& packing, std::int64_t row, ThreadTrace& trace) {
  const auto packed = trace.reads.find(packing.buffer);
  if (packed == trace.reads.end()) return;
  const std::vector<std::int64_t> rows = RowsIn(packed->second, packing.depth);
  const std::size_t keys = rows.size() / 2;
  if (rows.empty() || rows.size() % 2 != (packing.query < 0 ? 0 : 1)) return;
  // Of a row whose token is no key that it reads, the queries come before those of tokens behind it, of which there are none.
  const std::size_t query = packing.query < 0  ? rows.size()
                            : packing.by_token ? std::min(static_cast<std::size_t>(2 * row + packing.query), 2 * keys)
                                               : keys * static_cast<std::size_t>(packing.query);
  int places[2] = {0, 1};
  if (packing.query == 0) places[0] = 1;
  if (packing.query >= 0 && packing.query < 2) places[1] = 2;
  const PackedElements elements = std::move(packed->second);
  trace.reads.erase(packed);
  std::size_t number = 0;  // among the rows of keys and values
  for (std::size_t i = 0; i < rows.size(); ++i) {
    int place = packing.query;
    if (i != query) {
      place = places[(packing.by_token ? number % 2 : number / keys) == 0 ? 0 : 1];
      ++number;
    }
    auto& part = trace.reads[packing.buffer + (place + 1) * kDistanceOfParts];
    for (auto at = elements.find(rows[i]); at != elements.end() && at->first < rows[i] + packing.depth; ++at) part.insert(*at);
  }
}

}  // namespace evo
