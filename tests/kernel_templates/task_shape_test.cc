#include "kernel_templates/task_shape.h"

#include <gmock/gmock.h>

#include "tests/kernel_templates/failure.h"

namespace evo {
namespace {

constexpr const char* kShapedTask = R"json({
  "name": "scale",
  "summary": "Y = a X",
  "sizes": ["N", "M"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["N", "M % 4 == 0 ? M / 4 : 0"], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f32", "shape": ["N"], "check": {"l2": 1e-3, "max": 0.02}}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 3, "M": 4}},
    "search": [{"name": "big", "sizes": {"N": 300, "M": 8}, "weight": 2}, {"name": "bigger", "sizes": {"N": 600, "M": 4}}],
    "search_cpu": [{"name": "cpu", "sizes": {"N": 30, "M": 12}}],
    "held_out": [{"name": "odd", "sizes": {"N": 7, "M": 4}}],
    "held_out_cpu": [{"name": "odd_cpu", "sizes": {"N": 5, "M": 4}}]
  },
  "baseline": "naive",
  "bytes": "N * M * 4",
  "operations": "N"
})json";
constexpr const char* kScaleReference = "// evo:launch reference(X, Y, N) grid(N) block(32)\n";

Task ScaleTask() { return ParseTask(kShapedTask, kScaleReference, "tasks/scale"); }
Task With(const std::vector<std::string>& shapes, CaseScale scale = CaseScale::kGpu) {
  return WithSearchShapes(ScaleTask(), scale, shapes);
}
std::string ShapeFailure(const std::vector<std::string>& shapes) {
  return UsageFailure([&] { With(shapes); });
}

TEST(TaskShape, BecomesTheOnlySearchCaseOfTheDevice) {
  const Task task = With({"N=77,M=16"});
  ASSERT_EQ(task.search_cuda.size(), 1u);
  EXPECT_EQ(task.search_cuda[0].name, "shape_N77_M16");
  EXPECT_EQ(task.search_cuda[0].sizes, (std::map<std::string, std::int64_t>{{"N", 77}, {"M", 16}}));
  EXPECT_EQ(task.search_cuda[0].weight, 1);
  EXPECT_EQ(task.search_cpu.at(0).name, "cpu");
  EXPECT_EQ(task.held_out.at(0).name, "odd");
  EXPECT_EQ(task.small.name, "small");
  EXPECT_EQ(task.name, "scale");
  EXPECT_EQ(task.bytes.Evaluate(CaseVariables(task, task.search_cuda[0])).integer, 77 * 16 * 4);
}

TEST(TaskShape, KeepsTheSizesThatItDoesNotName) {
  EXPECT_EQ(With({"N=77"}).search_cuda.at(0).sizes.at("M"), 8);
  EXPECT_EQ(With({"N=77"}, CaseScale::kEmulated).search_cpu.at(0).sizes.at("M"), 12);
}

TEST(TaskShape, SeveralShapesBecomeSeveralCases) {
  const Task task = With({"N=77", "M=4"});
  ASSERT_EQ(task.search_cuda.size(), 2u);
  EXPECT_EQ(task.search_cuda[1].name, "shape_N300_M4");
}

// A worker parses the task's json again, and the database compares digests.
TEST(TaskShape, HasItsOwnJsonAndDigest) {
  const Task task = With({"N=77"});
  EXPECT_NE(task.digest, ScaleTask().digest);
  EXPECT_NE(task.digest, With({"N=78"}).digest);
  EXPECT_EQ(task.digest, With({"N=77,M=8"}).digest);
  const Task again = ParseTask(task.json, task.reference, task.directory);
  EXPECT_EQ(again.digest, task.digest);
  EXPECT_EQ(again.search_cuda.at(0).name, "shape_N77_M8");
  EXPECT_EQ(With({}).digest, ScaleTask().digest);
}

TEST(TaskShape, SaysWhatIsWrong) {
  EXPECT_EQ(ShapeFailure({"K=3"}), "shape K=3: 'K' is not a size of task scale; sizes are N, M");
  EXPECT_EQ(ShapeFailure({"N"}), "shape N: 'N' is not understood; give SIZE=NUMBER,.. with sizes of task scale: N, M");
  EXPECT_EQ(ShapeFailure({""}), "shape : '' is not understood; give SIZE=NUMBER,.. with sizes of task scale: N, M");
  EXPECT_EQ(ShapeFailure({"N=4,N=5"}), "shape N=4,N=5: N is given twice");
  for (const char* wrong : {"N=", "N=0", "N=-3", "N=4x", "N=99999999999999999999"}) {
    EXPECT_EQ(ShapeFailure({wrong}), std::string("shape ") + wrong + ": " + wrong + ": the size must be a positive integer");
  }
  EXPECT_THAT(ShapeFailure({"N=3000000000"}), testing::HasSubstr("shape N=3000000000: tasks/scale/task.json: "));
  EXPECT_THAT(ShapeFailure({"N=7", "N=7"}), testing::HasSubstr("the case 'shape_N7_M8' is given twice"));
  EXPECT_THAT(ShapeFailure({"M=6"}), testing::HasSubstr("shape M=6: tasks/scale/task.json: case 'shape_N300_M6': "));
}

}  // namespace
}  // namespace evo
