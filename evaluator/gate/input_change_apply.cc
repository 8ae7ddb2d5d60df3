#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/parallel_ranges.h"
#include "evaluator/gate/input_change.h"

namespace evo {
namespace {

using Kind = InputChange::Kind;
using Row = std::span<double>;

constexpr double kHalfChange = 0.5;
constexpr double kRestScale = 1e-3;

// `next`, unless it is NaN; infinite only where the value was.
double Kept(double value, double next) {
  if (std::isnan(next)) return value;
  if (std::isinf(next) && std::isfinite(value)) return std::copysign(std::numeric_limits<double>::max(), next);
  return next;
}

std::vector<Row> RowsOf(std::vector<double>& values, const Rows& rows) {
  std::vector<Row> result;
  for (std::size_t begin = 0; begin < values.size(); begin += rows.length)
    result.push_back(Row(values).subspan(begin, std::min(rows.length, values.size() - begin)));
  return result;
}

void ForEach(Row values, const std::function<double(double)>& next) {
  ForRanges(values.size(), [&](const Range& range) {
    for (double& value : values.subspan(range.begin, range.end - range.begin)) value = Kept(value, next(value));
  });
}

void Shuffle(Row row, Rng& rng) {
  for (std::size_t i = row.size(); i > 1; --i) std::swap(row[i - 1], row[rng.Below(i)]);
}

void Alternate(Row row, double rest) {
  for (std::size_t i = 0; i + 1 < row.size(); i += 2) row[i + 1] = Kept(row[i + 1], -row[i] + rest * row[i + 1]);
}

void Ramp(Row row, double from, double to) {
  const double last = static_cast<double>(std::max<std::size_t>(row.size(), 2) - 1);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double share = static_cast<double>(i) / last;
    row[i] = Kept(row[i], row[i] + (from * (1 - share) + to * share));
  }
}

// The number that may be left out, or `otherwise`.
double Optional(const InputChange& change, std::size_t position, double otherwise) {
  return change.numbers.size() > position ? change.numbers[position] : otherwise;
}

void Mask(const InputChange& change, Row row, Rng& rng) {
  const double value = change.numbers[0];
  const double share = Optional(change, 1, kHalfChange);
  if (change.kind == Kind::kMaskRandom) {
    for (double& one : row) one = rng.Chance(share) ? value : one;
    return;
  }
  const auto masked = static_cast<std::size_t>(share * static_cast<double>(row.size()));
  std::ranges::fill(change.kind == Kind::kMaskFirst ? row.first(masked) : row.last(masked), value);
}

void ScaleRows(const InputChange& change, std::vector<Row>& rows) {
  const double low = change.numbers[0];
  const double high = change.numbers[1];
  const double last = static_cast<double>(std::max<std::size_t>(rows.size(), 2) - 1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double share = static_cast<double>(r) / last;
    const double factor = low > 0 && high > 0 ? low * std::pow(high / low, share) : low * (1 - share) + high * share;
    ForEach(rows[r], [&](double v) { return v * factor; });
  }
}

// Changes that move values or set them: they keep integers integers.
bool ApplyStructure(const InputChange& change, const Rows& shape, std::vector<double>& values, Rng& rng) {
  std::vector<Row> rows = RowsOf(values, shape);
  switch (change.kind) {
    case Kind::kSpike:
      if (change.numbers.size() == 1) {
        values[DrawPlace(change, shape, rng)] = change.numbers[0];
      } else {
        for (Row row : rows) row[Wrap(change.numbers[1], row.size())] = change.numbers[0];
      }
      return true;
    case Kind::kSpikes:
      for (Row row : rows) row[rng.Below(row.size())] = change.numbers[0];
      return true;
    case Kind::kSortAscending:
      for (Row row : rows) std::ranges::sort(row);
      return true;
    case Kind::kSortDescending:
      for (Row row : rows) std::ranges::sort(row, std::greater<>());
      return true;
    case Kind::kReverse:
      for (Row row : rows) std::ranges::reverse(row);
      return true;
    case Kind::kShuffle:
      for (Row row : rows) Shuffle(row, rng);
      return true;
    case Kind::kRepeat: {
      const auto run = static_cast<std::size_t>(change.numbers[0]);
      for (Row row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i - i % run];
      return true;
    }
    case Kind::kEqualRows:
      for (Row row : rows) std::copy_n(rows.front().begin(), row.size(), row.begin());
      return true;
    case Kind::kConstantRows:
      for (Row row : rows) std::ranges::fill(row, row.front());
      return true;
    case Kind::kSet:
      values[Wrap(change.numbers[0], values.size())] = change.numbers[1];
      return true;
    default:
      return false;
  }
}

}  // namespace

std::size_t DrawPlace(const InputChange& change, const Rows& rows, Rng& rng) {
  if (change.kind == Kind::kSpike) return rng.Below(rows.count);
  return rng.Below(change.kind == Kind::kScaleColumn ? std::min(rows.length, rows.count) : rows.rows());
}

void Apply(const InputChange& change, const Rows& shape, std::vector<double>& values, Rng& rng) {
  if (values.empty() || ApplyStructure(change, shape, values, rng)) return;
  std::vector<Row> rows = RowsOf(values, shape);
  const double last = change.numbers.empty() ? 0 : change.numbers.back();
  // The named or random row or column.
  const auto place = [&](std::size_t size) {
    return change.numbers.size() == 1 ? DrawPlace(change, shape, rng) : Wrap(change.numbers[0], size);
  };
  switch (change.kind) {
    case Kind::kScale:
      return ForEach(values, [&](double v) { return v * last; });
    case Kind::kShift:
      return ForEach(values, [&](double v) { return v + last; });
    case Kind::kAbs:
      return ForEach(values, [](double v) { return std::abs(v); });
    case Kind::kRound:
      return ForEach(values, [&](double v) { return std::round(v / last) * last; });
    case Kind::kScaleRow:
      return ForEach(rows[place(rows.size())], [&](double v) { return v * last; });
    case Kind::kShiftRow:
      return ForEach(rows[place(rows.size())], [&](double v) { return v + last; });
    case Kind::kScaleColumn: {
      const std::size_t column = place(rows.front().size());
      for (Row row : rows)
        if (column < row.size()) ForEach(row.subspan(column, 1), [&](double v) { return v * last; });
      return;
    }
    case Kind::kScaleRows:
      return ScaleRows(change, rows);
    case Kind::kMaskFirst:
    case Kind::kMaskSecond:
    case Kind::kMaskRandom:
      for (Row row : rows) Mask(change, row, rng);
      return;
    case Kind::kRamp:
      for (Row row : rows) Ramp(row, change.numbers[0], change.numbers[1]);
      return;
    case Kind::kAlternate:
      for (Row row : rows) Alternate(row, Optional(change, 0, kRestScale));
      return;
    default:
      return;  // changes of integers do not apply
  }
}

void ApplyToIntegers(const InputChange& change, const Generator& generator, std::int64_t bound, const Rows& shape,
                     std::vector<double>& values, Rng& rng) {
  if (values.empty()) return;
  const double largest = static_cast<double>(bound) - 1;
  switch (change.kind) {
    case Kind::kAllSmallest:
      std::ranges::fill(values, 0.0);
      return;
    case Kind::kAllLargest:
      std::ranges::fill(values, largest);
      return;
    case Kind::kTakeAll: {
      if (values.size() < 2) return;
      const std::size_t row = Wrap(change.numbers[0], values.size() - 1);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = i <= row ? 0 : static_cast<double>(bound);
      return;
    }
    default:
      break;
  }
  const bool permutation = generator.kind == Generator::Kind::kPermutation;
  ApplyStructure(change, permutation ? Rows{values.size(), values.size()} : shape, values, rng);
  if (generator.kind == Generator::Kind::kIndex)
    for (double& value : values) value = std::clamp(std::trunc(value), 0.0, largest);
}

}  // namespace evo
