#include "kernel_templates/recorded_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

struct Wanted {
  std::string array;
  const Argument* argument;
  bool answer;
};

std::vector<Wanted> WantedArrays(const Task& task) {
  std::vector<Wanted> wanted;
  for (const Argument& argument : task.arguments) {
    if (argument.IsDrawn()) wanted.push_back({InputArray(argument), &argument, false});
    if (argument.IsOutput()) wanted.push_back({AnswerArray(argument), &argument, true});
  }
  return wanted;
}

[[noreturn]] void Fail(const RecordedFile& file, const Case& one, const std::string& what) {
  throw UsageError(fmt::format("{}: case '{}': {}", file.path, one.name, what));
}

std::string NamesOf(const std::vector<Wanted>& wanted) {
  std::vector<std::string> names;
  for (const Wanted& each : wanted) names.push_back(each.array);
  return fmt::format("{}", fmt::join(names, ", "));
}

void CheckNames(const RecordedFile& file, const Case& one, const std::vector<Wanted>& wanted) {
  for (const Wanted& each : wanted) {
    if (file.Find(each.array) == nullptr)
      Fail(file, one,
           fmt::format("the array {} is missing: {} of {}; the task needs {}", each.array,
                       each.answer ? "the right values" : "the values", each.argument->name, NamesOf(wanted)));
  }
  std::set<std::string> seen;
  for (const NpzArray& array : file.arrays) {
    if (std::none_of(wanted.begin(), wanted.end(), [&](const Wanted& each) { return each.array == array.name; }))
      Fail(file, one, fmt::format("the array {} is of no argument; the task needs {}", array.name, NamesOf(wanted)));
    if (!seen.insert(array.name).second) Fail(file, one, fmt::format("the array {} is there twice", array.name));
  }
}

// Where a dimension of an argument is a size itself, the array says how large that is.
void FindSizes(const Task& task, const RecordedFile& file, Case& one, const std::vector<Wanted>& wanted) {
  std::map<std::string, std::string> said_by;
  for (const Wanted& each : wanted) {
    const NpzArray& array = *file.Find(each.array);
    const std::vector<Expression>& shape = each.argument->shape;
    if (array.shape.size() != shape.size()) {
      std::vector<std::string> dimensions;
      for (const Expression& dimension : shape) dimensions.push_back(dimension.text());
      Fail(file, one,
           fmt::format("{} has the shape {}, and task.json says [{}]", array.name, ShapeText(array.shape),
                       fmt::join(dimensions, ", ")));
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::string& name = shape[i].text();
      if (std::find(task.size_names.begin(), task.size_names.end(), name) == task.size_names.end()) continue;
      const auto [known, is_new] = one.sizes.try_emplace(name, array.shape[i]);
      if (is_new) said_by[name] = array.name;
      if (known->second == array.shape[i]) continue;
      const auto other = said_by.find(name);
      Fail(file, one,
           fmt::format("{} is {} in the shape of {}, and {} in {}", name, array.shape[i], array.name, known->second,
                       other == said_by.end() ? "task.json" : "that of " + other->second));
    }
  }
  for (const std::string& name : task.size_names) {
    if (!one.sizes.contains(name))
      Fail(file, one, fmt::format("the size {} is no dimension of an array; give it: \"sizes\": {{\"{}\": ..}}", name, name));
  }
}

void CheckShapes(const Task& task, const RecordedFile& file, const Case& one, const std::vector<Wanted>& wanted) {
  const Variables variables = CaseVariables(task, one);
  for (const Wanted& each : wanted) {
    std::vector<std::int64_t> shape;
    for (const Expression& dimension : each.argument->shape) shape.push_back(dimension.EvaluateInteger(variables));
    const NpzArray& array = *file.Find(each.array);
    if (array.shape != shape)
      Fail(file, one,
           fmt::format("{} has the shape {}, and task.json says {} where {}", array.name, ShapeText(array.shape),
                       ShapeText(shape), [&] {
                         std::vector<std::string> sizes;
                         for (const auto& [name, value] : one.sizes) sizes.push_back(fmt::format("{} = {}", name, value));
                         return fmt::format("{}", fmt::join(sizes, ", "));
                       }()));
  }
}

std::string NumpyName(Dtype dtype) {
  const std::string_view name = ToString(dtype);
  if (dtype == Dtype::kBF16) return "float32";
  return fmt::format("{}{}", name[0] == 'f' ? "float" : name[0] == 'i' ? "int" : "uint", name.substr(1));
}

void CheckTypes(const RecordedFile& file, const Case& one, const std::vector<Wanted>& wanted) {
  for (const Wanted& each : wanted) {
    const NpzArray& array = *file.Find(each.array);
    const Dtype dtype = each.argument->dtype;
    const auto fail = [&](const std::string& why) {
      Fail(file, one,
           fmt::format("{} is {}, and task.json says {}{}; save it with .astype(numpy.{})", array.name, NumpyName(array.dtype),
                       ToString(dtype), why, NumpyName(each.answer && IsFloating(dtype) ? Dtype::kF64 : dtype)));
    };
    if (IsFloating(array.dtype) != IsFloating(dtype)) fail("");
    // An answer in fewer digits than the output has would be an error in every verdict.
    if (each.answer && IsFloating(dtype) && ByteSize(array.dtype) < ByteSize(dtype)) fail(", which is more exact");
  }
}

}  // namespace

const NpzArray* RecordedFile::Find(const std::string& name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const NpzArray& array) { return array.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

std::string InputArray(const Argument& argument) { return argument.name; }

std::string AnswerArray(const Argument& argument) {
  return argument.role == Role::kInOut ? argument.name + "_expected" : argument.name;
}

const RecordedFile& RecordedFiles::Read(const std::string& name) {
  std::shared_ptr<const RecordedFile>& file = files_[name];
  if (file != nullptr) return *file;
  const std::filesystem::path path = folder_ / name;
  std::error_code missing;
  if (const auto size = std::filesystem::file_size(path, missing); !missing && size > kMostNpzBytes)
    throw UsageError(fmt::format("{}: has more than {} MiB; record a smaller case", path.string(), kMostNpzBytes >> 20));
  const auto bytes = ReadTextFile(path);
  if (!bytes)
    throw UsageError(fmt::format("{}: cannot be read; task.json names it as the data of a case, to be written with numpy.savez",
                                 path.string()));
  file = std::make_shared<const RecordedFile>(RecordedFile{path.string(), Digest(*bytes), ParseNpz(*bytes, path.string())});
  return *file;
}

void RecordedFiles::Complete(const Task& task, Case& one) {
  const RecordedFile& file = Read(one.data);
  if (!one.data_digest.empty() && one.data_digest != file.digest)
    Fail(file, one, fmt::format("its digest is {}, and task.json says {}", file.digest, one.data_digest));
  one.data_digest = file.digest;
  const std::vector<Wanted> wanted = WantedArrays(task);
  CheckNames(file, one, wanted);
  FindSizes(task, file, one, wanted);
  CheckShapes(task, file, one, wanted);
  CheckTypes(file, one, wanted);
}

std::string WithRecordedSizes(const std::string& task_json, const Task& task) {
  auto document = nlohmann::ordered_json::parse(task_json);
  const auto complete = [&](nlohmann::ordered_json& in, const Case& one) {
    if (one.data.empty()) return;
    auto sizes = nlohmann::ordered_json::object();
    for (const std::string& name : task.size_names) sizes[name] = one.sizes.at(name);
    in["sizes"] = std::move(sizes);
    in["digest"] = one.data_digest;
  };
  auto& cases = document.at("cases");
  complete(cases.at("small"), task.small);
  for (const auto& [key, list] : {std::pair{"held_out", &task.held_out}, {"held_out_cpu", &task.held_out_cpu}}) {
    for (std::size_t i = 0; i < list->size(); ++i) complete(cases.at(key).at(i), (*list)[i]);
  }
  return document.dump(2);
}

}  // namespace evo
