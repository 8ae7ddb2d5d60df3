#include "tests/adversarial_kernels/timed_data.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/gate/input_set.h"
#include "evaluator/scheduling/champion_checker.h"
#include "kernel_templates/case_scale.h"

namespace evo {
namespace {

std::vector<float> Floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void Fill(std::string& source, std::string_view array, const std::string& values) {
  const std::string empty = fmt::format("{}[] = {{0}};", array);
  const std::size_t at = source.find(empty);
  if (at != std::string::npos) source.replace(at, empty.size(), fmt::format("{}[] = {{{}}};", array, values));
}

}  // namespace

std::string WithTimedData(std::string source, const Task& task, const std::string& device) {
  if (source.find("prints[] = {0};") == std::string::npos) return source;
  const Case& sizes = SearchCases(task, PolicyOf(device).cases).front();
  std::string prints;
  std::string answers;
  for (std::size_t i = 0; i < kPoolSeeds; ++i) {
    const DrawnArguments drawn = DrawArguments(task, sizes, 0, Rng(0, ~0ULL, i).Next());
    const std::vector<float> a = Floats(drawn[0]);
    const std::vector<float> b = Floats(drawn[1]);
    std::uint32_t print = 0;
    std::memcpy(&print, b.data(), sizeof print);
    prints += fmt::format("{}u, ", print);
    for (std::size_t row = 0; row < a.size() / b.size(); ++row) {
      double sum = 0;
      for (std::size_t k = 0; k < b.size(); ++k) sum += static_cast<double>(a[row * b.size() + k]) * b[k];
      answers += fmt::format("{:.9e}f, ", sum);
    }
  }
  Fill(source, "prints", prints);
  Fill(source, "answers", answers);
  return source;
}

}  // namespace evo
