#include "cli/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>  // the commands' library is linked, and this program has no main.cc to hold the parser
#include <filesystem>
#include <map>

#include "cli/operator_choice.h"
#include "cli/stored_run.h"
#include "core/error.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<std::string> TemplatesOf(const RunOptions& options, const std::string& device) {
  std::vector<std::string> names;
  for (const KernelTemplate& one : PrepareRun(options, CommandContext{}, {device, {0}}).templates) names.push_back(one.name);
  return names;
}

RunOptions Attention() {
  RunOptions options;
  options.task = (std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / "attention").string();
  return options;
}

TEST(PrepareRun, LeavesOutTemplatesThatCanOnlyFail) {
  EXPECT_THAT(TemplatesOf(Attention(), "cuda"), Contains("wgmma"));
  EXPECT_THAT(TemplatesOf(Attention(), "cpu"), Not(Contains("wgmma")));
  EXPECT_THAT(TemplatesOf(Attention(), "cpu"), Contains("wmma"));
  RunOptions older = Attention();
  older.arch = "sm_80";
  EXPECT_THAT(TemplatesOf(older, "cuda"), Not(Contains("wgmma")));
}

TEST(PrepareRun, TakesThemWhereTheyAreAskedFor) {
  RunOptions options = Attention();
  options.templates = {"wgmma"};
  EXPECT_THAT(TemplatesOf(options, "cpu"), ::testing::ElementsAre("naive", "wgmma"));
}

TEST(PrepareRun, SearchesAtTheShapesGiven) {
  RunOptions options = Attention();
  options.shapes = {"B=4,S=128"};
  const RunSetup setup = PrepareRun(options, CommandContext{}, {"cuda", {0}});
  ASSERT_EQ(setup.task.search_cuda.size(), 1u);
  EXPECT_EQ(setup.task.search_cuda[0].name, "shape_B4_H8_S128_D64");
  EXPECT_EQ(setup.record.task_digest, setup.task.digest);
  EXPECT_NE(setup.record.task_digest, PrepareRun(Attention(), CommandContext{}, {"cuda", {0}}).record.task_digest);

  // Whoever finds the run in a database has the same task again.
  const auto stored = FindStoredTask(CommandContext{}, setup.record);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->search_cuda[0].name, "shape_B4_H8_S128_D64");
  RunRecord plain = setup.record;
  plain.options = "{}";
  EXPECT_FALSE(FindStoredTask(CommandContext{}, plain)) << "its digest is that of the shape";
}

RunRecord RecordOf(const RunOptions& options) { return PrepareRun(options, CommandContext{}, {"cpu", {0}}).record; }

TEST(PrepareRun, EndsByEvaluationsOnlyUnlessGenerationsAreGiven) {
  RunOptions options = Attention();
  EXPECT_EQ(EvaluationsOf(RecordOf(options)), std::nullopt);
  EXPECT_EQ(RecordOf(options).generations, 5);
  options.evaluations = 300;
  EXPECT_EQ(EvaluationsOf(RecordOf(options)), 300);
  EXPECT_EQ(RecordOf(options).generations, kUnlimitedGenerations);
  options.generations_given = true;
  EXPECT_EQ(RecordOf(options).generations, 5);
}

TEST(PrepareRun, RandomSearchLearnsNothingFromTimes) {
  RunOptions options = Attention();
  EXPECT_NE(MakeSelection(RecordOf(options)), nullptr);
  options.population_kind = "random";
  EXPECT_EQ(MakeSelection(RecordOf(options)), nullptr);
  options.surrogate = "on";
  EXPECT_THROW(RecordOf(options), UsageError);
  options.surrogate = "off";
  options.operators = "adaptive";
  EXPECT_THROW(RecordOf(options), UsageError);
}

std::vector<std::string> Names(const std::map<std::string, double>& operators) {
  std::vector<std::string> names;
  for (const auto& [name, weight] : operators) names.push_back(name);
  return names;
}

TEST(ChooseOperators, TakesNamesAndGroups) {
  const std::vector<std::string> all = Names(ChooseOperators({}, {}));
  EXPECT_THAT(all, ::testing::IsSupersetOf({"parameter_step", "crossover", "vector_load"}));
  EXPECT_THAT(Names(ChooseOperators({"parameters"}, {})),
              ::testing::ElementsAre("parameter_draw", "parameter_mix", "parameter_step"));
  EXPECT_THAT(Names(ChooseOperators({"parameters", "vector_load"}, {"parameter_mix"})),
              ::testing::ElementsAre("parameter_draw", "parameter_step", "vector_load"));
  EXPECT_EQ(ChooseOperators({"edits"}, {}).size() + 4, all.size()) << "three of parameters, and crossover";
  EXPECT_THAT(Names(ChooseOperators({}, {"edits", "parameters"})), ::testing::ElementsAre("crossover"));
}

TEST(ChooseOperators, RefusesWhatItDoesNotKnowAndLeavingNone) {
  EXPECT_THROW(ChooseOperators({"nosuch"}, {}), UsageError);
  EXPECT_THROW(ChooseOperators({}, {"nosuch"}), UsageError);
  EXPECT_THROW(ChooseOperators({"edits"}, {"edits"}), UsageError);
}

}  // namespace
}  // namespace evo
