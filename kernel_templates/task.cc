#include "kernel_templates/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <system_error>

#include "core/error.h"
#include "kernel_templates/recorded_file.h"
#include "kernel_templates/task_reference.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::string ReadTaskFile(const fs::path& file) {
  std::optional<std::string> text = ReadTextFile(file);
  if (!text)
    throw UsageError(
        fmt::format("{}: cannot be read; a task is a folder with task.json, a reference and templates", file.string()));
  return *std::move(text);
}

// The value of a scalar argument. Throws Error if its type cannot hold it.
Number ScalarValue(const Argument& argument, const Variables& sizes) {
  const Number value = argument.value->Evaluate(sizes);
  if (IsFloating(argument.dtype)) return Number::Real(value.AsReal());
  const auto fail = [&](std::string_view what) { throw Error(fmt::format("argument '{}': {}", argument.name, what)); };
  if (value.is_real) fail(fmt::format("{} is not an integer, as {} needs", value.real, ToString(argument.dtype)));
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  if (argument.dtype == Dtype::kU64 || argument.dtype == Dtype::kU32) low = 0;
  if (argument.dtype == Dtype::kU32) high = std::numeric_limits<std::uint32_t>::max();
  if (argument.dtype == Dtype::kI32) low = std::numeric_limits<std::int32_t>::min();
  if (argument.dtype == Dtype::kI32) high = std::numeric_limits<std::int32_t>::max();
  if (value.integer < low || value.integer > high)
    fail(fmt::format("{} does not fit {}", value.integer, ToString(argument.dtype)));
  return value;
}

}  // namespace

Task LoadTask(const fs::path& directory, const HeaderFolders& headers) {
  const std::string json = ReadTaskFile(directory / "task.json");
  RecordedFiles recorded(directory);
  Task task = ParseTask(json, LoadReferenceText(json, directory, headers), directory, &recorded);
  task.recorded = recorded.files();
  if (!fs::exists(directory / (task.baseline + ".cu")) || task.baseline == "reference") {
    throw UsageError(
        fmt::format("{}: baseline: there is no template {}.cu in its folder", (directory / "task.json").string(), task.baseline));
  }
  return task;
}

std::vector<fs::path> FindTasks(const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders) {
    std::error_code missing;  // a folder that does not exist holds no tasks
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
      if (fs::exists(entry.path() / "task.json")) found.emplace(entry.path().filename().string(), entry.path());
    }
  }
  std::vector<fs::path> tasks;
  for (const auto& [name, path] : found) tasks.push_back(path);
  return tasks;
}

Variables CaseVariables(const Task& task, const Case& sizes) {
  Variables variables;
  for (const auto& [name, value] : sizes.sizes) variables[name] = Number::Integer(value);
  const Variables only_sizes = variables;
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kScalar) variables[argument.name] = ScalarValue(argument, only_sizes);
  }
  return variables;
}

std::string DomainLimit::Text() const {
  return fmt::format("outside the task's domain ({} from {} to {}: {})", of, from, to, reason);
}

int ListedGenerators(const Task& task) {
  std::size_t most = 1;
  for (const Argument& argument : task.arguments) most = std::max(most, argument.generators.size());
  return static_cast<int>(most);
}

OutputCheck CheckFor(const Argument& argument, const Variables& variables) {
  OutputCheck check = argument.check;
  if (check.kind != OutputCheck::Kind::kDerived) return check;
  const Tolerance tolerance = DeriveTolerance(check.sources, argument.dtype, variables);
  check.kind = OutputCheck::Kind::kTolerance;
  check.l2 = tolerance.l2;
  check.max = tolerance.max;
  return check;
}

std::int64_t CountedElements(const Argument& argument, const Variables& variables) {
  const std::int64_t all = ElementCount(argument, variables);
  if (!argument.counted) return all;
  const std::int64_t counted = argument.counted->EvaluateInteger(variables);
  if (counted < 0 || counted > all)
    throw Error(fmt::format("argument '{}': {} elements are counted; it has {}", argument.name, counted, all));
  return counted;
}

std::int64_t ElementCount(const Argument& argument, const Variables& variables) {
  std::int64_t count = 1;
  for (const Expression& dimension : argument.shape) {
    const std::int64_t extent = dimension.EvaluateInteger(variables);
    if (extent < 1) throw Error(fmt::format("argument '{}': its dimension '{}' is {}", argument.name, dimension.text(), extent));
    if (__builtin_mul_overflow(count, extent, &count))
      throw Error(fmt::format("argument '{}': too many elements", argument.name));
  }
  return count;
}

}  // namespace evo
