#include "cli/stored_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace evo {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

StoredOptions Read(const std::string& text) {
  RunRecord run;
  run.id = 7;
  run.options = text;
  return OptionsOf(run);
}

TEST(StoredOptions, AreReadAsTheyWereWritten) {
  StoredOptions options;
  options.definitions = {"BLOCK=64"};
  options.ordinals = {1, 3};
  options.surrogate = options.minimise = options.proven_only = options.baseline_apart = true;
  options.operators = kAdaptive;
  options.evaluations = 300;
  options.shapes = {"N=4"};
  options.sweep = {"naive", "tiled"};
  options.rewards = {{"vector_load", {12, 7, 0.1}}};
  options.rewards_by_bottleneck = {{"dram", {{"vector_load", {5, 4, 0.25}}}}};
  options.restructuring = {"tile_contraction", "stencil_rows"};
  options.executor = "slurm";
  options.early_children = 4;
  options.early_candidates = 90;
  options.replay = StoredReplay{"/a/evo.db", {2, 5}, "skip"};
  const StoredOptions read = Read(ToText(options));
  EXPECT_EQ(ToText(read), ToText(options));
  EXPECT_THAT(read.ordinals, ElementsAre(1, 3));
  EXPECT_EQ(read.rewards->at("vector_load").log_gain, 0.1);
  EXPECT_EQ(read.rewards_by_bottleneck->at("dram").at("vector_load").fresh, 4);
  EXPECT_THAT(read.replay->runs, ElementsAre(2, 5));
  EXPECT_THAT(*read.restructuring, ElementsAre("tile_contraction", "stencil_rows"));
  EXPECT_EQ(read.executor, "slurm");
  EXPECT_EQ(read.early_children, 4);
  EXPECT_EQ(read.early_candidates, 90);
}

// Databases and the queries of db/ know these names; a key that is there at all means a sweep, rewards or a replay.
TEST(StoredOptions, KeepTheNamesOfOlderDatabases) {
  EXPECT_EQ(json::parse(ToText(StoredOptions{})), json::parse(R"({
    "definitions": [], "ordinals": [0], "surrogate": false, "minimise": false, "proven_only": false, "baseline_apart": false,
    "operators": "fixed", "evaluations": 0, "shapes": []})"));
  const StoredOptions read = Read(R"({
    "sweep": ["naive"], "rewards": {"unroll": [3, 2, 0.5]}, "replay": {"database": "d", "runs": [1], "missing": "stop"}})");
  EXPECT_THAT(*read.sweep, ElementsAre("naive"));
  EXPECT_EQ(read.rewards->at("unroll").fresh, 2);
  EXPECT_EQ(read.replay->missing, "stop");
}

TEST(StoredOptions, OfOtherVersionsHaveMoreAndLess) {
  for (const char* text : {"", "{}", R"({"time_limit": "10m"})"}) EXPECT_EQ(ToText(Read(text)), ToText(StoredOptions{})) << text;
  EXPECT_TRUE(Read(R"({"rewards": {}})").rewards->empty());
}

TEST(StoredOptions, ThatCannotBeReadNameTheirRun) {
  for (const char* text : {"no json", "[1]", R"({"ordinals": "x"})", R"({"rewards": {"unroll": [1]}})"}) {
    try {
      Read(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("run 7: its stored options cannot be read")) << text;
      EXPECT_THAT(error.what(), Not(HasSubstr("json.exception"))) << text;
    }
  }
}

TEST(StoredOptions, ThatCannotBeReadSayWhere) {
  const auto message = [](const char* text) -> std::string {
    try {
      Read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message(R"({"replay": {"database": 1}})"), HasSubstr("replay.database: must be a string, not a number"));
  EXPECT_THAT(message(R"({"ordinals": )"), HasSubstr("not JSON: line 1, column 14: unexpected end of input"));
}

}  // namespace
}  // namespace evo
