#include "kernel_templates/task_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"

namespace evo {
namespace {

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// A case with the sizes that the shape names, and the others of `usual`.
Case ReadShape(const Task& task, const Case& usual, const std::string& shape) {
  const auto fail = [&](const std::string& what) -> UsageError { return UsageError(fmt::format("shape {}: {}", shape, what)); };
  const std::string known = fmt::format("{}", fmt::join(task.size_names, ", "));
  Case result = usual;
  result.weight = 1;
  std::set<std::string> named;
  for (const std::string& part : SplitAt(shape, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos)
      throw fail(fmt::format("'{}' is not understood; give SIZE=NUMBER,.. with sizes of task {}: {}", part, task.name, known));
    const std::string name = part.substr(0, equals);
    if (std::find(task.size_names.begin(), task.size_names.end(), name) == task.size_names.end()) {
      throw fail(fmt::format("'{}' is not a size of task {}; sizes are {}", name, task.name, known));
    }
    if (!named.insert(name).second) throw fail(fmt::format("{} is given twice", name));
    std::int64_t value = 0;
    const char* end = part.data() + part.size();
    const auto parsed = std::from_chars(part.data() + equals + 1, end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || value < 1)
      throw fail(fmt::format("{}: the size must be a positive integer", part));
    result.sizes[name] = value;
  }
  result.name = "shape";
  for (const std::string& name : task.size_names) result.name += fmt::format("_{}{}", name, result.sizes.at(name));
  return result;
}

}  // namespace

Task WithSearchShapes(const Task& task, CaseScale scale, const std::vector<std::string>& shapes) {
  if (shapes.empty()) return task;
  auto document = nlohmann::ordered_json::parse(task.json);
  auto& cases = document.at("cases").at(scale == CaseScale::kEmulated ? "search_cpu" : "search");
  cases = nlohmann::ordered_json::array();
  for (const std::string& shape : shapes) {
    const Case one = ReadShape(task, SearchCases(task, scale).front(), shape);
    nlohmann::ordered_json sizes;
    for (const std::string& name : task.size_names) sizes[name] = one.sizes.at(name);
    cases.push_back({{"name", one.name}, {"sizes", sizes}});
  }
  try {
    Task shaped = ParseTask(document.dump(2), task.reference, task.directory);
    shaped.recorded = task.recorded;
    return shaped;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("shape {}: {}", fmt::join(shapes, " "), error.what()));
  }
}

std::string ArithmeticOf(const Task& task) {
  const auto input = std::find_if(task.arguments.begin(), task.arguments.end(), [](const Argument& a) { return a.IsInput(); });
  return input == task.arguments.end() ? "" : std::string(ToString(input->dtype));
}

std::string SizesText(const Task& task, const Case& sizes) {
  std::string text;
  for (const std::string& name : task.size_names)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, sizes.sizes.at(name));
  return text;
}

std::optional<Case> FindCase(const Task& task, const std::string& name) {
  std::vector<Case> known{task.small};
  for (const auto* cases : {&task.search_cuda, &task.search_cpu, &task.held_out, &task.held_out_cpu})
    known.insert(known.end(), cases->begin(), cases->end());
  const auto found = std::find_if(known.begin(), known.end(), [&](const Case& one) { return one.name == name; });
  if (found != known.end()) return *found;
  Case sizes{name, {}, 1};
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    const std::size_t equals = name.find('=', begin);
    if (equals >= end) return std::nullopt;
    std::int64_t value = 0;
    const char* last = name.data() + end;
    const auto parsed = std::from_chars(name.data() + equals + 1, last, value);
    if (parsed.ptr != last || parsed.ec != std::errc() || value < 1) return std::nullopt;
    sizes.sizes[name.substr(begin, equals - begin)] = value;
    begin = end + 1;
  }
  if (sizes.sizes.size() != task.size_names.size()) return std::nullopt;
  for (const std::string& size : task.size_names) {
    if (!sizes.sizes.contains(size)) return std::nullopt;
  }
  return sizes;
}

}  // namespace evo
