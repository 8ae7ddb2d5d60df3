#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/attention/attention_check.h"
#include "mutators/mutator.h"

namespace evo {

// A kernel in which each thread computes one row of an attention:
//   O[row][d] = sum over keys of softmax(scale * sum over d of Q[row][d] * K[key][d] + term(row, key)) * V[key][d]
// How it does so does not matter: in which loops, functions, arrays and passes, with which start of the largest score, or with
// sums that shrink when a larger score comes. It is found by running threads on numbers (thread_run.h), whose results are
// compared with the definition for several lengths, and by following how the indices of what they read and store are computed.
struct Attention {
  // One of Q, K, V and O: element d of row r has the index `base + r * stride + d`.
  struct Matrix {
    int parameter = -1;  // of the kernel
    std::string base;    // the same for all threads of a block
    std::string stride;  // likewise
    bool operator==(const Matrix&) const = default;
  };
  // Elements for a row and a key: `base + row * row_stride + key * key_stride`.
  struct Plane {
    int parameter = -1;  // -1: none
    std::string base, row_stride, key_stride;
    std::string type;  // of elements
    bool operator==(const Plane&) const = default;
  };
  // What is added to scores: elements of a plane, or `key - row` or its absolute value, times an element if there is a plane; all
  // times a factor.
  struct Term {
    ScoreTerm::Kind kind = ScoreTerm::Kind::kNone;
    Plane plane;
    std::string factor;
    bool operator==(const Term&) const = default;
  };
  // A plane of integers of which zeros, or the others, hide keys. These have this score; empty: they have no weight.
  struct Mask {
    Plane plane;
    bool shows_zero = false;
    std::string hidden;
    std::string length;  // in the place of a plane: the number of keys of which those behind it are hidden
    bool any() const { return plane.parameter >= 0 || !length.empty(); }
    bool operator==(const Mask&) const = default;
  };
  // What the kernel stores for a row whose weights are all zero: 0 / 0, zero, or nothing.
  enum class Unweighted : std::uint8_t { kUndefined, kZero, kNothing };
  int kernel = -1;
  int launch_bounds = -1;  // its `__launch_bounds__`, which are of its own block; -1 for none
  const LaunchDirective* launch = nullptr;
  std::size_t axis = 0;  // of the grid, along which the blocks have other rows
  std::string extent;    // the rows of a block, as the launch line says it
  Matrix q, k, v, o;
  // If the launch's threads have one index for the rows of all heads, what the new grid has: rows of a head, and heads, as the
  // launch line says them. Heads are along the second axis then.
  std::string flat_rows, flat_heads;
  std::string element;     // IsTensorElement, or float
  std::string output;      // type of O's elements: `element` or float
  std::int64_t depth = 0;  // d is below it
  std::string depth_name;  // how the source spells it
  // Where a size of the task decides how many elements a row has, an expression of sizes, and depth_name is a free name for what
  // becomes a compiled-in size; `depth` is some number then. Empty: the source says it.
  std::string depth_size;
  std::int64_t depth_limit = 0;  // the largest such number for which this was shown; 0: any
  std::string rows;              // row is below it
  std::string keys;              // key is below it
  bool causal = false;           // whether a row has the keys 0 to row only
  std::string scale;             // of type float or double
  Term term;
  Mask mask;
  // Where each row stores numbers of its scores, too, as floats.
  struct Statistics {
    Plane sums;            // the logarithm of the sum of their exponentials
    Plane largest;         // the largest
    Plane weights;         // the sum of the exponentials of what they are above that
    bool started = false;  // whether the largest begins with what is there
    bool operator==(const Statistics&) const = default;
    bool any() const { return sums.parameter >= 0 || largest.parameter >= 0 || weights.parameter >= 0; }
  };
  Statistics beside;
  std::string after;  // of causal rows: how many keys are before that of row 0; empty: none
  // Of float only: how many of the elements of a row queries and keys have, and values and the output; empty: all.
  std::string query_width, value_width;
  std::string window;  // of causal rows: how many keys they have at most, the last of which is their own; empty: all
  // Whether each row has keys of its own, as the one query of a head has in decoding. Then a block has one row, strides of Q and
  // O are 0, and the texts may name the row: blockIdx, or this variable, which `rows` bounds.
  bool own_keys = false;
  int row = -1;               // its declaration; -1 for blockIdx itself
  std::string launched_rows;  // `rows` as the launch line says it; empty if the grid stays
  bool keyless = false;       // whether rows may have no keys
  Unweighted unweighted = Unweighted::kUndefined;
  std::vector<int> guards;          // statements `if (..) return;` that hold or do not hold for all threads of all blocks
  std::vector<int> declarations;    // VarDecls of which the texts above need the names, in order
  Parameters parameters;            // the only values for which this was shown
  std::int64_t largest_number = 0;  // of the integers in the code
  bool operator==(const Attention&) const = default;
};

// The kernel as an attention. Else why it is none; empty if nobody would take it for one.
std::variant<Attention, std::string> AsAttention(const MutationContext& context, int kernel);

}  // namespace evo
