#include "evaluator/gate/standard_battery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/mixed_task.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr const char* kRowsTask = R"json({
  "name": "rows", "summary": "one matrix", "sizes": ["R", "C"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["R", "C"], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f32", "shape": ["R"], "check": {"l2": 1e-6, "max": 1e-5}}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"R": 3, "C": 300}},
    "search": [{"name": "a", "sizes": {"R": 2, "C": 2000}}], "search_cpu": [{"name": "b", "sizes": {"R": 1, "C": 1}}],
    "held_out": [{"name": "c", "sizes": {"R": 2, "C": 9}}], "held_out_cpu": [{"name": "d", "sizes": {"R": 2, "C": 8}}]
  },
  "baseline": "k", "bytes": "8 * R * C", "operations": "R * C"
})json";

std::vector<std::string> Texts(const std::vector<InputProgram>& programs) {
  std::vector<std::string> texts;
  for (const InputProgram& program : programs) texts.push_back(ToText(program));
  return texts;
}

Task Rows300() { return ParseTask(kRowsTask, "// evo:launch k(X, Y) grid(1) block(1)\n", "rows"); }
Task Mixed() { return ParseTask(kMixedTask, kMixedReference, "mixed"); }

TEST(StandardBattery, HasEveryStructure) {
  const Task task = Rows300();
  const std::vector<std::string> texts = Texts(StandardBattery(task, task.small, 1));
  const auto normal = [](const std::string& changes) { return "X: normal(0,1) | " + changes; };
  EXPECT_THAT(texts, IsSupersetOf({normal("scale(1e-40)"), normal("scale(1e-20)"), normal("scale(1e-06)"), normal("scale(0.001)"),
                                   normal("scale(30)"), normal("scale(1000)"), normal("scale(1e+06)"), normal("scale(1e+15)")}));
  EXPECT_THAT(texts, IsSupersetOf({std::string("X: log_uniform(1e-06,1e+06)"), std::string("X: cauchy(1)"),
                                   std::string("X: one_hot"), std::string("X: one_hot | scale(100)")}));
  EXPECT_THAT(texts, IsSupersetOf({normal("spike(200)"), normal("spike(-200)"), normal("spike(200,0)"), normal("spike(-200,0)"),
                                   normal("spike(200,-1)"), normal("spike(-200,-1)"), normal("spike(200,31)"),
                                   normal("spike(200,32)"), normal("spike(200,127)"), normal("spike(200,128)"),
                                   normal("spike(200,255)"), normal("spike(200,256)"), normal("spike(-200,32)")}));
  EXPECT_THAT(texts, IsSupersetOf({normal("mask_first(-1e+09)"), normal("mask_first(-inf)"), normal("mask_second(-1e+09)"),
                                   normal("mask_second(-inf)"), normal("mask_random(-inf)")}));
  EXPECT_THAT(texts, IsSupersetOf({normal("ramp(-100,100)"), normal("ramp(100,-100)"), normal("sort_ascending"),
                                   normal("sort_descending"), normal("equal_rows"), normal("constant_rows"), normal("alternate"),
                                   normal("abs | scale(-1) | shift(-1000)"), normal("shift(1000)")}));
}

TEST(StandardBattery, PutsSpikesInsideOfRows) {
  const Task task = Rows300();
  EXPECT_THAT(Texts(StandardBattery(task, task.small, 1)), Not(Contains("X: normal(0,1) | spike(200,1023)")));
  EXPECT_THAT(Texts(StandardBattery(task, task.search_cuda.front(), 1)), Contains("X: normal(0,1) | spike(200,1023)"));
  EXPECT_THAT(Texts(StandardBattery(task, task.search_cpu.front(), 1)), Not(Contains("X: normal(0,1) | spike(200,31)")));
}

TEST(StandardBattery, ChangesInputsTogetherAndAlone) {
  const Task task = Mixed();
  const std::vector<std::string> texts = Texts(StandardBattery(task, task.small, 1));
  EXPECT_THAT(texts, Contains("b: normal(0,1) | spike(200) ; h: normal(0,1) | spike(200) ; x: normal(0,1) | spike(200)"));
  for (const std::string name : {"b", "h", "x"}) EXPECT_THAT(texts, Contains(name + ": normal(0,1) | spike(200)"));
}

TEST(StandardBattery, TriesTheExtremesOfIntegers) {
  const Task task = Mixed();
  EXPECT_THAT(Texts(StandardBattery(task, task.small, 1)),
              IsSupersetOf({"i: index<N * 2 | all_largest", "i: index<N * 2 | all_smallest", "i: index<N * 2 | sort_ascending",
                            "i: index<N * 2 | sort_descending", "i: index<N * 2 | repeat(32)", "p: permutation | sort_ascending",
                            "p: permutation | sort_descending", "o: offsets<N | take_all(0)", "o: offsets<N | take_all(-1)"}));
}

TEST(StandardBattery, EveryProgramCanBeDrawnAndComesBack) {
  for (const Task& task : {Rows300(), Mixed()}) {
    for (const Case& sizes : {task.small, task.search_cpu.front()}) {
      for (const InputProgram& program : StandardBattery(task, sizes, 1)) {
        EXPECT_EQ(ToText(ParseInputProgram(ToText(program), program.seed, task)), ToText(program));
        const DrawnArguments drawn = DrawArguments(task, sizes, program);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
          for (const double value : ToDoubles(drawn[i], task.arguments[i].dtype))
            ASSERT_FALSE(std::isnan(value)) << ToText(program);
        }
      }
    }
  }
}

TEST(StandardBattery, SuitsEveryShippedTask) {
  const std::vector<std::filesystem::path> tasks = FindTasks({std::filesystem::path(EVO_SOURCE_ROOT) / "kernel_templates"});
  EXPECT_GE(tasks.size(), 10U);
  for (const std::filesystem::path& directory : tasks) {
    const Task task = LoadTask(directory);
    const std::vector<InputProgram> battery = StandardBattery(task, task.small, 1);
    // Most programs scale or shift, which only makes sense for numbers that are not indices or counts.
    const bool floats = std::any_of(task.arguments.begin(), task.arguments.end(),
                                    [](const Argument& one) { return one.IsDrawn() && IsFloating(one.dtype); });
    EXPECT_GE(battery.size(), floats ? 40U : 14U) << task.name;
    std::set<std::string> alone;
    for (const InputProgram& program : battery) {
      EXPECT_EQ(ToText(ParseInputProgram(ToText(program), program.seed, task)), ToText(program));
      EXPECT_FALSE(Describe(program, task, task.small).empty());
      if (program.arguments.size() == 1) alone.insert(program.arguments.begin()->first);
    }
    for (const Argument& argument : task.arguments)
      EXPECT_EQ(alone.contains(argument.name), !argument.generators.empty()) << task.name << ", " << argument.name;
    EXPECT_NO_THROW(DrawArguments(task, task.held_out_cpu.back(), battery.front())) << task.name;
  }
}

TEST(StandardBattery, HasNoTwoAlikeAndAtMostAsManyAsAsked) {
  for (const Task& task : {Rows300(), Mixed()}) {
    const std::vector<InputProgram> all = StandardBattery(task, task.small, 1);
    const std::vector<std::string> texts = Texts(all);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
    EXPECT_LE(all.size(), 72U);
    const std::vector<std::string> some = Texts(StandardBattery(task, task.small, 1, 10));
    EXPECT_EQ(some.size(), 10U);
    EXPECT_EQ(some.front(), texts.front());
  }
}

TEST(StandardBattery, FollowsFromItsSeed) {
  const Task task = Rows300();
  const auto seeds = [&](std::uint64_t seed) {
    std::vector<std::uint64_t> result;
    for (const InputProgram& program : StandardBattery(task, task.small, seed)) result.push_back(program.seed);
    return result;
  };
  EXPECT_EQ(seeds(1), seeds(1));
  EXPECT_NE(seeds(1), seeds(2));
}

}  // namespace
}  // namespace evo
