#include "evaluator/gate/recorded_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "core/error.h"
#include "evaluator/gate/input_generator.h"
#include "kernel_templates/recorded_file.h"

namespace evo {
namespace {

std::vector<std::byte> BytesOf(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string TextOf(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

[[noreturn]] void Fail(const RecordedFile& file, const Case& one, const std::string& what) {
  throw UsageError(fmt::format("{}: case '{}': {}", file.path, one.name, what));
}

// "X[3, 4]"
std::string Place(const NpzArray& array, std::size_t index) {
  std::vector<std::int64_t> at(array.shape.size());
  for (std::size_t i = at.size(); i-- > 0;) {
    at[i] = static_cast<std::int64_t>(index % static_cast<std::size_t>(array.shape[i]));
    index /= static_cast<std::size_t>(array.shape[i]);
  }
  return array.name + ShapeText(at);
}

// The values in another dtype, which must hold them exactly.
std::vector<std::byte> Converted(const NpzArray& array, Dtype dtype, const RecordedFile& file, const Case& one) {
  std::vector<std::byte> bytes = BytesOf(array.bytes);
  if (array.dtype == dtype) return bytes;
  const std::vector<double> values = ToDoubles(bytes, array.dtype);
  const auto fail = [&](std::size_t i) {
    Fail(file, one,
         fmt::format("{} is {}, which {} cannot hold exactly; save what the kernels are to get, in their type", Place(array, i),
                     values[i], ToString(dtype)));
  };
  std::vector<double> after;
  try {
    bytes = FromDoubles(values, dtype);
    after = ToDoubles(bytes, dtype);
  } catch (const Error&) {  // an integer type that cannot hold one of them
    for (std::size_t i = 0; i < values.size(); ++i) {
      try {
        FromDoubles({values[i]}, dtype);
      } catch (const Error&) {
        fail(i);
      }
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != after[i] && !(std::isnan(values[i]) && std::isnan(after[i]))) fail(i);
  }
  return bytes;
}

// Why these values are none that the generator may draw; empty if they are, or if nothing is known of them.
std::string NotDrawn(const Generator& generator, const Variables& variables, const std::vector<double>& values,
                     const NpzArray& array) {
  using GeneratorKind = Generator::Kind;
  if (generator.kind != GeneratorKind::kIndex && generator.kind != GeneratorKind::kPermutation &&
      generator.kind != GeneratorKind::kOffsets)
    return "";
  const auto bound = generator.kind == GeneratorKind::kPermutation
                         ? static_cast<double>(values.size())
                         : static_cast<double>(generator.bound.EvaluateInteger(variables));
  std::vector<bool> seen(generator.kind == GeneratorKind::kPermutation ? values.size() : 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto wrong = [&](const std::string& why) {
      return fmt::format("{} is {}, and task.json says {}{}", Place(array, i), values[i], generator.text, why);
    };
    const bool in_range = values[i] >= 0 && (generator.kind == GeneratorKind::kOffsets ? values[i] <= bound : values[i] < bound);
    if (!in_range) return wrong(generator.kind == GeneratorKind::kPermutation ? "" : fmt::format(", which is {} here", bound));
    if (generator.kind == GeneratorKind::kOffsets && i > 0 && values[i] < values[i - 1]) return wrong(", which ascends");
    if (seen.empty()) continue;
    if (seen[static_cast<std::size_t>(values[i])]) return wrong(", which has each number once");
    seen[static_cast<std::size_t>(values[i])] = true;
  }
  return "";
}

// A kernel may read out of bounds with an index that the task excludes.
void CheckLegal(const Task& task, const Argument& argument, const NpzArray& array, const std::vector<std::byte>& bytes,
                const RecordedFile& file, const Case& one) {
  const std::vector<double> values = ToDoubles(bytes, argument.dtype);
  for (const DomainLimit& limit : task.domain) {
    if (limit.of != argument.name) continue;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!limit.Holds(values[i])) Fail(file, one, fmt::format("{} is {}: {}", Place(array, i), values[i], limit.Text()));
    }
  }
  const Variables variables = CaseVariables(task, one);
  std::string first;
  for (const Generator& generator : argument.generators) {
    const std::string why = NotDrawn(generator, variables, values, array);
    if (why.empty()) return;
    if (first.empty()) first = why;
  }
  if (!first.empty()) Fail(file, one, first);
}

std::vector<double> Answers(const NpzArray& array, const RecordedFile& file, const Case& one, Dtype dtype) {
  const std::vector<std::byte> bytes =
      IsFloating(dtype) ? BytesOf(array.bytes) : Converted(array, dtype, file, one);  // integers must be possible ones
  std::vector<double> values = ToDoubles(bytes, IsFloating(dtype) ? array.dtype : dtype);
  const auto nan = std::find_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  if (nan != values.end())
    Fail(file, one,
         fmt::format("{} is NaN; a right answer is a number", Place(array, static_cast<std::size_t>(nan - values.begin()))));
  return values;
}

std::vector<const Case*> CasesWithData(const Task& task) {
  std::vector<const Case*> cases;
  const auto add = [&](const Case& one) {
    if (!one.data.empty()) cases.push_back(&one);
  };
  add(task.small);
  for (const auto* list : {&task.held_out, &task.held_out_cpu}) std::for_each(list->begin(), list->end(), add);
  return cases;
}

}  // namespace

std::string PackRecorded(const Task& task, const Case& one) {
  const RecordedFile& file = *task.recorded.at(one.data);
  std::string packed;
  for (const Argument& argument : task.arguments) {
    if (argument.IsDrawn()) {
      const NpzArray& array = *file.Find(InputArray(argument));
      const std::vector<std::byte> bytes = Converted(array, argument.dtype, file, one);
      CheckLegal(task, argument, array, bytes, file, one);
      packed += TextOf(bytes);
    }
    if (argument.IsOutput()) {
      const std::vector<double> answers = Answers(*file.Find(AnswerArray(argument)), file, one, argument.dtype);
      packed += TextOf(std::as_bytes(std::span(answers)));
    }
  }
  return packed;
}

std::map<std::string, std::string> PackAllRecorded(const Task& task) {
  std::map<std::string, std::string> packed;
  std::uint64_t bytes = 0;
  for (const Case* one : CasesWithData(task)) {
    bytes += (packed[one->name] = PackRecorded(task, *one)).size();
    if (bytes > kMostNpzBytes)
      throw UsageError(
          fmt::format("task {}: its recorded data has more than {} MiB with answers in double precision; record "
                      "smaller cases",
                      task.name, kMostNpzBytes >> 20));
  }
  return packed;
}

RecordedContents UnpackRecorded(const Task& task, const Case& one, const std::string& packed) {
  const Variables variables = CaseVariables(task, one);
  RecordedContents contents{DrawnArguments(task.arguments.size()), std::vector<std::vector<double>>(task.arguments.size())};
  std::size_t at = 0;
  const auto take = [&](void* into, std::size_t bytes) {
    if (packed.size() - at < bytes) throw Error(fmt::format("case {}: its recorded data is incomplete", one.name));
    std::memcpy(into, packed.data() + at, bytes);
    at += bytes;
  };
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const Argument& argument = task.arguments[i];
    if (argument.role == Role::kScalar) continue;
    const auto elements = static_cast<std::size_t>(ElementCount(argument, variables));
    if (argument.IsDrawn()) {
      contents.inputs[i].resize(elements * ByteSize(argument.dtype));
      take(contents.inputs[i].data(), contents.inputs[i].size());
    }
    if (argument.IsOutput()) {
      contents.answers[i].resize(elements);
      take(contents.answers[i].data(), elements * sizeof(double));
    }
  }
  if (at != packed.size()) throw Error(fmt::format("case {}: its recorded data is of another size", one.name));
  return contents;
}

std::optional<Failure> RecordedReference::Compute(Device& device, const Task& task, const Case&,
                                                  const std::vector<Place>& places) {
  for (const Place& place : places) {
    if (place.answer.bytes == 0) continue;
    const auto argument = std::find_if(task.arguments.begin(), task.arguments.end(),
                                       [&](const Argument& one) { return one.name == place.argument->name; });
    const std::vector<double>& answer = contents_.answers[static_cast<std::size_t>(argument - task.arguments.begin())];
    if (DeviceStatus status = device.memory().Write(place.answer.address, std::as_bytes(std::span(answer))); !status.ok())
      return ToFailure(status);
  }
  return std::nullopt;
}

}  // namespace evo
