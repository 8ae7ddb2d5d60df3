// What mutators promise, held against what their children compute on the cpu device, which contracts nothing: a child of an exact
// mutator stores the same bits as its parent for any input, one of a reassociating mutator the same values up to rounding.
#include "tests/mutators/promise_bench.h"
#include "tests/mutators/stencil_kernels.h"
#include "tests/mutators/sum_kernels.h"

namespace evo {
namespace {

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

const std::vector<Parameters> kWalkingSettings{
    {},
    {{"THREADS_X", 32}, {"THREADS_Y", 2}, {"ELEMENTS", 1}, {"ROWS", 4}, {"STEPS", 4}, {"AHEAD", 2}},
    {{"THREADS_X", 64}, {"THREADS_Y", 1}, {"ELEMENTS", 2}, {"ROWS", 2}, {"STEPS", 8}, {"AHEAD", 1}}};
const std::vector<std::vector<int>> kSmallGrids{{1, 1, 1}, {3, 2, 5}, {10, 13, 12}, {7, 9, 150}, {2, 40, 256}};
// Of kernels that leave the elements near edges alone.
const std::vector<std::vector<int>> kLargeGrids{{7, 8, 9}, {17, 13, 140}};

// The children of a mutator of stencils at several values of the parameters, on grids smaller than a block and not, with rows
// that may move by 16 bytes and others. Every access is checked.
class WalkingStencilTest : public PromiseTest {
 protected:
  void CompareChildren(const std::string& name, std::string_view text, int dimensions, const std::vector<std::vector<int>>& grids,
                       std::size_t children) {
    const SourceMutator& mutator = SourceMutatorNamed(name);
    const bool exact = mutator.promise() == Promise::kExact;
    const Parent original(ParseTemplate("kernel", std::string(text)));
    const auto proposals = mutator.Proposals(original.Context());
    ASSERT_EQ(proposals.size(), children) << testing::PrintToString(mutator.Refusals(original.Context()));
    for (const Proposal& proposal : proposals) {
      Parent parent(ParseTemplate("kernel", std::string(text)));
      parent.genome.edits = {mutator.EditOf(parent.Context(), proposal)};
      for (const BroughtParameter& brought : parent.genome.edits[0].brings)
        parent.genome.parameters[brought.name] = brought.initial;
      for (const Parameters& setting : kWalkingSettings) {
        for (const auto& [parameter, value] : setting) {
          if (parent.genome.parameters.contains(parameter)) parent.genome.parameters[parameter] = value;
        }
        parent.Render();
        ASSERT_EQ(parent.rendering.dropped, std::vector<std::string>{});
        EXPECT_EQ(CompileWith(*nvrtc_, parent.rendering.source).message, "") << parent.rendering.source;
        for (const auto& sizes : grids) {
          const Task task = GridTask(dimensions, sizes);
          const auto of_parent = OutputsOf(task, original.rendering.source, exact);
          EXPECT_EQ(Differences(of_parent, OutputsOf(task, parent.rendering.source, exact, true), exact), 0)
              << fmt::format("{} x {} x {}\n", sizes[0], sizes[1], sizes[2]) << parent.rendering.source;
        }
      }
    }
  }
};

TEST_F(WalkingStencilTest, RowsKeepEveryBit) {
  for (const StencilKernel& kernel : kStencilKernels) {
    SCOPED_TRACE(kernel.name);
    CompareChildren("stencil_rows", kernel.text, kernel.dimensions,
                    kernel.name == "star" || kernel.name == "framed" ? kLargeGrids : kSmallGrids,
                    kernel.dimensions == 3 && kernel.has_items ? 2 : 1);
  }
}

TEST_F(WalkingStencilTest, SumsKeepTheValue) {
  // The others decide within loops what they sum up.
  for (const StencilKernel& kernel : kStencilKernels) {
    SCOPED_TRACE(kernel.name);
    if (kernel.name == "flat" || kernel.name == "clamped" || kernel.name == "box")
      CompareChildren("stencil_sums", kernel.text, kernel.dimensions, kSmallGrids, 1);
    if (kernel.name == "framed") CompareChildren("stencil_sums", kernel.text, kernel.dimensions, kLargeGrids, 1);
  }
  for (const SumKernel& kernel : kSumKernels) {
    SCOPED_TRACE(kernel.name);
    CompareChildren("stencil_sums", kernel.text, kernel.dimensions, kernel.reads_beyond ? kLargeGrids : kSmallGrids, 1);
  }
}

TEST_F(PromiseTest, ReassociatingMutatorsKeepTheValue) { CompareAll(Promise::kReassociating, 8); }

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
