#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "kernel_templates/task.h"

namespace evo {

// One change of drawn values. Rows run along the last dimension of the argument; an argument of one dimension is one row. A row,
// column or element that is negative counts from the end (-1 is the last), and one that is too large wraps round.
struct InputChange {
  enum class Kind {
    // of real numbers
    kScale,        // (s): every value times s
    kShift,        // (s): every value plus s
    kAbs,          // the absolute values
    kRound,        // (step): to multiples of step, which makes ties
    kScaleRow,     // ([row,] s): one row times s, a random one if none is named
    kShiftRow,     // ([row,] s)
    kScaleColumn,  // ([column,] s)
    kScaleRows,    // (low, high): the first row times low, the last one times high, the others geometrically between
    kSpike,        // (v[, column]): that column of every row becomes v; without a column one random element
    kSpikes,       // (v): one random column of every row becomes v
    kMaskFirst,    // (v[, share]): the first part of every row becomes v; a half if no share is named
    kMaskSecond,   // (v[, share]): the last part
    kMaskRandom,   // (v[, share]): random elements
    kRamp,         // (a, b): adds a at the start of every row, b at its end, and evenly between
    kAlternate,    // ([rest]): each second value becomes minus the one before it, plus rest (0.001) times itself
    // of real numbers and of integers
    kSortAscending,  // each row; a permutation as a whole
    kSortDescending,
    kReverse,
    kShuffle,
    kRepeat,        // (n): runs of n equal neighbours in every row
    kEqualRows,     // every row like the first
    kConstantRows,  // every row is its first value
    kSet,           // (element, v): the element at that place of the whole array becomes v
    // of integers
    kAllSmallest,
    kAllLargest,
    kTakeAll,  // (row): of offsets: this row has all elements, and the others are empty
  };
  Kind kind = Kind::kScale;
  std::vector<double> numbers;  // as in parentheses above

  bool operator==(const InputChange&) const = default;
};

// What a number of a change means, and so which numbers are legal and how one is varied.
enum class NumberRole {
  kFactor,  // finite
  kAmount,  // finite
  kValue,   // any but NaN
  kShare,   // 0 to 1
  kCount,   // a whole number of at least 1
  kPlace,   // a whole number
};

// How a kind of change is written.
struct ChangeForm {
  InputChange::Kind kind;
  std::string_view name;
  std::vector<NumberRole> numbers;
  int optional = -1;  // position of the number that may be left out; -1: none
};
std::span<const ChangeForm> ChangeForms();
const ChangeForm& FormOf(InputChange::Kind kind);
// The role of each number that this change has.
std::vector<NumberRole> RolesOf(const InputChange& change);

// "spike(212,511)"; without parentheses if it has no numbers.
std::string ToText(const InputChange& change);
// Throws Error, which says what is wrong but not where.
InputChange ParseInputChange(std::string_view text);
// What is wrong with the numbers of a change, or an empty text.
std::string Fault(const InputChange& change);

// Whether the change keeps values of that generator legal: real numbers take any change of real numbers, integers only those that
// leave them what they are: indices under their bound, a permutation, or ascending offsets.
bool Fits(InputChange::Kind change, Generator::Kind generator, Dtype dtype);

// The shape of an argument, as rows.
struct Rows {
  std::size_t count = 0;   // of elements
  std::size_t length = 1;  // of a row; the last one may be shorter
  std::size_t rows() const { return (count + length - 1) / length; }
};

// The random element of a kSpike without a column, or the random row or column of the others. Consumes the stream as Apply does.
std::size_t DrawPlace(const InputChange& change, const Rows& rows, Rng& rng);
// A place as written to an index below `size`.
std::size_t Wrap(double place, std::size_t size);

// Changes real numbers. A finite value stays finite unless the change sets it to an infinity; no value becomes NaN.
void Apply(const InputChange& change, const Rows& rows, std::vector<double>& values, Rng& rng);
// Changes integers drawn by `generator`, which stay what that generator may draw. `bound` is the value of its bound.
void ApplyToIntegers(const InputChange& change, const Generator& generator, std::int64_t bound, const Rows& rows,
                     std::vector<double>& values, Rng& rng);

}  // namespace evo
