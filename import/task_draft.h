#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/import.h"

namespace evo {

struct DraftSize {
  std::string name;
  std::int64_t value = 0;     // of the host
  bool known = false;         // the host says it
  bool ragged = false;        // the kernel compares it, so that any value is legal
  bool macro = false;         // a #define or constant of the file that the kernels use
  std::int64_t multiple = 1;  // values in cases are multiples of it
};

struct DraftArgument {
  std::string name;
  std::string role;  // in, out, inout, scalar
  std::string dtype;
  std::vector<std::string> shape;
  std::vector<std::string> generators;
  std::string value;  // of a scalar
  std::string check;  // JSON
};

struct DraftParameter {
  std::string name;
  std::int64_t value = 0;
  std::vector<std::int64_t> values;
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
  std::vector<std::string> steps;      // lines after "// evo:", in order
  std::vector<std::string> constants;  // "SYMBOL = argument"
  bool tolerance = false;              // determinism
  bool loops = false;
  bool python = false;
  std::set<std::string> moved;    // macros and constants whose definitions are written at the top
  std::set<std::string> kernels;  // names
  std::vector<ImportQuestion> questions;
  std::vector<std::string> notes;
};

// The text of task.json, with cases for the sizes.
std::string TaskJson(const TaskDraft& draft);
// A reference.py whose function has the right arguments and is to be filled in.
std::string ReferenceSkeleton(const TaskDraft& draft);

}  // namespace evo
