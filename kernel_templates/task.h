#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "kernel_templates/dtype.h"
#include "kernel_templates/template_parts.h"
#include "kernel_templates/tolerance.h"

namespace evo {

enum class Role { kIn, kOut, kInOut, kScalar };

// How the elements of an input are drawn. task.json writes it as "normal", "uniform(-1,1)", "index<V", "one_hot", ...
struct Generator {
  enum class Kind { kNormal, kUniform, kConstant, kOneHot, kSparse, kLogUniform, kCauchy, kIndex, kPermutation, kOffsets };
  Kind kind = Kind::kNormal;
  // normal: mean; uniform: low; constant: the value; sparse: share of non-zeros; log_uniform: least magnitude; cauchy: scale
  double a = 0;
  double b = 1;                               // normal: standard deviation; uniform: high; log_uniform: largest magnitude
  Expression bound = Expression::Parse("1");  // index: exclusive bound; offsets: the last value
  std::string text;                           // as written
};

// How an output is compared with the reference. Both errors are relative to the reference's root mean square.
struct OutputCheck {
  enum class Kind { kTolerance, kDerived, kExact };
  Kind kind = Kind::kTolerance;
  double l2 = 0;         // kTolerance: bound on ||out - ref|| / ||ref||
  double max = 0;        // kTolerance: bound on max |out - ref| / rms(ref)
  ErrorSources sources;  // kDerived: the bounds follow from these, for each case
};

struct Argument {
  std::string name;
  Role role = Role::kIn;
  Dtype dtype = Dtype::kF32;
  std::vector<Expression> shape;      // row-major, in sizes; empty for a scalar
  std::vector<Generator> generators;  // kIn, kInOut: all that are legal, the first one is timed; none where it is derived
  std::string derived;                // kIn: the function of the Python reference that makes it of the other inputs; empty: none
  std::optional<Expression> value;    // kScalar: in sizes
  OutputCheck check;                  // kOut, kInOut
  std::optional<Expression> counted;  // kOut, kInOut: how many elements, from the first, are compared, in sizes; none: all

  bool IsInput() const { return role == Role::kIn || role == Role::kInOut; }
  bool IsOutput() const { return role == Role::kOut || role == Role::kInOut; }
  bool IsDrawn() const { return IsInput() && derived.empty(); }  // by one of its generators
};

// One choice of sizes. `sizes` has a value for every size that the task declares.
struct Case {
  std::string name;
  std::map<std::string, std::int64_t> sizes;
  double weight = 1;
  // A .npz file of the task's folder with one more input of the case and the right answers to it, and the digest of its bytes.
  // Empty for most cases.
  std::string data = {};
  std::string data_digest = {};
};

struct RecordedFile;
class RecordedFiles;

// A part of the values of an input, or of the values of a size, outside which nothing is asked of a kernel.
struct DomainLimit {
  std::string of;  // the name of an input or of a size
  double from = 0;
  double to = 0;  // included, like `from`; infinities are outside unless a bound is infinite
  std::string reason;

  bool Holds(double value) const { return value >= from && value <= to; }
  // "the task's domain: X from -10000 to 10000, since ..."
  std::string Text() const;
};

enum class Determinism { kBitwise, kTolerance };

// What the right answers come from.
enum class ReferenceKind {
  kKernels,   // reference.cu: kernels in double precision
  kBaseline,  // the baseline at its default parameters: right is what it computes
  kPython,    // a function in a .py file
};

// A computation to optimise: its arguments, the check of its outputs, and the cases. It is immutable once it is loaded.
struct Task {
  std::string name;
  std::string summary;  // one line
  std::filesystem::path directory;
  std::string digest;                   // of `json` and the reference
  std::string json;                     // task.json as read; if cases have `data`, with their sizes and digests
  std::vector<std::string> size_names;  // in declared order
  std::vector<Argument> arguments;      // in declared order
  Determinism determinism = Determinism::kBitwise;
  std::vector<DomainLimit> domain;                 // narrows what is legal; printed in every verdict
  Case small;                                      // several blocks but cheap; checked first, with every generator
  std::vector<Case> search_cuda;                   // timed on a GPU; this list and the next three are not empty
  std::vector<Case> search_cpu;                    // timed on the cpu device
  std::vector<Case> held_out;                      // for the check of a champion; the search never uses them
  std::vector<Case> held_out_cpu;                  // the same for the cpu device, and smaller
  std::string baseline;                            // template name
  Expression bytes = Expression::Parse("0");       // the fewest bytes that must be moved, in sizes
  Expression operations = Expression::Parse("0");  // arithmetic operations, in sizes
  ReferenceKind reference_kind = ReferenceKind::kKernels;
  std::string reference_file;  // in the folder: "reference.cu", "reference.py"; the template's for kBaseline
  // The text of that file. reference.cu has the form of a template (evo:launch lines, with sizes and scalars as variables) and
  // runs once for each input set on the same device. Its kernels take a `double*` of the same shape for each out and inout
  // argument, whatever the argument's dtype; an inout buffer holds the input's values as doubles at the start. All other
  // arguments have the task's types. The baseline gets all arguments in their own types. evaluator/reference/ runs them.
  std::string reference;
  // The recorded inputs and answers, by the name of the file. Only a task that was loaded from its folder has them.
  std::map<std::string, std::shared_ptr<const RecordedFile>> recorded;
};

// Parses and checks a task.json text. `reference` is the text of the reference that it names. Throws UsageError with the file,
// the place in it, what is wrong and what is allowed. The coordinator uses it, and a worker, which receives the texts in a
// message. `recorded` reads the data of cases; without it such a case must have its sizes.
Task ParseTask(const std::string& json, const std::string& reference, const std::filesystem::path& directory,
               RecordedFiles* recorded = nullptr);

// As task.json names it: "reference.cu", "baseline", or a Python file.
std::string NameOfReference(const Task& task);

// Reads DIR/task.json, the reference with its local headers (template_parts.h), and the data that it names. Throws UsageError.
Task LoadTask(const std::filesystem::path& directory, const HeaderFolders& headers = {});

// Finds the tasks in the folders, sorted by name: each is a folder with a task.json. If two folders have a task of the same name,
// the first one counts.
std::vector<std::filesystem::path> FindTasks(const std::vector<std::filesystem::path>& folders);

// How many distributions of the inputs the task lists: as many as the argument with the most of them.
int ListedGenerators(const Task& task);

// The check of an argument for given sizes, with derived bounds as numbers.
OutputCheck CheckFor(const Argument& argument, const Variables& variables);

// The sizes of a case as integer variables, and the values of all scalar arguments.
Variables CaseVariables(const Task& task, const Case& sizes);
// The number of elements of an argument in a case. Throws Error if a dimension is not positive.
std::int64_t ElementCount(const Argument& argument, const Variables& variables);
// How many elements of an output, from the first, are compared with the reference; 0: it may hold anything. Throws Error if there
// are not so many.
std::int64_t CountedElements(const Argument& argument, const Variables& variables);

}  // namespace evo
