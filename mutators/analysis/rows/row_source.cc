#include "mutators/analysis/rows/row_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr int kThreadsOfRows = 32;

std::string ReadOf(const RowKernelText::Buffer& buffer, const std::string& element) {
  return fmt::format("{}({})", ConversionToFloat(buffer.type), element);
}

std::string ParameterOf(const RowKernelText::Buffer& buffer, const char* name, bool constant) {
  return fmt::format("{}{}* {}", constant ? "const " : "", ElementName(buffer.type), name);
}

// Whether elements are stored over those that are read.
bool IsStoredInPlace(const RowKernelText& text, const RowKernelText::Stored& one) {
  return one.form.of_element && (one.buffer.name == text.x.name || one.buffer.name == text.second.name);
}

bool StoresOver(const RowKernelText& text, const RowKernelText::Buffer& buffer) {
  return std::any_of(text.stored.begin(), text.stored.end(), [&](const RowKernelText::Stored& one) {
    return IsStoredInPlace(text, one) && one.buffer.name == buffer.name;
  });
}

}  // namespace

// Names end with _, so that those of the source stay what they are.
std::string RowKernelText::Kernel() const {
  // What is stored over what is read is one parameter: nothing else points to what a kernel stores to.
  const bool over_x = StoresOver(*this, x), over_second = StoresOver(*this, second);
  std::vector<std::string> parameters{ParameterOf(x, "x_", !over_x)};
  if (!second.name.empty()) parameters.push_back(ParameterOf(second, "a_", !over_second));
  if (!labels.name.empty()) parameters.push_back(ParameterOf(labels, "labels_", true));
  if (!scale.name.empty()) parameters.push_back(ParameterOf(scale, "scale_", true));
  if (!shift.name.empty()) parameters.push_back(ParameterOf(shift, "shift_", true));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (!IsStoredInPlace(*this, stored[i]))
      parameters.push_back(ParameterOf(stored[i].buffer, fmt::format("y{}_", i).c_str(), false));
  }
  for (const Passed& one : passed) parameters.push_back(fmt::format("{} {}", one.type, one.name));
  parameters.insert(parameters.end(), {"int rows_", "int length_"});
  if (!inner.empty()) parameters.emplace_back("int inner_");
  const std::string first =
      inner.empty() ? "(long long)row_ * length_" : "(long long)(row_ / inner_) * length_ * inner_ + row_ % inner_";
  const std::string at = inner.empty() ? "j_" : "(long long)j_ * inner_";
  std::string text = fmt::format(
      "__global__ void {}({}) {{\n  const int row_ = blockIdx.x * {} + threadIdx.x;\n"
      "  if (row_ >= rows_) return;\n",
      kernel, fmt::join(parameters, ", "), kThreadsOfRows);
  text += fmt::format("  {}{}* in_ = x_ + {};\n", over_x ? "" : "const ", ElementName(x.type), first);
  if (!second.name.empty())
    text += fmt::format("  {}{}* other_ = a_ + {};\n", over_second ? "" : "const ", ElementName(second.type), first);
  const auto with = [&](std::string form, const std::string& place) {
    const std::string plain = ReadOf(x, fmt::format("in_[{}]", place));
    std::string value = WithOtherName(element, "X", plain);
    if (!second.name.empty()) {
      const std::string other = ReadOf(second, fmt::format("other_[{}]", place));
      form = WithOtherName(form, "A", other);
      value = WithOtherName(value, "A", other);
    }
    form = WithOtherName(form, "X", element == "X" ? value : "(" + value + ")");
    form = WithOtherName(form, "L", "(float)length_");
    if (!small.empty()) form = WithOtherName(form, "E", small);
    if (!number.empty()) form = WithOtherName(form, "P", number);
    return WithOtherName(WithOtherName(form, "ROW", "row_"), "J", "j_");
  };
  std::string all;
  for (const Stored& one : stored) all += one.form.text + " ";
  const auto& statistics = RowStatistics();
  std::vector<const RowStatistic*> used;
  for (auto one = statistics.rbegin(); one != statistics.rend(); ++one) {
    if (!ContainsName(all, one->name)) continue;
    used.insert(used.begin(), &*one);
    all += one->begin + one->turn + " ";
  }
  const std::string loop = "  for (int j_ = 0; j_ < length_; ++j_) ";
  for (const RowStatistic* one : used) {
    text += fmt::format("  {}\n", with(one->begin, at));
    if (!one->turn.empty()) text += fmt::format("{}{}\n", loop, with(one->turn, at));
  }
  if (ContainsName(all, "place"))
    text += fmt::format(
        "  float most = -INFINITY;\n  int place = 0;\n{}{{\n    if ({} > most) {{\n      most = {};\n      place = j_;\n"
        "    }}\n  }}\n",
        loop, with("X", at), with("X", at));
  if (ContainsName(all, "chosen")) {
    const std::string chosen = with("X", inner.empty() ? "label" : "(long long)label * inner_");
    text += fmt::format("  const int label = labels_[row_];\n  const float chosen = {};\n",
                        guard.empty() ? chosen : fmt::format("{} ? {} : 0.0f", guard, chosen));
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const Stored& one = stored[i];
    std::string value = with(one.form.text, at);
    if (!guard.empty()) value = fmt::format("({} ? {} : 0.0f)", guard, value);
    if (!one.times.empty()) value = fmt::format("({}) * {}", value, one.times);
    if (!one.plus.empty()) value += fmt::format(" + {}", one.plus);
    if (!one.form.of_element) {
      const bool integer = one.form.text == "place";
      const std::string place = one.adds ? "" : "row_";
      text += one.adds ? fmt::format("  atomicAdd(y{}_, {});\n", i, value)
                       : fmt::format("  y{}_[{}] = {};\n", i, place,
                                     integer ? value : ConversionFromFloat(one.buffer.type) + "(" + value + ")");
      continue;
    }
    if (!scale.name.empty() && one.form.text != "X") value = fmt::format("({}) * {}", value, ReadOf(scale, "scale_[j_]"));
    if (!shift.name.empty() && one.form.text != "X") value += fmt::format(" + {}", ReadOf(shift, "shift_[j_]"));
    if (IsStoredInPlace(*this, one)) {
      text += fmt::format("{}{}[{}] = {}({});\n", loop, one.buffer.name == x.name ? "in_" : "other_", at,
                          ConversionFromFloat(one.buffer.type), value);
      continue;
    }
    text += fmt::format("  {}* out{}_ = y{}_ + {};\n{}out{}_[{}] = {}({});\n", ElementName(one.buffer.type), i, i, first, loop, i,
                        at, ConversionFromFloat(one.buffer.type), value);
  }
  return text + "}\n";
}

bool RowKernelText::TakeFrom(const RowKernelText& other) {
  const auto take = [](std::string& text, const std::string& from) {
    if (text.empty()) text = from;
    return from.empty() || text == from;
  };
  const bool fits = take(small, other.small) && take(number, other.number) && take(scale.name, other.scale.name) &&
                    take(scale.type, other.scale.type) && take(shift.name, other.shift.name) &&
                    take(shift.type, other.shift.type) && take(guard, other.guard) && element == other.element;
  for (const Passed& one : other.passed) {
    if (std::none_of(passed.begin(), passed.end(), [&](const Passed& known) { return known.name == one.name; }))
      passed.push_back(one);
  }
  stored.insert(stored.end(), other.stored.begin(), other.stored.end());
  return fits;
}

std::string RowKernelText::Launch() const {
  std::vector<std::string> arguments{x.name};
  for (const Buffer* buffer : {&second, &labels, &scale, &shift}) {
    if (!buffer->name.empty()) arguments.push_back(buffer->name);
  }
  for (const Stored& one : stored) {
    if (!IsStoredInPlace(*this, one)) arguments.push_back(one.buffer.name);
  }
  for (const Passed& one : passed) arguments.push_back(one.argument);
  const std::string rows = inner.empty() ? outer : fmt::format("{} * {}", outer, inner);
  arguments.insert(arguments.end(), {rows, length});
  if (!inner.empty()) arguments.push_back(inner);
  return fmt::format("launch {}({}) grid(ceil_div({}, {})) block({})", kernel, fmt::join(arguments, ", "), rows, kThreadsOfRows,
                     kThreadsOfRows);
}

}  // namespace evo
