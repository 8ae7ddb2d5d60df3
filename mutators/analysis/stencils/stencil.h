#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A kernel whose threads each compute one element of a grid of two or three dimensions from the elements around it: what it reads
// of some buffers is the thread's own place, moved by a few columns, rows and planes that do not depend on the thread. Past an
// edge it reads nothing, the nearest element, or the one at the other edge. How it finds its place and its neighbours does not
// matter: both are found by running its threads on numbers (thread_run.h). What it computes of them is not looked at.
struct Stencil {
  static constexpr std::size_t kElement = 3, kStored = 4;  // behind the axes
  // A number as an expression of the kernel's parameters, and of the launch line.
  struct Number {
    std::string kernel;
    std::string launch;
  };
  // Coordinates from `low` to before `end`. Where `from` is a number, it is that, and `low` is 0.
  struct Range {
    std::int64_t low = 0;
    Number end;
    Number from = {};
    bool BeginsAtZero() const { return low == 0 && from.kernel.empty(); }
    // Where it begins, plus a number, as the kernel and as the launch line have it.
    std::string Low(std::int64_t more = 0) const { return Sum(from.kernel, more); }
    std::string LowOfLaunch() const { return Sum(from.launch, 0); }
    bool BeginsAs(const Range& other) const { return low == other.low && from.kernel == other.from.kernel; }
    // With the values of a launch's sizes (LaunchRuns::Setting).
    template <typename Setting>
    std::int64_t LowIn(const Setting& setting) const {
      return from.launch.empty() ? low : setting.ValueOf(from.launch);
    }

   private:
    std::string Sum(const std::string& begin, std::int64_t more) const {
      if (begin.empty()) return std::to_string(low + more);
      return more == 0 ? begin : begin + (more < 0 ? " - " : " + ") + std::to_string(more < 0 ? -more : more);
    }
  };
  // What a variable is for a thread: a coordinate, the element's index (kElement), or its number among those that are stored
  // (kStored), plus `shift`.
  struct Role {
    std::size_t axis = 0;
    std::int64_t shift = 0;
    bool IsCoordinate() const { return axis < kElement; }
    bool operator==(const Role&) const = default;
  };
  // A distance along an axis: a number plus multiples of the counters of loops.
  struct Offset {
    std::int64_t constant = 0;
    std::vector<std::pair<int, std::int64_t>> factors;
  };
  // An expression that reads a neighbour.
  struct Site {
    int node = -1;
    int buffer = -1;
    std::array<Offset, 3> offsets;
  };

  // A few elements of a buffer that all elements of a box read, and no others do: weights.
  struct Table {
    int buffer = -1;
    std::int64_t low = 0, count = 0;  // of its elements
    std::set<int> nodes;              // expressions that read them, `a[..]`
    std::array<Range, 3> readers;
  };

  int kernel = -1;
  const LaunchDirective* launch = nullptr;
  std::size_t dimensions = 2;     // axis 0 is that of neighbouring elements
  std::array<Number, 2> lengths;  // elements from a row to the next; rows from a plane to the next
  std::vector<int> buffers;       // parameters whose neighbours are read, and which are not stored to
  std::vector<int> stored;        // parameters that are stored to, at the thread's own element
  std::vector<Site> sites;        // in source order
  std::vector<Table> tables;
  std::array<std::int64_t, 3> lowest{}, highest{};  // offsets of all sites along each axis; 0 is one of them
  std::array<Range, 3> stores, reads;               // the elements that are stored, and those of `buffers` that are read
  std::array<bool, 3> periodic{};                   // axes along which the other edge of `reads` follows an edge
  std::map<int, Role> roles;                        // variables that differ from thread to thread, by declaration
  std::vector<int> statements;                      // what a thread does for its element
  std::set<int> of_tile;                            // others, which only bring elements into shared memory and keep threads away
  std::set<int> effects;                            // statements that change more than elements (stencil_effects.h)
  std::set<int> loops;                              // loops around sites
  std::map<int, std::string> once;                  // counters of loops that run once and are left out, and their values
  std::vector<Number> whole_blocks;                 // `kernel` must be a multiple of `launch`: the grid has only whole blocks
  // Statements that store no elements.
  std::set<int> Beside() const {
    std::set<int> beside = of_tile;
    beside.insert(effects.begin(), effects.end());
    return beside;
  }
  // A line of elements: the second axis has one place.
  bool IsLine() const { return dimensions == 2 && stores[1].end.kernel == "1"; }
  bool wide = false;      // whether indices are of 64 bits
  Parameters parameters;  // the only values for which this was shown
};

// The kernel as a stencil. Else why it is none; empty if nobody would take it for one.
std::variant<Stencil, std::string> AsStencil(const MutationContext& context, int kernel);

}  // namespace evo
