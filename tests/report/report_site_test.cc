#include "report/report_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

constexpr const char* kSitePage = "EVO_REPORT_CONNECT EVO_REPORT_DATA";

class ReportSiteTest : public ::testing::Test {
 protected:
  ReportSiteTest() : database_((folder_ / "evo.db").string()), site_(kSitePage, database_, {}, {}) {}

  testing::TemporaryFolder folder_;
  std::string database_;
  ReportSite site_;
};

TEST_F(ReportSiteTest, AnswersPageDataAndCandidate) {
  testing::WriteFixture(database_, testing::FixtureRun());
  EXPECT_EQ(*site_.Get("/", "").body, "'self' null");
  const Answer data = site_.Get("/data", "");
  EXPECT_EQ(data.status, 200);
  EXPECT_EQ(nlohmann::json::parse(*data.body)["run"]["task"], "scale");
  EXPECT_EQ(site_.Get("/data", data.etag).status, 304);
  EXPECT_EQ(site_.Get("/data?run=1", data.etag).status, 304);
  EXPECT_EQ(nlohmann::json::parse(*site_.Get("/candidate?run=1&id=6", "").body)["edits"], 1);
}

TEST_F(ReportSiteTest, HasNoOtherPath) {
  testing::WriteFixture(database_, testing::FixtureRun());
  for (const char* target :
       {"/evo.db", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/data/", "/data/../evo.db", "/Data"})
    EXPECT_EQ(site_.Get(target, "").status, 404) << target;
  EXPECT_EQ(site_.Get("/data?run=99", "").status, 404);
  for (const char* target : {"/candidate", "/candidate?run=1", "/candidate?run=1&id=-1", "/candidate?run=1&id=1;drop",
                             "/candidate?run=1&id=99999999999999999999"})
    EXPECT_EQ(site_.Get(target, "").status, 400) << target;
}

TEST_F(ReportSiteTest, WaitsForADatabaseAndFollowsIt) {
  EXPECT_EQ(site_.Get("/data", "").status, 404) << "there is no file yet";
  const RunId run = testing::WriteFixture(database_, testing::FixtureRun());
  const Answer before = site_.Get("/data", "");
  EXPECT_EQ(before.status, 200);
  testing::AddMinimised(database_, run);
  const Answer after = site_.Get("/data", before.etag);
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(nlohmann::json::parse(*after.body)["best_id"], 10);
}

// Two pages ask all the time while a run writes.
TEST_F(ReportSiteTest, NeitherLocksOutTheRunNorFails) {
  SqliteStore store(database_);
  const RunId run = store.BeginRun(testing::FixtureRun());
  std::atomic<int> failures{0};
  std::vector<std::jthread> pages;
  for (int i = 0; i < 2; ++i) {
    pages.emplace_back([&](const std::stop_token& stop) {
      std::string etag;
      while (!stop.stop_requested()) {
        const Answer answer = site_.Get("/data", etag);
        if (answer.status != 200 && answer.status != 304) ++failures;
        etag = answer.etag;
      }
    });
  }
  GenerationRecord record = testing::FixtureGenerations()[0];
  record.candidates.resize(1);
  record.evaluations.resize(1);
  constexpr int kGenerations = 60;
  for (int i = 0; i < kGenerations; ++i) {
    record.generation = i;
    record.candidates[0].id = i + 1;
    record.candidates[0].generation = i;
    store.RecordGeneration(run, record);
  }
  pages.clear();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(nlohmann::json::parse(*site_.Get("/data", "").body)["candidates"]["total"], kGenerations);
}

}  // namespace
}  // namespace evo
