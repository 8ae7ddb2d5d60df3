#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel_templates/launch_plan.h"
#include "tests/mutators/children_bench.h"

namespace evo {

// Elements of a buffer, by its shape at the given sizes.
inline std::size_t ElementsOf(const Argument& argument, const Case& sizes) {
  Variables values;
  for (const auto& [name, size] : sizes.sizes) values[name] = Number::Integer(size);
  std::int64_t elements = 1;
  for (const Expression& dimension : argument.shape) elements *= dimension.EvaluateInteger(values);
  return static_cast<std::size_t>(elements);
}

// Ordinary numbers or, with `hard`, also NaN, infinities, both zeros, denormals and numbers near the largest.
inline std::vector<float> Draw(std::size_t count, bool hard, std::mt19937& random) {
  constexpr std::array<float, 10> kHard{NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-40f, -1e-40f, 3e38f, -3e38f, 1e-20f};
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = hard && random() % 8 == 0 ? kHard[random() % kHard.size()] : normal(random);
  return values;
}

// As bfloat16.
inline std::vector<std::uint16_t> Shortened(const std::vector<float>& values) {
  std::vector<std::uint16_t> shortened;
  for (const float value : values) shortened.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return shortened;
}

// Compares what kernels and their children store.
class PromiseTest : public ChildrenTest {
 protected:
  // What a kernel stores into the outputs of a task of floats, and of inputs in bfloat16, all of them one after another; empty if
  // it could not be run.
  std::vector<float> OutputsOf(const Task& task, const std::string& source, bool hard, bool checked = false) {
    std::mt19937 random(5);
    return OutputsOn(
        task, source, [&](const Argument&, std::size_t count) { return Draw(count, hard, random); }, checked);
  }

  // The same for inputs that `draw` makes, of which it gets the number of elements.
  std::vector<float> OutputsOn(const Task& task, const std::string& source,
                               const std::function<std::vector<float>(const Argument& argument, std::size_t count)>& draw,
                               bool checked = false) {
    const CompileResult compiled = CompileWith(*compiler_, source, checked);
    EXPECT_EQ(compiled.outcome, Outcome::kOk) << compiled.message << "\n" << source;
    if (compiled.outcome != Outcome::kOk) return {};
    const auto program = Load(compiled);
    const KernelTemplate rendered = ParseTemplate("child", source);
    const auto planned = PlanLaunches(rendered, rendered.space.Defaults(), task, task.small);
    if (std::holds_alternative<PlanFailure>(planned)) return {};
    const LaunchPlan& plan = std::get<LaunchPlan>(planned);
    std::map<std::string, std::pair<Address, std::size_t>> buffers;
    for (const Argument& argument : task.arguments) {
      if (argument.role == Role::kScalar) continue;
      const std::size_t count = ElementsOf(argument, task.small);
      const std::vector<float> values = argument.role == Role::kOut ? std::vector<float>(count) : draw(argument, count);
      buffers[argument.name] = {argument.dtype == Dtype::kBF16 ? Upload(Shortened(values)) : Upload(values), count};
    }
    // Of NaN, so that what is read before it is stored shows.
    for (const PlannedWorkspace& workspace : plan.workspaces) {
      const std::size_t bytes = static_cast<std::size_t>(workspace.elements) * ByteSize(workspace.dtype);
      buffers[workspace.name] = {Upload(std::vector<std::uint8_t>(bytes, 0xff)), bytes};
    }
    for (const auto& step : plan.steps) {
      const DeviceStatus status = Run(*program, Bind(std::get<PlannedLaunch>(step), compiled, buffers));
      EXPECT_TRUE(status.ok()) << status.message << "\n" << source;
    }
    std::vector<float> stored;
    for (const Argument& argument : task.arguments) {
      const auto& [address, count] = buffers[argument.name];
      if (argument.role != Role::kOut) continue;
      const auto values = Download<float>(address, count);
      stored.insert(stored.end(), values.begin(), values.end());
    }
    for (const auto& [name, buffer] : buffers) device_->memory().Free(buffer.first);
    return stored;
  }

  // Once for all children.
  const std::vector<float>& OutputsOfParent(const Task& task, const std::string& source, bool hard) {
    const auto [known, is_new] = of_parents_.try_emplace({task.name, source, hard});
    if (is_new) known->second = OutputsOf(task, source, hard);
    return known->second;
  }

  static DeviceLaunch Bind(const PlannedLaunch& planned, const CompileResult& compiled,
                           const std::map<std::string, std::pair<Address, std::size_t>>& buffers) {
    DeviceLaunch launch{0, planned.grid, planned.block, planned.cluster, planned.shared_bytes, planned.cooperative, {}};
    while (compiled.program.kernels.at(launch.kernel).expression != planned.kernel_expression) ++launch.kernel;
    for (const LaunchArgument& argument : planned.arguments) {
      if (const auto* buffer = std::get_if<BufferUse>(&argument))
        launch.arguments.emplace_back(buffers.at(buffer->name).first);
      else
        launch.arguments.emplace_back(std::get<ScalarUse>(argument));
    }
    return launch;
  }

  // Runs at most `most` children of a mutator, evenly spaced among its proposals, and compares what they store. The number run.
  int Compare(const SourceMutator& mutator, const Task& task, const KernelTemplate& kernel, int most) {
    const Parent parent(kernel);
    const bool exact = mutator.promise() == Promise::kExact;
    const std::vector<float>& expected = OutputsOfParent(task, parent.rendering.source, exact);
    const auto proposals = mutator.Proposals(parent.Context());
    const int count = std::min(most, static_cast<int>(proposals.size()));
    for (int i = 0; i < count; ++i) {
      const Proposal& proposal = proposals[static_cast<std::size_t>(i) * proposals.size() / static_cast<std::size_t>(count)];
      const AppliedEdit child =
          ApplyEdit(*parent.tree, parent.genome.parameters, MakeEdit(*parent.tree, mutator.name(), proposal));
      EXPECT_EQ(child.dropped, "") << mutator.name();
      const std::vector<float> stored = OutputsOf(task, child.text, exact);
      EXPECT_EQ(Differences(expected, stored, exact), 0) << mutator.name() << " of " << task.name << "/" << kernel.name << "\n"
                                                         << Difference(parent, child.text);
    }
    return count;
  }

  // Elements that are not equal. Exact: other bits, where not both are NaN. Else: further apart than the rounding of a sum of
  // some hundred terms, or of one approximate function.
  static int Differences(const std::vector<float>& expected, const std::vector<float>& stored, bool exact) {
    if (expected.empty() || expected.size() != stored.size()) return -1;
    double scale = 0;
    for (const float value : expected) scale = std::max(scale, std::fabs(static_cast<double>(value)));
    int differences = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double apart = std::fabs(static_cast<double>(expected[i]) - static_cast<double>(stored[i]));
      const bool both_nan = std::isnan(expected[i]) && std::isnan(stored[i]);
      if (exact)
        differences += !both_nan && std::memcmp(&expected[i], &stored[i], sizeof(float)) != 0;
      else
        differences += !(apart <= 1e-4 * scale);
    }
    return differences;
  }

  // How many of what a child stored are further off than three products of tf32 are, and how many are not finite and not its
  // parent's. `terms` gives the factors of an element's products; `finite` becomes the number of the former.
  template <typename Terms>
  static std::pair<int, int> WrongSums(const std::vector<float>& expected, const std::vector<float>& stored, Terms terms,
                                       int& finite) {
    std::pair<int, int> counts;
    finite = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double exact = 0, size = 0;
      for (const auto& [a, b] : terms(i)) {
        const double product = static_cast<double>(a) * static_cast<double>(b);
        exact += product, size += std::fabs(product);
      }
      const bool is_finite = std::isfinite(size) && size < 1e38;
      finite += is_finite;
      // With half a unit of the smallest number, for what is stored as a denormal one.
      if (is_finite)
        counts.first += !(std::fabs(static_cast<double>(stored[i]) - exact) <= 0x1p-21 * size + 0x1p-150);
      else
        counts.second += Differences({expected[i]}, {stored[i]}, true);
    }
    return counts;
  }

  // All mutators with this promise, on kernels with outputs of floats whose parameters are at their defaults.
  void CompareAll(Promise promise, int least) {
    const std::vector<std::pair<std::filesystem::path, std::vector<const char*>>> places{
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_rows", {"serial", "shared"}},
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_image", {"blur"}},
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_matmul", {"simple", "tiles"}},
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product", {"flat", "pointers"}},
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_filter", {"fir"}},
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_half_layer", {"relu"}},
        {std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_convolution_layer", {"relu"}},
        {ShareDirectory() / "kernel_templates" / "conv1d", {"naive"}},
        {ShareDirectory() / "kernel_templates" / "layer_norm", {"naive", "block"}},
        {ShareDirectory() / "kernel_templates" / "softmax", {"naive", "warp"}},
        {ShareDirectory() / "kernel_templates" / "transpose", {"naive", "tiled"}}};
    const MutatorSet mutators;
    std::map<std::string_view, int> compared;
    for (const auto& [folder, kernels] : places) {
      const Task task = LoadTask(folder);
      for (const char* kernel : kernels) {
        const KernelTemplate loaded = LoadTemplate(folder / fmt::format("{}.cu", kernel));
        for (const auto& mutator : mutators.all()) {
          const auto* source = dynamic_cast<const SourceMutator*>(mutator.get());
          if (source == nullptr || source->promise() != promise) continue;
          if (compared[source->name()] < kChildren) compared[source->name()] += Compare(*source, task, loaded, 1);
        }
      }
    }
    const auto with_children =
        std::count_if(compared.begin(), compared.end(), [](const auto& entry) { return entry.second > 0; });
    EXPECT_GE(with_children, least);
  }

  // Of each mutator, each on another kernel. A child takes a second to compile.
  static constexpr int kChildren = 3;
  std::map<std::tuple<std::string, std::string, bool>, std::vector<float>> of_parents_;
};

}  // namespace evo
