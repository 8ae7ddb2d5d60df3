#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/reduction_elements.h"

namespace evo {

// What was reduced so far, as a sum of its elements' fingerprints: random numbers, so that sets of elements that differ, or have
// an element twice, have different sums.
struct Partial {
  std::uint64_t elements = 0;
  std::int64_t count = 0;
  bool defined = false;
  bool initial = false;  // whether a constant is in it
};
std::uint64_t FingerprintOf(std::int64_t element);

// The numbers with which a kernel runs.
struct RunSetting {
  std::map<std::string, std::int64_t, std::less<>> macros;
  std::map<int, std::int64_t> parameters;  // by declaration; others are not known
  std::int64_t threads = 0;                // of a block of one dimension
  std::int64_t blocks = 0;                 // of the grid's first dimension
  std::int64_t block = 0;                  // that runs
};

// What one block did.
struct BlockRun {
  std::string refusal;             // why it is not understood; then nothing else counts
  Partial result;                  // of all stores to global memory together
  int stores = 0;                  // how many threads stored
  std::set<int> outputs;           // the statements that stored
  int data = -1;                   // the part of the stored value that has the elements
  std::optional<std::int64_t> at;  // the index that was stored to, of the last store; nullopt: none, or not known
  std::set<std::string> initials;  // constants with which partial results begin, as spelled
  std::set<std::string> combines;  // "+", "max", "min"
};

// Runs one block of a reduction on numbers instead of data: all its threads go through the statements together, indices and
// conditions are computed, and of the data is known which elements are in them. A race in shared memory, a barrier that not all
// threads reach, and whatever is not understood are refusals.
class LockstepRun {
 public:
  // The arguments outlive the object.
  LockstepRun(const SyntaxTree& tree, int kernel, const ReductionElements& elements, const RunSetting& setting);
  BlockRun Run();

 private:
  using Mask = std::vector<char>;
  using Integers = std::vector<std::int64_t>;
  using Partials = std::vector<Partial>;
  struct Cell {
    Partial value;
    int writer = -1, write_phase = -1, reader = -1, read_phase = -1;
    bool atomic = false;
  };
  struct Place {
    int array = -1;
    Integers index;
  };

  bool Refuse(const std::string& why);
  bool refused() const { return !run_.refusal.empty(); }
  std::string Quoted(int node) const;

  void Execute(int statement, Mask mask);
  void ExecuteIf(int statement, const Mask& mask);
  void ExecuteLoop(int statement, const Mask& mask);
  void ExecuteExpression(int node, const Mask& mask);
  void Declare(int variable, const Mask& mask);
  void Assign(int node, const Mask& mask);
  void AssignVariable(int node, int variable, const Mask& mask);
  void Atomic(int call, const Mask& mask);
  void Store(int statement, int target, int value, const Mask& mask);
  bool Barrier(const Mask& mask);

  Mask Where(int condition, const Mask& mask);
  Integers Integer(int expression, const Mask& mask);
  Integers IntegerOperation(int expression, std::string_view spelled, const Mask& mask);
  Integers Named(int expression);
  Integers Constant(std::string_view text);

  Partials Data(int expression, const Mask& mask);
  Partials Element(int expression, const Mask& mask);
  Partials Initial(int expression, const Mask& mask);
  Partials Combined(std::string_view combine, const Partials& a, const Partials& b, const Mask& mask);
  Partials OfVariable(int variable, const Mask& mask);
  Partials Read(int expression, const Mask& mask);
  void Write(const Place& place, const Partials& values, const Mask& mask, bool atomic = false);
  std::optional<Place> SharedPlace(int expression, const Mask& mask);
  Cell* CellAt(const Place& place, std::size_t lane);

  const SyntaxTree& tree_;
  int kernel_;
  const ReductionElements& elements_;
  const RunSetting& setting_;
  BlockRun run_;
  std::size_t lanes_;
  Mask alive_;
  int phase_ = 0;
  int steps_ = 0;
  std::map<int, Integers> integers_;  // local variables
  std::map<int, Partials> partials_;  // local variables
  std::map<int, std::vector<Cell>> shared_;
};

// The array or variable in shared memory of which an expression is an element; -1 for other expressions.
int SharedArrayOf(const SyntaxTree& tree, int expression);

// `a > b ? a : b`, `max(a, b)`, `fmaxf(a, b)`, `a + b`: how two expressions are combined, "+", "max" or "min".
struct Combination {
  std::string combine;
  int a = -1;
  int b = -1;
};
std::optional<Combination> CombinationOf(const SyntaxTree& tree, int expression);

}  // namespace evo
