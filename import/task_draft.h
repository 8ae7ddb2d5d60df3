#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/import.h"
#include "import/null_pointers.h"
#include "import/pointer_offsets.h"

namespace evo {

// The width of a filter of which nothing is known.
inline constexpr std::int64_t kUnknownWindow = 5;

struct DraftSize {
  std::string name;
  std::int64_t value = 0;     // of the host
  bool known = false;         // the host says it
  bool ragged = false;        // the kernel compares it, so that any value is legal
  bool macro = false;         // a #define or constant of the file that the kernels use
  bool of_call = false;       // a large number that the host passes to a function
  bool given = false;         // the user gave it
  bool fixed = false;         // the same in every case
  std::int64_t multiple = 1;  // values in cases are multiples of it
  bool power_of_two = false;  // and powers of two
  bool exponent = false;      // of 2: `1 << k`
  std::string compiled;       // the macro that kernels get as a template's argument; empty: none does
};

struct DraftArgument {
  std::string name;
  std::string role;  // in, out, inout, scalar
  std::string dtype;
  std::vector<std::string> shape;
  std::vector<std::string> generators;
  std::string value;    // of a scalar
  std::string check;    // JSON
  std::string counted;  // elements from the first that count; empty: all
};

struct DraftParameter {
  std::string name;
  std::int64_t value = 0;
  std::vector<std::int64_t> values;
};

using DraftCase = std::map<std::string, std::int64_t>;  // values of sizes

// The sizes of a task's cases.
struct DraftCases {
  DraftCase small;
  DraftCase search;
  DraftCase search_cpu;
  std::vector<DraftCase> held_out;
  DraftCase held_out_cpu;
};

// A task as it is being put together.
struct TaskDraft {
  std::string name;
  std::string summary;
  std::string baseline;
  std::vector<DraftSize> sizes;
  std::vector<DraftArgument> arguments;
  std::vector<DraftParameter> parameters;
  std::vector<std::string> constraints;
  std::vector<std::string> conditions;  // that the sizes of each case fulfil
  std::vector<std::string> steps;       // lines after "// evo:", in order
  std::vector<std::string> workspaces;  // "NAME dtype [EXPR, ..]"
  std::vector<std::string> constants;   // "SYMBOL = argument"
  bool tolerance = false;               // determinism
  bool loops = false;
  bool python = false;
  DraftCases cases;
  bool each_adds = true;             // each element has a sum of its own
  std::string terms = "1";           // that are added up for one element, in all steps of a loop of launches
  std::vector<std::string> repeats;  // how often each loop of launches runs
  std::string barriers;              // what waiting for one another costs on the cpu device, in loop bodies; empty: nothing
  std::string work = "1";            // innermost loop bodies of all threads and launches; an expression of sizes
  std::set<std::string> moved;       // macros and constants whose definitions are written at the top
  std::set<std::string> windows;     // names that lengths of buffers lose, such as a filter's width
  std::set<std::string> exponents;   // names by which buffers or grids shift
  std::set<std::string> kernels;     // names
  std::set<std::string> types;       // that launches pass to templates
  PointerOffsets offsets;            // that kernels add
  NullPointers nulls;                // that the host passes
  std::vector<ImportQuestion> questions;
  std::vector<std::string> notes;
};

// Chooses the cases: for timing sizes that keep a large GPU busy for some 20 us to 5 ms and one core for 5 to 20 ms, a small
// case, and ragged ones. Adds a note where the host's sizes are not what is timed.
void ChooseCases(TaskDraft& draft);
// The text of task.json. The draft has its cases.
std::string TaskJson(const TaskDraft& draft);
// A reference.py whose function has the right arguments and is to be filled in.
std::string ReferenceSkeleton(const TaskDraft& draft);

}  // namespace evo
