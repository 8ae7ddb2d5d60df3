#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "kernel_templates/dtype.h"
#include "kernel_templates/tolerance.h"

namespace evo {

enum class Role { kIn, kOut, kInOut, kScalar };

// How the elements of an input are drawn. Spelt in task.json as "normal", "uniform(-1,1)", "index<V", "one_hot", ...
struct Generator {
  enum class Kind { kNormal, kUniform, kConstant, kOneHot, kSparse, kIndex, kPermutation, kOffsets };
  Kind kind = Kind::kNormal;
  double a = 0;                               // normal: mean; uniform: low; constant: the value; sparse: share of non-zeros
  double b = 1;                               // normal: standard deviation; uniform: high
  Expression bound = Expression::Parse("1");  // index: exclusive bound; offsets: the last value
  std::string text;                           // as written
};

// How an output is judged against the reference. Both errors are relative to the reference's own root mean square.
struct OutputCheck {
  enum class Kind { kTolerance, kDerived, kExact };
  Kind kind = Kind::kTolerance;
  double l2 = 0;         // kTolerance: bound on ||out - ref|| / ||ref||
  double max = 0;        // kTolerance: bound on max |out - ref| / rms(ref)
  ErrorSources sources;  // kDerived: what they follow from, for each case
};

struct Argument {
  std::string name;
  Role role = Role::kIn;
  Dtype dtype = Dtype::kF32;
  std::vector<Expression> shape;      // row-major, in sizes; empty for a scalar
  std::vector<Generator> generators;  // kIn, kInOut: all that are legal; the first is the one that is timed
  std::optional<Expression> value;    // kScalar: in sizes
  OutputCheck check;                  // kOut, kInOut
};

// One choice of sizes. `sizes` has a value for every size the task declares.
struct Case {
  std::string name;
  std::map<std::string, std::int64_t> sizes;
  double weight = 1;
};

enum class Determinism { kBitwise, kTolerance };

// A computation to be made fast: its arguments, when a result is right, and the cases that matter. Immutable once loaded.
struct Task {
  std::string name;
  std::string summary;  // one line
  std::filesystem::path directory;
  std::string digest;                   // of task.json and reference.cu
  std::string json;                     // task.json as read
  std::vector<std::string> size_names;  // in declared order
  std::vector<Argument> arguments;      // in declared order
  Determinism determinism = Determinism::kBitwise;
  Case small;                                      // several blocks, cheap: checked first, with every generator
  std::vector<Case> search_cuda;                   // timed on a GPU; not empty, nor are the three that follow
  std::vector<Case> search_cpu;                    // timed on the cpu device
  std::vector<Case> held_out;                      // never seen by the search
  std::vector<Case> held_out_cpu;                  // the same for the cpu device; smaller
  std::string baseline;                            // template name
  Expression bytes = Expression::Parse("0");       // least bytes moved, in sizes
  Expression operations = Expression::Parse("0");  // arithmetic operations, in sizes
  // Text of reference.cu: itself in template form (evo:launch lines, sizes and scalars as variables), run once per input set on
  // the same device. For each out and inout argument its kernels take `double*` of the same shape, whatever the argument's dtype;
  // an inout buffer holds the input's values as doubles at the start. Everything else has the task's types.
  std::string reference;
};

// Parses and checks a task.json text. `reference` is the text of reference.cu. Throws UsageError: file, where in it, what is
// wrong, what is allowed. Used in the coordinator and, from a message, in a worker.
Task ParseTask(const std::string& json, const std::string& reference, const std::filesystem::path& directory);

// Reads DIR/task.json and DIR/reference.cu. Throws UsageError.
Task LoadTask(const std::filesystem::path& directory);

// Names of the tasks under the folders, each a directory with a task.json; sorted. The first folder that has a name wins.
std::vector<std::filesystem::path> FindTasks(const std::vector<std::filesystem::path>& folders);

// The check of an argument for sizes: derived bounds as numbers.
OutputCheck CheckFor(const Argument& argument, const Variables& variables);

// The sizes of a case as integer variables, and every scalar argument by its value.
Variables CaseVariables(const Task& task, const Case& sizes);
// Number of elements of an argument in a case. Throws Error if a dimension is not positive.
std::int64_t ElementCount(const Argument& argument, const Variables& variables);

}  // namespace evo
