// The format of task.json; docs/writing_a_task.md describes it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "kernel_templates/generator.h"
#include "kernel_templates/json_value.h"
#include "kernel_templates/launch_argument.h"
#include "kernel_templates/recorded_file.h"
#include "kernel_templates/task.h"
#include "kernel_templates/task_reference.h"

namespace evo {
namespace {

// Sizes reach kernels as 32-bit integers.
constexpr std::int64_t kLargestSize = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::pair<std::string_view, Role>, 4> kRoles{
    {{"in", Role::kIn}, {"out", Role::kOut}, {"inout", Role::kInOut}, {"scalar", Role::kScalar}}};

class TaskReader {
 public:
  TaskReader(Task& task, RecordedFiles* recorded) : task_(task), recorded_(recorded) {}

  void Read(const JsonValue& root) {
    root.AllowKeys({"name", "summary", "notes", "sizes", "arguments", "determinism", "domain", "cases", "baseline", "reference",
                    "bytes", "operations"});
    task_.name = root.At("name").Name();
    task_.summary = root.At("summary").String();
    if (root.Has("notes")) ReadNotes(root.At("notes"));
    for (const JsonValue& size : root.At("sizes").Elements()) task_.size_names.push_back(NewName(size));
    for (const JsonValue& argument : root.At("arguments").Elements()) task_.arguments.push_back(ReadArgument(argument));
    const bool has_output = std::any_of(task_.arguments.begin(), task_.arguments.end(),
                                        [](const Argument& a) { return a.role == Role::kOut || a.role == Role::kInOut; });
    if (!has_output) root.At("arguments").Fail("no argument has the role out or inout, so there is nothing to compute");
    if (root.Has("determinism")) task_.determinism = ReadDeterminism(root.At("determinism"));
    if (root.Has("domain")) ReadDomain(root.At("domain"));
    ReadCases(root.At("cases"));
    task_.baseline = root.At("baseline").Name();
    const ReferenceName reference = ReadReferenceName(root);
    task_.reference_kind = reference.kind;
    task_.reference_file = reference.file;
    if (reference.kind != ReferenceKind::kPython) RefuseDerived(root.At("arguments"));
    task_.bytes = root.At("bytes").Formula(task_.size_names);
    task_.operations = root.At("operations").Formula(task_.size_names);
  }

 private:
  // Notes are for readers, so that only their form is checked.
  static void ReadNotes(const JsonValue& notes) {
    if (notes.IsString()) return;
    for (const JsonValue& line : notes.Elements()) line.String();
  }

  // No size and argument may have the same name, since launch lines mention both.
  std::string NewName(const JsonValue& value) {
    std::string name = value.Name();
    if (!names_.insert(name).second) value.Fail(fmt::format("the name '{}' is given twice", name));
    return name;
  }

  void ReadDomain(const JsonValue& in) {
    for (const JsonValue& element : in.Elements()) {
      element.AllowKeys({"of", "from", "to", "reason"});
      DomainLimit limit;
      limit.of = element.At("of").String();
      const bool known = std::find(task_.size_names.begin(), task_.size_names.end(), limit.of) != task_.size_names.end() ||
                         std::any_of(task_.arguments.begin(), task_.arguments.end(),
                                     [&](const Argument& argument) { return argument.name == limit.of && argument.IsInput(); });
      if (!known) element.At("of").Fail(fmt::format("'{}' is neither an input nor a size", limit.of));
      limit.from = element.At("from").Real();
      limit.to = element.At("to").Real();
      if (!(limit.from <= limit.to)) element.At("to").Fail("must not be less than `from`");
      limit.reason = element.At("reason").String();
      if (limit.reason.empty()) element.At("reason").Fail("must say why nothing is asked of a kernel outside");
      task_.domain.push_back(std::move(limit));
    }
  }

  Argument ReadArgument(const JsonValue& in) {
    in.AllowKeys({"name", "role", "dtype", "shape", "generators", "derived", "value", "check", "counted"});
    Argument argument;
    argument.name = NewName(in.At("name"));
    const std::string role = in.At("role").String();
    const auto row = std::find_if(kRoles.begin(), kRoles.end(), [&](const auto& r) { return r.first == role; });
    if (row == kRoles.end()) in.At("role").Fail(fmt::format("no role '{}'; there are in, out, inout, scalar", role));
    argument.role = row->second;
    const std::string dtype = in.At("dtype").String();
    const auto known = ParseScalarType(dtype);
    if (!known)
      in.At("dtype").Fail(fmt::format("no dtype '{}'; there are f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8", dtype));
    argument.dtype = known->dtype;
    const bool scalar = argument.role == Role::kScalar;
    if (known->boolean && !scalar) in.At("dtype").Fail("only a scalar can be a bool; a buffer of bools is u8");
    const bool input = argument.IsInput();
    const bool output = argument.role == Role::kOut || argument.role == Role::kInOut;
    for (const auto& [key, wanted] :
         {std::pair{"shape", !scalar}, {"generators", input}, {"value", scalar}, {"check", output}, {"counted", output}}) {
      if (in.Has(key) && !wanted) in.At(key).Fail(fmt::format("an argument with the role {} takes no {}", role, key));
    }
    if (scalar) {
      if (ByteSize(argument.dtype) < 4 && !known->boolean)
        in.At("dtype").Fail("a scalar is f64, f32, i64, i32, u64, u32 or bool");
      argument.value = in.At("value").Formula(task_.size_names);
      if (known->boolean) argument.value = Expression::Parse(fmt::format("({}) != 0", argument.value->text()));
      return argument;
    }
    for (const JsonValue& size : in.At("shape").Elements()) argument.shape.push_back(size.Formula(task_.size_names));
    if (argument.shape.empty()) in.At("shape").Fail("at least one dimension is needed");
    if (in.Has("derived")) argument.derived = ReadDerived(in, argument.role);
    if (input && argument.derived.empty()) argument.generators = ReadGenerators(in.At("generators"), argument.dtype);
    if (output) argument.check = ReadCheck(in.At("check"));
    if (in.Has("counted")) argument.counted = in.At("counted").Formula(task_.size_names);
    return argument;
  }

  static std::string ReadDerived(const JsonValue& in, Role role) {
    const JsonValue derived = in.At("derived");
    if (role != Role::kIn) derived.Fail("only an argument with the role in can be derived from others");
    if (in.Has("generators")) in.At("generators").Fail("the argument is derived from others, so that it is not drawn");
    return derived.Name();
  }

  void RefuseDerived(const JsonValue& arguments) const {
    const std::vector<JsonValue> elements = arguments.Elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!task_.arguments[i].derived.empty())
        elements[i].At("derived").Fail("a function of a Python reference derives arguments; say \"reference\": \"reference.py\"");
    }
  }

  std::vector<Generator> ReadGenerators(const JsonValue& in, Dtype dtype) const {
    std::vector<Generator> generators;
    for (const JsonValue& element : in.Elements()) {
      const std::string text = element.String();
      try {
        generators.push_back(ParseGenerator(text));
      } catch (const Error& error) {
        element.Fail(error.what());
      }
      if (!Fits(generators.back().kind, dtype))
        element.Fail(fmt::format("'{}' cannot fill elements of type {}", text, ToString(dtype)));
      for (const std::string& name : generators.back().bound.Names()) {
        if (std::find(task_.size_names.begin(), task_.size_names.end(), name) == task_.size_names.end()) {
          element.Fail(fmt::format("'{}' is not a size; sizes are {}", name, fmt::join(task_.size_names, ", ")));
        }
      }
    }
    if (generators.empty()) in.Fail("at least one generator is needed");
    return generators;
  }

  OutputCheck ReadCheck(const JsonValue& in) const {
    OutputCheck check;
    if (in.IsString()) {
      const std::string kind = in.String();
      if (kind != "exact")
        in.Fail(fmt::format("no check '{}'; there are 'exact', {{\"sum\": ..}} and {{\"l2\": .., \"max\": ..}}", kind));
      check.kind = OutputCheck::Kind::kExact;
      return check;
    }
    if (in.Has("sum")) return ReadErrorSources(in);
    in.AllowKeys({"l2", "max"});
    for (const auto& [key, bound] : {std::pair{"l2", &check.l2}, {"max", &check.max}}) {
      *bound = in.At(key).Real();
      // With a bound of 1 or more on the relative L2 error, an output of zeros would pass.
      if (key == std::string_view("l2") && !(*bound > 0 && *bound < 1)) in.At(key).Fail("must be greater than 0 and less than 1");
      if (!(*bound > 0)) in.At(key).Fail("must be greater than 0");
    }
    return check;
  }

  OutputCheck ReadErrorSources(const JsonValue& in) const {
    in.AllowKeys({"sum", "accumulator", "rounded", "ulps", "peak"});
    OutputCheck check;
    check.kind = OutputCheck::Kind::kDerived;
    ErrorSources& sources = check.sources;
    sources.sum = in.At("sum").Formula(task_.size_names);
    if (in.Has("accumulator")) sources.accumulator = ReadFloating(in.At("accumulator"));
    if (in.Has("rounded")) {
      for (const JsonValue& dtype : in.At("rounded").Elements()) sources.rounded.push_back(ReadFloating(dtype));
    }
    if (in.Has("ulps")) sources.ulps = in.At("ulps").Real();
    if (!(sources.ulps >= 0)) in.At("ulps").Fail("must be 0 or more");
    sources.states_peak = in.Has("peak");
    if (sources.states_peak) sources.peak = in.At("peak").Formula(task_.size_names);
    return check;
  }

  static Dtype ReadFloating(const JsonValue& in) {
    const auto dtype = ParseDtype(in.String());
    if (!dtype || !IsFloating(*dtype))
      in.Fail(fmt::format("'{}' is not a floating-point type; there are f64, f32, f16, bf16", in.String()));
    return *dtype;
  }

  static Determinism ReadDeterminism(const JsonValue& in) {
    const std::string text = in.String();
    if (text == "bitwise") return Determinism::kBitwise;
    if (text != "tolerance") in.Fail(fmt::format("no determinism '{}'; there are bitwise, tolerance", text));
    return Determinism::kTolerance;
  }

  void ReadCases(const JsonValue& in) {
    in.AllowKeys({"small", "search", "search_cpu", "held_out", "held_out_cpu"});
    task_.small = ReadCase(in.At("small"), false);
    for (const auto& [key, cases] : {std::pair{"search", &task_.search_cuda},
                                     {"search_cpu", &task_.search_cpu},
                                     {"held_out", &task_.held_out},
                                     {"held_out_cpu", &task_.held_out_cpu}}) {
      const bool weighted = std::string_view(key).starts_with("search");
      for (const JsonValue& element : in.At(key).Elements()) cases->push_back(ReadCase(element, weighted));
      if (cases->empty()) in.At(key).Fail("at least one case is needed");
    }
  }

  Case ReadCase(const JsonValue& in, bool weighted) {
    Case result;
    if (weighted) {
      in.AllowKeys({"name", "sizes", "weight"});
    } else {
      in.AllowKeys({"name", "sizes", "data", "digest"});
    }
    result.name = in.At("name").String();
    if (result.name.empty()) in.At("name").Fail("must not be empty");
    if (!case_names_.insert(result.name).second) in.At("name").Fail(fmt::format("the case '{}' is given twice", result.name));
    if (in.Has("digest") && !in.Has("data")) in.At("digest").Fail("is that of `data`, which is missing");
    if (in.Has("data")) ReadData(in, result);
    const bool complete = result.data.empty() || recorded_ == nullptr;
    if (complete || in.Has("sizes")) ReadSizes(in.At("sizes"), complete, result);
    if (!complete) {
      recorded_->Complete(task_, result);
      for (const auto& [name, size] : result.sizes) {
        if (size < 1 || size > kLargestSize)
          in.Fail(fmt::format("{} is {} in {}; it must be 1 to {}", name, size, result.data, kLargestSize));
      }
    }
    if (in.Has("weight")) {
      result.weight = in.At("weight").Real();
      if (!(result.weight > 0)) in.At("weight").Fail("must be greater than 0");
    }
    return result;
  }

  void ReadSizes(const JsonValue& sizes, bool all, Case& result) {
    for (const std::string& key : sizes.Keys()) {
      if (std::find(task_.size_names.begin(), task_.size_names.end(), key) == task_.size_names.end()) {
        sizes.Fail(fmt::format("'{}' is not a size; sizes are {}", key, fmt::join(task_.size_names, ", ")));
      }
    }
    for (const std::string& name : task_.size_names) {
      if (!all && !sizes.Has(name)) continue;
      const JsonValue size = sizes.At(name);
      result.sizes[name] = size.Integer();
      if (result.sizes[name] < 1 || result.sizes[name] > kLargestSize) size.Fail(fmt::format("must be 1 to {}", kLargestSize));
    }
  }

  // The file's place in the messages to workers is limited.
  void ReadData(const JsonValue& in, Case& result) {
    constexpr int kMostCasesWithData = 16;
    result.data = in.At("data").String();
    if (!result.data.ends_with(".npz") || result.data.find('/') != std::string::npos)
      in.At("data").Fail(fmt::format("'{}' is not the name of a .npz file of this folder", result.data));
    if (++cases_with_data_ > kMostCasesWithData) in.Fail(fmt::format("at most {} cases may have data", kMostCasesWithData));
    if (in.Has("digest")) result.data_digest = in.At("digest").String();
  }

  Task& task_;
  int cases_with_data_ = 0;
  RecordedFiles* recorded_;
  std::set<std::string> names_;
  std::set<std::string> case_names_;
};

// Evaluates every expression of the task in a case, which finds mistakes that only numbers show.
void CheckCase(const Task& task, const Case& sizes, const std::string& file) {
  try {
    const Variables variables = CaseVariables(task, sizes);
    bool counts = false;
    for (const Argument& argument : task.arguments) {
      if (argument.role != Role::kScalar) ElementCount(argument, variables);
      if (argument.IsOutput()) counts |= CountedElements(argument, variables) > 0;
      // With a bound of 1 or more on the relative L2 error, an output of zeros would pass.
      if (const OutputCheck check = CheckFor(argument, variables); check.kind == OutputCheck::Kind::kTolerance &&
                                                                   !(check.l2 < 1) && argument.role != Role::kIn &&
                                                                   argument.role != Role::kScalar) {
        throw Error(
            fmt::format("argument '{}': a bound of {:.2g} on the relative L2 error follows from its check, and zeros would pass; "
                        "give fewer terms or a wider type",
                        argument.name, check.l2));
      }
      for (const Generator& generator : argument.generators) {
        if (generator.bound.EvaluateInteger(variables) < 1) {
          throw Error(fmt::format("argument '{}': the bound of '{}' is not positive", argument.name, generator.text));
        }
      }
    }
    if (!counts) throw Error("no element of any output is counted");
    if (task.bytes.Evaluate(variables).AsReal() < 0) throw Error("bytes is negative");
    if (task.operations.Evaluate(variables).AsReal() < 0) throw Error("operations is negative");
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: case '{}': {}", file, sizes.name, error.what()));
  }
}

}  // namespace

Task ParseTask(const std::string& json, const std::string& reference, const std::filesystem::path& directory,
               RecordedFiles* recorded) {
  Task task;
  task.directory = directory;
  task.reference = reference;
  const std::string file = (directory / "task.json").string();
  const nlohmann::json document = ParseJsonDocument(json, file);
  TaskReader(task, recorded).Read(JsonValue(document, file, ""));
  const bool completed = recorded != nullptr && !recorded->files().empty();
  task.json = completed ? WithRecordedSizes(json, task) : json;
  task.digest = Digest(task.json + '\0' + reference);
  std::vector<const Case*> cases{&task.small};
  for (const auto* list : {&task.search_cuda, &task.search_cpu, &task.held_out, &task.held_out_cpu}) {
    for (const Case& sizes : *list) cases.push_back(&sizes);
  }
  for (const Case* sizes : cases) CheckCase(task, *sizes, file);
  CheckReference(task, cases);
  return task;
}

}  // namespace evo
