// What mutators promise, held against what their children compute on the cpu device, which contracts nothing: a child of an exact
// mutator stores the same bits as its parent for any input, one of a reassociating mutator the same values up to rounding.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <tuple>

#include "kernel_templates/launch_plan.h"
#include "tests/mutators/children_bench.h"
#include "tests/mutators/stencil_kernels.h"

namespace evo {
namespace {

// Elements of a buffer, by its shape at the given sizes.
std::size_t ElementsOf(const Argument& argument, const Case& sizes) {
  Variables values;
  for (const auto& [name, size] : sizes.sizes) values[name] = Number::Integer(size);
  std::int64_t elements = 1;
  for (const Expression& dimension : argument.shape) elements *= dimension.EvaluateInteger(values);
  return static_cast<std::size_t>(elements);
}

// Ordinary numbers or, with `hard`, also NaN, infinities, both zeros, denormals and numbers near the largest.
std::vector<float> Draw(std::size_t count, bool hard, std::mt19937& random) {
  constexpr std::array<float, 10> kHard{NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-40f, -1e-40f, 3e38f, -3e38f, 1e-20f};
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = hard && random() % 8 == 0 ? kHard[random() % kHard.size()] : normal(random);
  return values;
}

// As bfloat16.
std::vector<std::uint16_t> Shortened(const std::vector<float>& values) {
  std::vector<std::uint16_t> shortened;
  for (const float value : values) shortened.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return shortened;
}

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

TEST_F(PromiseTest, ExactMutatorsKeepEveryBit) { CompareAll(Promise::kExact, 20); }

// A task with one input and one output of a grid. Its reference is not run.
Task GridTask(int dimensions, const std::vector<int>& sizes) {
  const std::string shape = dimensions == 2 ? R"(["H", "W"])" : R"(["D", "H", "W"])";
  const std::string of_case = dimensions == 2 ? fmt::format(R"({{"H": {}, "W": {}}})", sizes[1], sizes[2])
                                              : fmt::format(R"({{"D": {}, "H": {}, "W": {}}})", sizes[0], sizes[1], sizes[2]);
  std::string cases;
  for (const char* name : {"search", "search_cpu", "held_out", "held_out_cpu"})
    cases += fmt::format(R"(, "{0}": [{{"name": "{0}", "sizes": {1}}}])", name, of_case);
  return ParseTask(fmt::format(R"({{"name": "grid", "summary": "a grid", "sizes": {0}, "arguments": [
      {{"name": "A", "role": "in", "dtype": "f32", "shape": {0}, "generators": ["normal"]}},
      {{"name": "B", "role": "out", "dtype": "f32", "shape": {0}, "check": {{"l2": 1e-5, "max": 1e-4}}}}],
      "cases": {{"small": {{"name": "small", "sizes": {1}}}{2}}}, "baseline": "naive", "bytes": "H",
      "operations": "H"}})",
                               shape, of_case, cases),
                   "// evo:launch nothing(A, B) grid(1) block(1)\n__global__ void nothing(const float* a, double* b) {}\n",
                   "grid");
}

// Stencils of several styles at several values of the parameters, on grids smaller than a block and not, with rows that may move
// by 16 bytes and others. Every access is checked.
TEST_F(PromiseTest, WalkingStencilsKeepEveryBit) {
  const std::vector<Parameters> settings{
      {},
      {{"THREADS_X", 32}, {"THREADS_Y", 2}, {"ELEMENTS", 1}, {"ROWS", 4}, {"STEPS", 4}, {"AHEAD", 2}},
      {{"THREADS_X", 64}, {"THREADS_Y", 1}, {"ELEMENTS", 2}, {"ROWS", 2}, {"STEPS", 8}, {"AHEAD", 1}}};
  const std::vector<std::vector<int>> small{{1, 1, 1}, {3, 2, 5}, {10, 13, 12}, {7, 9, 150}, {2, 40, 256}};
  const std::vector<std::vector<int>> large{{7, 8, 9}, {17, 13, 140}};
  const SourceMutator& mutator = SourceMutatorNamed("stencil_rows");
  for (const StencilKernel& kernel : kStencilKernels) {
    SCOPED_TRACE(kernel.name);
    const Parent original(ParseTemplate("kernel", std::string(kernel.text)));
    const std::string source = original.rendering.source;
    const auto proposals = mutator.Proposals(original.Context());
    ASSERT_EQ(proposals.size(), kernel.dimensions == 3 && kernel.has_items ? 2u : 1u);
    for (const Proposal& proposal : proposals) {
      Parent parent(ParseTemplate("kernel", std::string(kernel.text)));
      parent.genome.edits = {mutator.EditOf(parent.Context(), proposal)};
      for (const BroughtParameter& brought : parent.genome.edits[0].brings)
        parent.genome.parameters[brought.name] = brought.initial;
      for (const Parameters& setting : settings) {
        for (const auto& [name, value] : setting) {
          if (parent.genome.parameters.contains(name)) parent.genome.parameters[name] = value;
        }
        parent.Render();
        ASSERT_EQ(parent.rendering.dropped, std::vector<std::string>{});
        EXPECT_EQ(CompileWith(*nvrtc_, parent.rendering.source).message, "") << parent.rendering.source;
        for (const auto& sizes : kernel.name == "star" || kernel.name == "framed" ? large : small) {
          const Task task = GridTask(kernel.dimensions, sizes);
          EXPECT_EQ(Differences(OutputsOf(task, source, true), OutputsOf(task, parent.rendering.source, true, true), true), 0)
              << fmt::format("{} x {} x {}\n", sizes[0], sizes[1], sizes[2]) << parent.rendering.source;
        }
      }
    }
  }
}

TEST_F(PromiseTest, ReassociatingMutatorsKeepTheValue) { CompareAll(Promise::kReassociating, 8); }

// A product of floats on tensor cores keeps denormal numbers, and what is not finite or becomes so.
TEST_F(PromiseTest, SplitProductsKeepHardNumbers) {
  constexpr const char* kSource = R"(
// evo:launch clamped(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void clamped(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = fminf(sum, 3.0e38f);
}
)";
  const Task task = LoadTask(std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_product");
  const std::size_t rows = 45, columns = 70, depth = 37;
  std::mt19937 random(7);
  std::vector<float> a = Draw(rows * depth, false, random), b = Draw(depth * columns, false, random);
  constexpr float kScales[] = {1, 1e-40f, 1e-37f, 1e12f, 1e20f, 3e38f, 1e-20f};
  constexpr float kOnes[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= kScales[i / depth % 7];
  for (std::size_t row = 0; row < rows; row += 4) a[row * depth + row % depth] = kOnes[row / 4 % 5];
  // A third of the columns is large, and a third is of ones, of which the second number is 0.
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 3 == 1 ? b[i] * 1e15f : i % 3 == 2 ? 1.0f : b[i];
  const auto draw = [&](const Argument& argument, std::size_t) { return argument.name == "A" ? a : b; };
  const std::vector<float> expected = OutputsOn(task, kSource, draw);
  const auto children = ChildrenOf("split_tensor_contraction", kSource);
  ASSERT_EQ(children.size(), 2u);
  // Elements that are further off than three products of tf32 are, and those that are not finite and not the parent's.
  int finite = 0;
  const auto wrong = [&](const std::string& source) {
    const std::vector<float> stored = OutputsOn(task, source, draw);
    std::pair<int, int> counts;
    for (std::size_t i = 0; i < rows * columns; ++i) {
      double exact = 0, size = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        const double product =
            static_cast<double>(a[i / columns * depth + k]) * static_cast<double>(b[k * columns + i % columns]);
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
  };
  EXPECT_EQ(wrong(children[1]), std::pair(0, 0));
  EXPECT_GT(finite, 1000);
  EXPECT_LT(finite, 3000);
  // Without the factor denormal numbers lose bits, and without the loop products of infinities are lost.
  const std::string scaled = With(With(children[1], "16777216.0f", "1.0f"), "0x1p-48f", "1.0f");
  EXPECT_GT(wrong(scaled).first, 100);
  EXPECT_GT(wrong(With(children[1], "!(fabsf(sum) < 1e23f)", "false")).second, 100);
}

// The comparison notices one changed bit, and a child that computes something else.
TEST_F(PromiseTest, TheComparisonNoticesADifference) {
  EXPECT_EQ(Differences({1.0f, NAN}, {1.0f, NAN}, true), 0);
  EXPECT_EQ(Differences({0.0f}, {-0.0f}, true), 1);
  EXPECT_EQ(Differences({1.0f, 100.0f}, {1.00001f, 100.0f}, false), 0);
  EXPECT_EQ(Differences({1.0f, 100.0f}, {1.1f, 100.0f}, false), 1);
  EXPECT_EQ(Differences({1.0f}, {NAN}, false), 1);
  const Task task = LoadTask(std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_rows");
  const std::string text = LoadTemplate(task.directory / "serial.cu").text;
  const auto wrong = ChildrenOf("statement_delete", text);
  ASSERT_FALSE(wrong.empty());
  EXPECT_NE(Differences(OutputsOf(task, text, false), OutputsOf(task, wrong.front(), false), false), 0);
}

}  // namespace
}  // namespace evo
