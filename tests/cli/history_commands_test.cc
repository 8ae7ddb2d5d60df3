#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/commands.h"
#include "core/error.h"
#include "db/sqlite_store.h"
#include "tests/cli/captured_output.h"
#include "tests/cli/golden.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using testing::ExpectGolden;
using ::testing::HasSubstr;

// In place of the breed worker: sets the block size and adds a comment for each edit.
std::string FakeRender(const TemplateText& text, const Genome& genome) {
  std::string source = text.text;
  const std::string define = "#define BLOCK 64";
  source.replace(source.find(define), define.size(), fmt::format("#define BLOCK {}", genome.parameters.at("BLOCK")));
  for (const Edit& edit : genome.edits) source += fmt::format("// edit {}\n", edit.op);
  return source;
}

class HistoryCommandsTest : public ::testing::Test {
 protected:
  HistoryCommandsTest() {
    context_.database = (folder_ / "evo.db").string();
    context_.make_renderer = [] { return SourceRenderer(FakeRender); };
  }

  // What the command line prints on stdout.
  std::string Call(const std::string& arguments) {
    testing::CapturedOutput printed;
    context_.out = printed.stream();
    CLI::App app;
    AddBest(app, context_);
    AddDiff(app, context_);
    AddExport(app, context_);
    AddHistory(app, context_);
    AddLineage(app, context_);
    AddShow(app, context_);
    app.require_subcommand(1);
    app.parse(arguments);
    return printed.Text();
  }

  std::string MessageOf(const std::string& arguments) {
    try {
      Call(arguments);
    } catch (const UsageError& error) {
      return std::string("usage: ") + error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  void WriteFixture() { testing::WriteFixture(context_.database, testing::FixtureRun()); }

  testing::TemporaryFolder folder_;
  CommandContext context_;
};

TEST_F(HistoryCommandsTest, PrintForPeople) {
  WriteFixture();
  ExpectGolden("best.txt", Call("best"));
  ExpectGolden("history.txt", Call("history"));
  ExpectGolden("history_runs.txt", Call("history --runs"));
  ExpectGolden("history_timing.txt", Call("history --timing"));
  ExpectGolden("show_6.txt", Call("show 6"));
  ExpectGolden("show_4.txt", Call("show 4"));
  ExpectGolden("show_7_source.txt", Call("show 7 --source"));
  ExpectGolden("lineage_6.txt", Call("lineage 6"));
  EXPECT_EQ(Call("show"), Call("show 6")) << "the best";
  EXPECT_EQ(Call("lineage"), Call("lineage 6"));
  EXPECT_EQ(Call("diff"), Call("diff 6"));
  ExpectGolden("diff_6.txt", Call("diff 6"));
  testing::ExpectGoldenCsv("export.csv", Call("export --csv"));
}

TEST_F(HistoryCommandsTest, PrintJsonForPrograms) {
  WriteFixture();
  testing::ExpectGoldenJson("best.json", Call("best --json"));
  testing::ExpectGoldenJson("history.json", Call("history --json"));
  testing::ExpectGoldenJson("lineage_6.json", Call("lineage 6 --json"));
  for (const char* command :
       {"best", "history", "history --runs", "history --timing", "show 4 --source", "lineage 7", "diff 2 6", "export"}) {
    EXPECT_TRUE(nlohmann::json::accept(Call(std::string(command) + " --json"))) << command;
  }
  EXPECT_EQ(nlohmann::json::parse(Call("export --json"))["candidates"].size(), 7U);
  EXPECT_EQ(nlohmann::json::parse(Call("history --json"))["seed"], 0xfedcba9876543210U);
}

TEST_F(HistoryCommandsTest, LineageTellsTheStoryInAHundredColumns) {
  WriteFixture();
  const std::string story = Call("lineage 7");
  EXPECT_THAT(story, HasSubstr("#7 delete_statement (generation 2): "));
  EXPECT_THAT(story, HasSubstr("UNPROVEN: delete_statement promises nothing"));
  EXPECT_THAT(story, HasSubstr("      -#define BLOCK 64\n      +#define BLOCK 128\n"));
  EXPECT_THAT(story, HasSubstr("      +// edit use_fmaf\n"));
  EXPECT_THAT(story, HasSubstr("registers 32"));
  std::istringstream lines(story);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_EQ(Call("lineage 7 --no-diff").find("#define"), std::string::npos);
  ExpectGolden("lineage_6_brief.txt", Call("lineage 6 --brief"));
}

TEST_F(HistoryCommandsTest, AStoryWithoutSourcesSaysWhy) {
  WriteFixture();
  context_.make_renderer = [] {
    return SourceRenderer([](const TemplateText&, const Genome&) -> std::string { throw Error("evo-worker is missing"); });
  };
  EXPECT_THAT(Call("lineage 6"), HasSubstr("changed lines are not known: evo-worker is missing\n"));
}

TEST_F(HistoryCommandsTest, BestSaysWhatEachEditIsWorth) {
  WriteFixture();
  testing::AddMinimised(context_.database, 1);
  ExpectGolden("best_minimised.txt", Call("best"));
  EXPECT_THAT(Call("show 10"), HasSubstr("minimised   from candidate 7: 1 of its 2 edits kept\n"));
  EXPECT_THAT(Call("show 10"), HasSubstr(", worth 1.500x\n"));
  EXPECT_EQ(nlohmann::json::parse(Call("show 10 --json"))["minimised"]["champion"], 7);
  EXPECT_TRUE(nlohmann::json::parse(Call("show 6 --json"))["minimised"].is_null());
  const auto json = nlohmann::json::parse(Call("best --json"));
  EXPECT_EQ(json["id"], 10);
  EXPECT_EQ(json["minimised"]["champion"], 7);
  EXPECT_EQ(json["minimised"]["champion_edits"], 2);
  EXPECT_EQ(json["minimised"]["edits"][0],
            (nlohmann::json{{"without", 8}, {"outcome", "ok"}, {"worth", json["minimised"]["edits"][0]["worth"]}}));
  EXPECT_NEAR(json["minimised"]["edits"][0]["worth"].get<double>(), 1.5, 1e-12);
  SqliteStore(context_.database).RecordMinimised(1, 7, 7, {9, 0});
  EXPECT_THAT(Call("best"), HasSubstr("minimised   every edit is needed\n"));
  EXPECT_THAT(Call("best"), HasSubstr(", needed: wrong_result without it\n"));
  EXPECT_TRUE(nlohmann::json::parse(Call("best --json"))["minimised"]["edits"][1]["worth"].is_null());
}

TEST_F(HistoryCommandsTest, JsonSurvivesALogThatIsNotUtf8) {
  WriteFixture();
  SQLite::Database(context_.database, SQLite::OPEN_READWRITE)
      .exec("UPDATE evaluation SET log = CAST(x'61ff62' AS TEXT) WHERE candidate = 4");
  EXPECT_TRUE(nlohmann::json::accept(Call("show 4 --json")));
}

TEST_F(HistoryCommandsTest, DiffOfTwoCandidatesGoesFromTheFirstToTheSecond) {
  WriteFixture();
  EXPECT_THAT(Call("diff 2 6"), HasSubstr("-#define BLOCK 128\n+#define BLOCK 256\n"));
  EXPECT_EQ(Call("diff 6 6"), "");
}

TEST_F(HistoryCommandsTest, DiffWithoutACandidateShowsTheBest) {
  WriteFixture();
  EXPECT_EQ(Call("diff"), Call("diff 6"));
  EXPECT_NE(Call("diff"), "");
}

TEST_F(HistoryCommandsTest, DiffIsColouredOnDemand) {
  WriteFixture();
  EXPECT_THAT(Call("diff 2 6 --color always"),
              HasSubstr("\x1b[31m-#define BLOCK 128\x1b[0m\n\x1b[32m+#define BLOCK 256\x1b[0m\n"));
  EXPECT_EQ(Call("diff 2 6 --color never"), Call("diff 2 6")) << "what is captured is no terminal";
  EXPECT_THROW(Call("diff 2 6 --color perhaps"), CLI::ParseError);
}

TEST_F(HistoryCommandsTest, ASourceThatDiffersFromTheMeasuredSourceIsRefused) {
  WriteFixture();
  SQLite::Database(context_.database, SQLite::OPEN_READWRITE)
      .exec("UPDATE evaluation SET source_digest = 'other' WHERE candidate = 6");
  EXPECT_THAT(MessageOf("show 6 --source"),
              HasSubstr("it is not the source that was measured; use the evo that made the run (0.1.0)"));
  SQLite::Database(context_.database, SQLite::OPEN_READWRITE).exec("UPDATE template SET text = text || ' '");
  EXPECT_THAT(MessageOf("diff 3"), HasSubstr("the stored text of template scale is damaged"));
}

TEST_F(HistoryCommandsTest, SayWhatIsMissing) {
  EXPECT_THAT(MessageOf("best"), HasSubstr("evo.db: no such database; `evo run --db "));
  SqliteStore store(context_.database);
  EXPECT_THAT(MessageOf("best"), HasSubstr("usage: "));
  EXPECT_THAT(MessageOf("history"), HasSubstr("no run in it yet; `evo run --db "));
  store.BeginRun(testing::FixtureRun());
  EXPECT_THAT(MessageOf("best"), HasSubstr("run 1 has no kernel that was shown right; `evo history --run 1`"));
  EXPECT_THAT(Call("history"), HasSubstr("generation"));
  EXPECT_THAT(Call("history --timing"), HasSubstr("compile"));
  EXPECT_THAT(MessageOf("show 12"), HasSubstr("usage: "));
  EXPECT_THAT(MessageOf("show 12"), HasSubstr("run 1 has no candidate 12"));
  EXPECT_THAT(MessageOf("lineage 12"), HasSubstr("no candidate 12"));
  EXPECT_THAT(MessageOf("history --run 5"), HasSubstr("there is no run 5"));
}

TEST_F(HistoryCommandsTest, RefuseANewerDatabase) {
  WriteFixture();
  SQLite::Database(context_.database, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  EXPECT_THAT(MessageOf("history"), HasSubstr("written by a newer evo"));
}

TEST_F(HistoryCommandsTest, TheParserRefusesWrongFlags) {
  EXPECT_THROW(Call("show 1 2"), CLI::ParseError);
  EXPECT_THROW(Call("show six"), CLI::ParseError);
  EXPECT_THROW(Call("history --runs --timing"), CLI::ParseError);
  EXPECT_THROW(Call("export --csv --json"), CLI::ParseError);
}

}  // namespace
}  // namespace evo
