#include "report/report_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "db/sqlite_store.h"
#include "report/report_parts.h"
#include "tests/db/fixture_run.h"
#include "tests/report/hostile_database.h"

namespace evo {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::SizeIs;

ReportTools Tools() {
  ReportTools tools;
  tools.story.render = [](const RunRecord&, const CandidateRecord& record) {
    if (record.candidate.id == 3) throw Error("cannot be rendered");
    return fmt::format("// shared line\nBLOCK {}\n", record.candidate.genome.parameters.at("BLOCK"));
  };
  tools.render_once = tools.story.render;
  tools.verdict = [](const CandidateRecord& record) { return record.check ? "verified" : "not checked"; };
  tools.space = [](const TemplateText&) { return SearchSpace{{{"BLOCK", {64, 128, 256, 512}, 64}}, {}}; };
  tools.story.promises = {
      {"use_fmaf", Promise::kReassociating}, {"delete_statement", Promise::kUnproven}, {"set_parameter", Promise::kInherited}};
  tools.story.descriptions = {{"use_fmaf", "contracts a product and a sum"}};
  return tools;
}

class ReportDataTest : public ::testing::Test {
 protected:
  ReportDataTest() : database_((folder_ / "evo.db").string()), run_(testing::WriteFixture(database_, testing::FixtureRun())) {}

  testing::TemporaryFolder folder_;
  std::string database_;
  RunId run_;
};

TEST_F(ReportDataTest, TellsTheRun) {
  const json data = ReportData(database_, {.peers = {{"PyTorch", 2500}}}, Tools());
  EXPECT_EQ(data["run"]["task"], "scale");
  EXPECT_EQ(data["run"]["seed"], "18364758544493064720") << "as text: a browser's numbers cannot hold it";
  EXPECT_EQ(data["run"]["status"], "finished");
  EXPECT_EQ(data["outcomes"], (json{{"ok", 5}, {"compile_error", 1}, {"wrong_result", 1}}));
  EXPECT_EQ(data["lines"]["peers"], json::array({json{{"name", "PyTorch"}, {"ns", 2500}}}));
  EXPECT_EQ(data["best_id"], 6) << "7 is faster and failed its check";
  EXPECT_EQ(data["elites"], (json{7, 6, 3, 2, 1})) << "the champion once";
  EXPECT_EQ(data["progress"]["id"], (json{1, 2, 3, 6}));
  EXPECT_EQ(data["remarks"], json::array());
}

TEST_F(ReportDataTest, BoundsAreThoseByTheCounters) {
  const std::string counted = (folder_ / "counted.db").string();
  SqliteStore store(counted);
  const RunId run = store.BeginRun(testing::FixtureRun());
  for (GenerationRecord& generation : testing::FixtureGenerations()) {
    for (Evaluation& evaluation : generation.evaluations) {
      if (evaluation.outcome == Outcome::kOk) evaluation.bottleneck = Bottleneck::kLatency;
    }
    CountedElite one;
    one.candidate = 2;
    one.bottleneck = Bottleneck::kBarrier;
    one.counters.program = kCountedCandidate;
    if (generation.generation == 1) generation.counted.push_back(one);
    store.RecordGeneration(run, generation);
  }
  const json candidates = ReportData(counted, {}, Tools())["candidates"];
  const auto bound = [&](std::size_t candidate) {
    return candidates["bounds"][candidates["bound"][candidate - 1].get<std::size_t>()].get<std::string>();
  };
  EXPECT_EQ(bound(1), BoundBy(Bottleneck::kLatency, kNoValue, kNoValue));
  EXPECT_EQ(bound(2), BoundBy(Bottleneck::kBarrier, kNoValue, kNoValue));
}

TEST_F(ReportDataTest, StoryGoesFromTheTemplateToTheChampion) {
  const json story = ReportData(database_, {}, Tools())["story"];
  ASSERT_THAT(story, SizeIs(4));
  EXPECT_EQ(story[0]["operator"], "default");
  EXPECT_TRUE(story[0]["gain"].is_null());
  EXPECT_EQ(story[2]["change"], "replace an if in scale by `if (i < n) y[i] = x[i] + x[i];`");
  EXPECT_EQ(story[2]["description"], "contracts a product and a sum");
  EXPECT_EQ(story[2]["no_source"], "cannot be rendered");
  EXPECT_EQ(story[3]["facts"]["registers"], 32);
  EXPECT_TRUE(story[3]["facts"]["local_bytes"].is_null()) << "not known on this device";
  EXPECT_NEAR(story[1]["gain"].get<double>(), std::cbrt(2000.0 / 1800 * 4000 / 3900 * 4000 / 3900), 1e-4);
}

TEST_F(ReportDataTest, SourcesShareTheirLines) {
  const json sources = ReportData(database_, {}, Tools())["sources"];
  EXPECT_EQ(sources["lines"], (json{"// shared line", "BLOCK 64", "BLOCK 128", "BLOCK 256"}));
  EXPECT_EQ(sources["of"], (json{{"1", {0, 1}}, {"2", {0, 2}}, {"6", {0, 3}}}));
}

TEST_F(ReportDataTest, UnprovenEditsAreMarkedWhereTheyCome) {
  testing::AddMinimised(database_, run_);
  SqliteStore(database_).RecordChampion(run_, 7, testing::PassedCheck());
  ReportTools tools = Tools();
  tools.story.promises.erase("use_fmaf");
  const json story = ReportData(database_, {}, tools)["story"];
  EXPECT_EQ(story[2]["unproven"], (json{"use_fmaf"}));
  EXPECT_EQ(story.back()["unproven"], json::array()) << "the edit was there before";
}

TEST_F(ReportDataTest, HasEveryCandidateAsColumns) {
  const json c = ReportData(database_, {}, Tools())["candidates"];
  EXPECT_EQ(c["id"], (json{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(c["parent"], (json{0, 1, 2, 2, 2, 3, 3}));
  EXPECT_EQ(c["second"][3], 1);
  EXPECT_TRUE(c["score_ns"][3].is_null());
  EXPECT_EQ(c["outcomes"][c["outcome"][3].get<int>()], "compile_error");
  EXPECT_EQ(c["messages"][c["message"][4].get<int>()], "case small: y is NaN at 0");
  EXPECT_EQ(c["parameter_texts"][c["parameters"][5].get<int>()], R"({"BLOCK":256})");
  for (const auto& [name, column] : c.items()) {
    if (column.is_array() && !name.ends_with("s")) {
      EXPECT_EQ(column.size(), 7U) << name;
    }
  }
}

TEST_F(ReportDataTest, SamplesAboveTheLimitAndKeepsTheElitesWithTheirAncestors) {
  const json data = ReportData(database_, {.most_candidates = 2}, Tools());
  EXPECT_EQ(data["candidates"]["stride"], 4);
  EXPECT_EQ(data["candidates"]["total"], 7);
  EXPECT_EQ(data["candidates"]["id"], (json{1, 2, 3, 5, 6, 7})) << "every fourth, the right ones and their parents";
}

TEST_F(ReportDataTest, ComparesWithOtherRuns) {
  const RunId second = testing::WriteFixture(database_, testing::FixtureRun());
  const json data = ReportData(database_, {.run = second}, Tools());
  ASSERT_THAT(data["others"], SizeIs(1));
  EXPECT_EQ(data["others"][0]["run"], run_);
  EXPECT_EQ(data["others"][0]["progress"]["id"], (json{1, 2, 3, 6}));
  EXPECT_THROW(ReportData(database_, {.run = 99}, Tools()), UsageError);
}

TEST_F(ReportDataTest, ListsTheLatestRunsAndTheOneThatIsShown) {
  SqliteStore store(database_);
  for (int i = 0; i < 205; ++i) store.BeginRun(testing::FixtureRun());
  const json data = ReportData(database_, {.run = run_}, Tools());
  ASSERT_THAT(data["runs"], SizeIs(201));
  EXPECT_EQ(data["runs"][0]["run"], run_);
  EXPECT_EQ(data["runs"][0]["task"], "scale");
  EXPECT_EQ(data["runs"][1]["run"], run_ + 6);
  EXPECT_EQ(data["runs"][200]["run"], run_ + 205);
  EXPECT_THAT(data["others"], SizeIs(8));
  EXPECT_EQ(data["others"][0]["run"], run_ + 205) << "the latest first";
  EXPECT_THAT(ReportData(database_, {}, Tools())["runs"], SizeIs(200));
}

TEST_F(ReportDataTest, ParametersSayWhatCouldBeTried) {
  const json parameters = ReportData(database_, {}, Tools())["parameters"];
  EXPECT_EQ(parameters[0]["legal"], 4);
  EXPECT_EQ(parameters[0]["parameters"][0]["values"], (json{64, 128, 256, 512}));
}

TEST_F(ReportDataTest, VersionChangesWithTheRun) {
  const std::string before = ReportVersion(database_, run_);
  EXPECT_EQ(ReportVersion(database_, run_), before);
  EXPECT_EQ(ReportVersion(database_, {}), before) << "the latest";
  testing::AddMinimised(database_, run_);
  EXPECT_NE(ReportVersion(database_, run_), before);
}

TEST_F(ReportDataTest, HostileDatabaseIsText) {
  testing::MakeHostile(database_, run_);
  const json data = ReportData(database_, {}, Tools());
  const std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  EXPECT_LT(text.size(), 200'000U) << "a log of 10 MB is not in it";
  EXPECT_TRUE(json::accept(text));
  EXPECT_THAT(data["remarks"], ::testing::Not(SizeIs(0))) << "what is damaged is told";
  EXPECT_EQ(data["candidates"]["id"].size(), 7U);
  const json one = CandidateData(database_, run_, 5, Tools());
  EXPECT_LT(one.dump(-1, ' ', false, json::error_handler_t::replace).size(), 20'000U);
}

TEST_F(ReportDataTest, ARunWithoutCandidatesHasAReport) {
  const std::string database = (folder_ / "empty.db").string();
  SqliteStore(database).BeginRun(testing::FixtureRun());
  const json data = ReportData(database, {}, Tools());
  EXPECT_EQ(data["best_id"], nullptr);
  EXPECT_EQ(data["story"], json::array());
  EXPECT_EQ(data["candidates"]["id"], json::array());
}

TEST(Bottleneck, IsLatencyWhereNoCeilingIsNear) {
  EXPECT_EQ(BoundBy(Bottleneck::kNone, 0.7, 0.2), "memory");
  EXPECT_EQ(BoundBy(Bottleneck::kNone, 0.5, 0.8), "arithmetic");
  EXPECT_EQ(BoundBy(Bottleneck::kNone, 0.4, 0.1), "latency");
  EXPECT_EQ(BoundBy(Bottleneck::kNone, kNoValue, 0.6), "arithmetic");
  EXPECT_EQ(BoundBy(Bottleneck::kNone, kNoValue, kNoValue), "");
  EXPECT_EQ(BoundBy(Bottleneck::kBarrier, 0.7, 0.2), "barriers") << "what was found when it was timed";
}

TEST(JsonNumber, HasSixDigits) {
  EXPECT_EQ(JsonNumber(1234567.8), 1234570);
  EXPECT_EQ(JsonNumber(0.000123456789).dump(), "0.000123457");
  EXPECT_TRUE(JsonNumber(kNoValue).is_null());
  EXPECT_TRUE(JsonNumber(INFINITY).is_null());
  EXPECT_EQ(JsonNumber(0), 0);
}

}  // namespace
}  // namespace evo
