#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// What is known of a number that a thread computes.
enum class Knowledge : std::uint8_t {
  kKnown,     // the number itself
  kElements,  // a linear combination of elements of buffers: the same combination of random numbers, modulo 2^64
  kUnknown,   // neither; also what was never stored
};

// What the threads of a block have for an expression, one value each.
struct LaneValues {
  explicit LaneValues(std::size_t lanes = 0, std::int64_t number = 0, Knowledge knowledge = Knowledge::kKnown)
      : numbers(lanes, number), known(lanes, knowledge) {}
  std::vector<std::int64_t> numbers;  // of a pointer, the offset in elements
  std::vector<Knowledge> known;
  int memory = -1;  // what a pointer points into; -1 for other values
};

// Who read or wrote an element last. A lane of -2: several.
struct GridAccess {
  std::int64_t launch = -1, block = -1, phase = -1, warp_phase = -1;
  int lane = -1;
};

struct GridCell {
  std::int64_t number = 0;
  Knowledge known = Knowledge::kUnknown;
  GridAccess write, read;
};

// Elements of a memory that a run follows.
inline constexpr std::int64_t kMostGridCells = 1 << 17;

// A buffer, an array in shared memory or an array of each thread.
struct GridMemory {
  std::string name;
  std::string type;                // of its elements; empty until a kernel gets it
  bool workspace = false;          // scratch, or no buffer at all
  bool local = false;              // each thread has its own
  std::int64_t elements = -1;      // how many it has; -1 if that is not known
  std::int64_t fingerprints = -1;  // of an argument of the task: which random numbers are its elements at the start
  std::vector<GridCell> cells;
};

// The numbers with which a source runs.
struct GridSetting {
  Parameters parameters;
  std::string size;           // the only size that its launches name
  std::int64_t elements = 0;  // its value, which is also how many elements each argument has
  bool present = true;        // whether the parameters have the values of the text
};

// What the launches of a source did.
struct GridTrace {
  std::string refusal;              // why it is not understood; then nothing else counts
  std::string unknown;              // the first computation whose result is not known
  std::vector<GridMemory> buffers;  // as they are in the end
  std::set<std::string> names;      // macros and constants whose values were used
};

// Runs all launches of a source in their order, all blocks, all threads of a block together: on numbers where it computes indices
// and conditions, and on random numbers instead of data. Who reads what another thread has written without a barrier between
// them, or what another block of the same launch has written, is refused, and so is whatever is not understood.
class GridRun {
 public:
  // The context outlives the object.
  explicit GridRun(const MutationContext& context);
  GridTrace Run(const GridSetting& setting);

 private:
  using Mask = std::vector<char>;
  enum class Kind : std::uint8_t {
    kName,
    kLiteral,
    kParentheses,
    kUnary,
    kBinary,
    kConditional,
    kCast,
    kBuiltin,
    kSubscript,
    kCall,
    kOther
  };
  // A variable, or an element of memory for each lane.
  struct Place {
    int variable = -1;
    int memory = -1;
    std::vector<std::int64_t> index;
  };

  LaneValues Refuse(const std::string& why);
  bool refused() const { return !trace_.refusal.empty(); }
  std::string Quoted(int node) const;
  LaneValues Unknown(int node);

  void Launch(const LaunchDirective& launch);
  void Fill(const MemsetDirective& memset);
  std::optional<std::int64_t> Evaluated(const Expression& expression) const;
  std::optional<std::int64_t> EvaluatedArgument(const std::string& text) const;
  int KernelOf(const LaunchDirective& launch);
  int Buffer(const std::string& name, const std::string& type);
  bool BindArguments(const LaunchDirective& launch, int kernel);
  void RunBlock(int body);

  Mask Active(const Mask& mask) const;
  void Execute(int statement, const Mask& mask);
  void ExecuteIf(int statement, const Mask& mask);
  void ExecuteLoop(int statement, const Mask& mask);
  void Jump(int statement, const Mask& mask);
  void Declare(int variable, const Mask& mask);
  void DeclareArray(int variable, const Mask& mask);
  void Barrier(const Mask& mask);
  void WarpBarrier(const Mask& mask);

  LaneValues Evaluate(int expression, const Mask& mask);
  LaneValues Literal(int expression);
  LaneValues Named(int expression, const Mask& mask);
  LaneValues Builtin(int expression);
  LaneValues Unary(int expression, const Mask& mask);
  LaneValues Binary(int expression, const Mask& mask);
  LaneValues Conditional(int expression, const Mask& mask);
  LaneValues Assign(int expression, const Mask& mask);
  LaneValues Computed(int expression, std::string_view spelled, const LaneValues& a, const LaneValues& b, const Mask& mask);
  LaneValues Converted(LaneValues values, const std::string& from, const std::string& to, int node, const Mask& mask);
  Mask Where(int condition, const Mask& mask);

  LaneValues Call(int expression, const Mask& mask);
  LaneValues CallDefined(int function, const std::vector<int>& arguments, const Mask& mask);
  LaneValues CallKnown(int expression, std::string_view callee, const std::vector<int>& arguments, const Mask& mask);
  LaneValues Shuffle(std::string_view callee, const std::vector<int>& arguments, const Mask& mask);

  Place PlaceOf(int expression, const Mask& mask);
  LaneValues Load(const Place& place, const Mask& mask);
  void Store(const Place& place, const LaneValues& values, const Mask& mask);
  GridCell* CellAt(int memory, std::int64_t index, std::size_t lane);
  bool Conflicts(const GridAccess& other, std::size_t lane) const;
  GridAccess Now(std::size_t lane) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  std::vector<Kind> kinds_;
  std::vector<std::string> operators_;
  const GridSetting* setting_ = nullptr;
  GridTrace trace_;
  Variables sizes_;
  std::vector<GridMemory> memories_;  // buffers first, then those of the block that runs
  std::int64_t grid_ = 0, at_ = 0, launch_ = 0, block_ = 0, phase_ = 0, work_ = 0, dynamic_bytes_ = 0;
  std::size_t lanes_ = 0;
  int depth_ = 0;
  std::unordered_map<int, LaneValues> arguments_;  // of the kernel, for one lane
  std::unordered_map<int, LaneValues> variables_;
  std::unordered_map<int, Place> aliases_;  // references
  std::unordered_map<int, int> arrays_;     // memories of declared arrays and shared variables
  std::vector<std::int64_t> warp_phases_;
  Mask off_, broken_, continued_, exited_;
  LaneValues returned_;
};

}  // namespace evo
