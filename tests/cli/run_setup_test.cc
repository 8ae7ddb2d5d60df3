#include "cli/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/operator_choice.h"
#include "cli/stored_run.h"
#include "core/error.h"
#include "engine/child_requests.h"
#include "kernel_templates/text_file.h"
#include "mutators/mutator_set.h"

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

TEST(PrepareRun, TakesATaskByItsFolderOrItsFile) {
  RunOptions options = Attention();
  const std::string digest = PrepareRun(options, CommandContext{}, {"cuda", {0}}).task.digest;
  options.task += "/task.json";
  EXPECT_EQ(PrepareRun(options, CommandContext{}, {"cuda", {0}}).task.digest, digest);
  options.task += "/none";
  EXPECT_THROW(PrepareRun(options, CommandContext{}, {"cuda", {0}}), UsageError);
}

TEST(PrepareRun, ARunWhoseBaselineIsTheReferenceKeepsIt) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("run_setup_test_" + std::to_string(::getpid()));
  fs::copy(fs::path(EVO_KERNEL_TEMPLATES_DIR) / "row_sum", folder);
  fs::remove(folder / "reference.cu");
  std::string json = *ReadTextFile(folder / "task.json");
  json.insert(json.find("\"baseline\""), "\"reference\": \"baseline\", ");
  std::ofstream(folder / "task.json") << json;
  RunOptions options;
  options.task = folder.string();
  const RunSetup setup = PrepareRun(options, CommandContext{}, {"cpu", {0}});
  std::ofstream(folder / (setup.task.baseline + ".cu"), std::ios::app) << "// changed\n";
  const auto stored = FindStoredTask(CommandContext{}, setup.record);
  EXPECT_NE(LoadTask(folder).digest, setup.task.digest);
  fs::remove_all(folder);
  ASSERT_TRUE(stored) << "the run has the text";
  EXPECT_EQ(stored->reference, setup.task.reference);
}

TEST(PrepareRun, TakesTheTemplatesThatAreNamed) {
  RunOptions options = Attention();
  options.templates = {"wgmma"};
  EXPECT_THAT(TemplatesOf(options, "cpu"), ::testing::ElementsAre("naive", "wgmma"));
}

TEST(PrepareRun, SearchesAtTheGivenShapes) {
  RunOptions options = Attention();
  options.shapes = {"B=4,S=128"};
  RunSetup setup = PrepareRun(options, CommandContext{}, {"cuda", {0}});
  ASSERT_EQ(setup.task.search_cuda.size(), 1u);
  EXPECT_EQ(setup.task.search_cuda[0].name, "shape_B4_H8_S128_D64");
  EXPECT_EQ(setup.record.task_digest, setup.task.digest);
  EXPECT_NE(setup.record.task_digest, PrepareRun(Attention(), CommandContext{}, {"cuda", {0}}).record.task_digest);

  // The stored run leads to the same task again.
  setup.record.options = ToText(setup.options);
  const auto stored = FindStoredTask(CommandContext{}, setup.record);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->search_cuda[0].name, "shape_B4_H8_S128_D64");
  RunRecord plain = setup.record;
  plain.options = "{}";
  EXPECT_FALSE(FindStoredTask(CommandContext{}, plain)) << "the digest of the run is that of the task with the shape";
}

RunSetup SetupOf(const RunOptions& options) { return PrepareRun(options, CommandContext{}, {"cpu", {0}}); }

TEST(PrepareRun, EndsByEvaluationsOnlyUnlessGenerationsAreGiven) {
  RunOptions options = Attention();
  EXPECT_EQ(SetupOf(options).options.evaluations, 0);
  EXPECT_EQ(SetupOf(options).record.generations, 5);
  options.evaluations = 300;
  EXPECT_EQ(SetupOf(options).options.evaluations, 300);
  EXPECT_EQ(SetupOf(options).record.generations, kUnlimitedGenerations);
  options.generations_given = true;
  EXPECT_EQ(SetupOf(options).record.generations, 5);
}

TEST(PrepareRun, EndsByItsTimeLimitOnlyUnlessGenerationsAreGiven) {
  RunOptions options = Attention();
  options.time_limit = std::chrono::seconds(60);
  EXPECT_EQ(SetupOf(options).record.generations, kUnlimitedGenerations);
  options.generations_given = true;
  EXPECT_EQ(SetupOf(options).record.generations, 5);
}

TEST(PrepareRun, RandomSearchLearnsNothingFromTimes) {
  RunOptions options = Attention();
  EXPECT_NE(MakeSelection(SetupOf(options)), nullptr);
  options.population_kind = "random";
  EXPECT_EQ(MakeSelection(SetupOf(options)), nullptr);
  options.surrogate = "on";
  EXPECT_THROW(SetupOf(options), UsageError);
  options.surrogate = "off";
  options.operators = "adaptive";
  EXPECT_THROW(SetupOf(options), UsageError);
}

TEST(AddRewards, KeepsThoseOfOperatorsThatTheRunDraws) {
  RunOptions options = Attention();
  options.only_mutators = {"vector_load"};
  RunSetup setup = SetupOf(options);
  AddRewards(setup, {{"vector_load", {3, 2, 0.5}}, {"parameter_step", {9, 1, 0.1}}},
             {{"dram", {{"vector_load", {5, 4, 0.7}}, {"parameter_step", {9, 1, 0.1}}}}});
  ASSERT_EQ(setup.options.rewards->size(), 1U);
  EXPECT_EQ(setup.options.rewards->at("vector_load").tries, 3);
  ASSERT_EQ(setup.options.rewards_by_bottleneck->at("dram").size(), 1U);
  EXPECT_EQ(setup.options.rewards_by_bottleneck->at("dram").at("vector_load").tries, 5);
  EXPECT_TRUE(MakeSelection(setup)->by_bottleneck());
  options.operators_by_class = "off";
  RunSetup off = SetupOf(options);
  AddRewards(off, {}, {{"dram", {{"vector_load", {5, 4, 0.7}}}}});
  EXPECT_FALSE(off.options.rewards_by_bottleneck);
  EXPECT_FALSE(MakeSelection(off)->by_bottleneck());
  options.operators_by_class = "on";
  options.operators = "fixed";
  RunSetup fixed = SetupOf(options);
  AddRewards(fixed, {{"vector_load", {3, 2, 0.5}}}, {{"dram", {{"vector_load", {3, 2, 0.5}}}}});
  EXPECT_FALSE(fixed.options.rewards_by_bottleneck);
  EXPECT_FALSE(fixed.options.rewards);
}

TEST(RunSetup, RunsByClassTryStructuresFirst) {
  RunOptions options = Attention();
  const RunSetup on = SetupOf(options);
  ASSERT_TRUE(on.options.restructuring);
  EXPECT_TRUE(std::is_sorted(on.options.restructuring->begin(), on.options.restructuring->end()));
  for (const std::string& op : *on.options.restructuring) EXPECT_TRUE(on.record.operators.contains(op)) << op;
  EXPECT_TRUE(MakeSelection(on)->by_structure());
  EXPECT_TRUE(MakeSelection(on)->Restructures("fuse_attention"));
  options.without_mutators = {"fuse_attention"};
  EXPECT_FALSE(MakeSelection(SetupOf(options))->Restructures("fuse_attention"));
  options.without_mutators = {};
  options.only_mutators = {"parameters"};
  EXPECT_FALSE(SetupOf(options).options.restructuring) << "nothing that it draws restructures";
  options.only_mutators = {};
  options.operators_by_class = "off";
  EXPECT_FALSE(SetupOf(options).options.restructuring);
  EXPECT_FALSE(MakeSelection(SetupOf(options))->by_structure());
}

TEST(RunSetup, RunsByStructureBeginWithSmallGenerations) {
  RunOptions options = Attention();
  options.evaluations = 300;
  EXPECT_EQ(SetupOf(options).options.early_children, ChildRequests::kUsualEarlyChildren);
  EXPECT_EQ(SetupOf(options).options.early_candidates, ChildRequests::kUsualEarlyCandidates);
  options.children = 32;
  EXPECT_FALSE(SetupOf(options).options.early_children) << "the user says how many";
  options.children = 0;
  options.operators_by_class = "off";
  EXPECT_FALSE(SetupOf(options).options.early_children);
  options.operators_by_class = "on";
  options.generations_given = true;
  EXPECT_FALSE(SetupOf(options).options.early_children) << "of a number of generations, each is of the usual size";
  options.evaluations = 0;
  options.generations_given = false;
  EXPECT_FALSE(SetupOf(options).options.early_children) << "the default is a number of generations";
}

RunOptions Parsed(const std::string& arguments) {
  RunOptions options;
  CLI::App app;
  AddRunOptions(app, options);
  app.parse(arguments);
  return options;
}

TEST(AddRunOptions, SaysWhatWasGiven) {
  const RunOptions none = Parsed("");
  EXPECT_FALSE(none.generations_given || none.l2_given || none.resume || none.time_limit);
  const RunOptions all = Parsed("--generations 5 --l2 hot --resume --time-limit 2m");
  EXPECT_TRUE(all.generations_given && all.l2_given);
  EXPECT_EQ(all.resume, 0);
  EXPECT_EQ(all.time_limit, std::chrono::seconds(120));
  EXPECT_EQ(Parsed("--resume 12").resume, 12);
  EXPECT_THROW(Parsed("--resume 12x"), UsageError);
  EXPECT_THROW(Parsed("--time-limit soon"), UsageError);
}

std::vector<std::string> Names(const std::map<std::string, double>& operators) {
  std::vector<std::string> names;
  for (const auto& [name, weight] : operators) names.push_back(name);
  return names;
}

TEST(SetOnlyParameters, HoldsOfMutatorsThatLeaveTheSource) {
  EXPECT_TRUE(SetOnlyParameters(ChooseOperators({"parameters", "crossover"}, {})));
  EXPECT_FALSE(SetOnlyParameters(ChooseOperators({"parameters", "vector_load"}, {})));
  EXPECT_FALSE(SetOnlyParameters(ChooseOperators({}, {})));
}

TEST(ChooseOperators, TakesNamesAndGroups) {
  const std::vector<std::string> all = Names(ChooseOperators({}, {}));
  EXPECT_THAT(all, ::testing::IsSupersetOf({"parameter_step", "crossover", "vector_load"}));
  EXPECT_THAT(Names(ChooseOperators({"parameters"}, {})),
              ::testing::ElementsAre("parameter_draw", "parameter_mix", "parameter_random", "parameter_step"));
  EXPECT_THAT(Names(ChooseOperators({"parameters", "vector_load"}, {"parameter_mix"})),
              ::testing::ElementsAre("parameter_draw", "parameter_random", "parameter_step", "vector_load"));
  EXPECT_EQ(ChooseOperators({"edits"}, {}).size() + 5, all.size()) << "four mutators of parameters, and crossover";
  EXPECT_THAT(Names(ChooseOperators({}, {"edits", "parameters"})), ::testing::ElementsAre("crossover"));
}

TEST(ChooseOperators, LeavesOutWhatPromisesNothing) {
  const auto proven = ChooseOperators({}, {}, true);
  EXPECT_THAT(Names(proven), ::testing::IsSupersetOf({"parameter_step", "crossover", "vector_load", "fast_math"}));
  for (const char* unproven : {"statement_delete", "expression_replace", "block_shape"}) {
    EXPECT_FALSE(proven.contains(unproven)) << unproven;
    EXPECT_GT(ChooseOperators({unproven}, {}).at(unproven), 0) << "a mutator that is named is drawn with its own weight";
    EXPECT_THROW(ChooseOperators({unproven, "parameters"}, {}, true), UsageError);
  }
  EXPECT_EQ(Names(ChooseOperators({"edits"}, {}, true)).size() + 5, proven.size());
}

TEST(ChooseOperators, LeavesOutWhatCannotBeCompiled) {
  auto operators = ChooseOperators({}, {});
  std::vector<std::string> left_out = Names(operators);
  LeaveOutForeign(operators, "sm_90a");
  EXPECT_EQ(Names(operators), left_out);
  LeaveOutForeign(operators, "sm_80");
  std::erase_if(left_out, [&](const std::string& name) { return operators.contains(name); });
  EXPECT_THAT(left_out, ::testing::ElementsAre("integer_warp_group_contraction", "split_k_warp_group", "warp_group_attention",
                                               "warp_group_contraction"));
  auto only = ChooseOperators({"warp_group_contraction"}, {});
  EXPECT_THROW(LeaveOutForeign(only, "sm_80"), UsageError);
}

TEST(ChooseOperators, DrawsWhatIsMostlyWrongOnlyIfItIsNamed) {
  const auto usual = ChooseOperators({}, {});
  for (const char* wrong : {"statement_delete", "statement_copy", "constant_perturb", "expression_replace"})
    EXPECT_EQ(usual.at(wrong), 0) << wrong;
  for (const char* useful : {"block_shape", "vector_load_shared"})
    EXPECT_EQ(usual.at(useful), ChooseOperators({useful}, {}).at(useful)) << useful;
}

TEST(PrepareRun, StoresWhetherOnlyProvenEditsAreMade) {
  RunOptions options = Attention();
  EXPECT_FALSE(SetupOf(options).options.proven_only);
  EXPECT_TRUE(SetupOf(options).record.operators.contains("statement_delete"));
  options.proven_only = Parsed("--proven-only").proven_only;
  const RunSetup proven = SetupOf(options);
  EXPECT_TRUE(proven.options.proven_only);
  EXPECT_FALSE(proven.record.operators.contains("statement_delete"));
}

TEST(ChooseOperators, RefusesUnknownNamesAndAnEmptyChoice) {
  EXPECT_THROW(ChooseOperators({"nosuch"}, {}), UsageError);
  EXPECT_THROW(ChooseOperators({}, {"nosuch"}), UsageError);
  EXPECT_THROW(ChooseOperators({"edits"}, {"edits"}), UsageError);
}

}  // namespace
}  // namespace evo
