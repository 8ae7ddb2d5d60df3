#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/resumable_run.h"
#include "core/error.h"
#include "db/sqlite_store.h"
#include "tests/cli/captured_output.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The fixture's run 1, and what the disk, an old program or a hostile hand made of it.
class DamagedHistory : public ::testing::Test {
 protected:
  DamagedHistory() {
    context_.database = (folder_ / "evo.db").string();
    testing::WriteFixture(context_.database, testing::FixtureRun());
  }

  // As `sqlite3` does it: neither foreign keys nor checks are in force.
  void Damage(const std::string& sql) const {
    SQLite::Database db(context_.database, SQLite::OPEN_READWRITE);
    db.exec("PRAGMA ignore_check_constraints = ON");
    db.exec("PRAGMA foreign_keys = OFF");
    const int before = db.getTotalChanges();  // counts what the triggers of a view change
    db.exec(sql);
    ASSERT_GT(db.getTotalChanges(), before) << sql;
  }

  std::string ResumeAfter(const std::string& sql) const {
    Damage(sql);
    try {
      LoadResumableRun(context_.database, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  // What the command prints on stdout; its remarks are kept.
  std::string Call(const std::string& arguments) {
    testing::CapturedOutput printed;
    testing::CapturedOutput remarks;
    context_.out = printed.stream();
    context_.messages = remarks.stream();
    context_.exit_code = 0;
    CLI::App app;
    for (const auto add : {AddBest, AddExport, AddHistory, AddLineage, AddShow}) add(app, context_);
    app.require_subcommand(1);
    app.parse(arguments);
    remarks_ = remarks.Text();
    return printed.Text();
  }

  std::string At(const std::string& what) const { return fmt::format("{}: run 1{}", context_.database, what); }

  testing::TemporaryFolder folder_;
  CommandContext context_;
  std::string remarks_;
};

constexpr const char* kRemedy = "; go back to a copy of the database, or begin a new run";

TEST_F(DamagedHistory, AWholeRunGoesOn) {
  const ResumableRun run = LoadResumableRun(context_.database, 1);
  EXPECT_EQ(run.record.children, 3);
  EXPECT_EQ(run.generations.size(), 3U);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithoutRowsThatWereDeleted) {
  EXPECT_EQ(ResumeAfter("DELETE FROM evaluation WHERE candidate = 4"), At(", candidate 4: its evaluation is missing") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithoutACandidate) {
  EXPECT_EQ(ResumeAfter("DELETE FROM candidate WHERE candidate = 1"),
            At(": its generation 0 had 2 candidates, 2 of them ok, and has 1, 1 of them ok") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithoutAGeneration) {
  EXPECT_EQ(ResumeAfter("DELETE FROM generation WHERE generation = 1"),
            At(", candidate 3: its generation 1 is missing") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithoutItsFirstGeneration) {
  Damage("DELETE FROM candidate WHERE generation = 0");
  EXPECT_EQ(ResumeAfter("DELETE FROM generation WHERE generation = 0"), At(": its generation 0 is missing") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithNumbersThatNoRunCanHave) {
  EXPECT_EQ(ResumeAfter("UPDATE run SET population = 0"), At(": its population is 0, which no run can have") + kRemedy);
  EXPECT_EQ(ResumeAfter("UPDATE run SET population = 4, children = -1"),
            At(": its number of children is -1, which no run can have") + kRemedy);
  EXPECT_EQ(ResumeAfter("UPDATE run SET children = 2147483647"),
            At(": its number of children is 2147483647, which no run can have") + kRemedy);
  EXPECT_EQ(ResumeAfter("UPDATE run SET children = 4294967299"),
            At(": its children is 4294967299, which is out of range") + kRemedy);
  EXPECT_EQ(ResumeAfter("UPDATE run SET children = 3, seed = '12x'"), At(": its seed is '12x', which is out of range") + kRemedy);
  EXPECT_EQ(ResumeAfter("UPDATE run SET seed = '12', generations = -5"),
            At(": its number of generations is -5, which no run can have") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithUnknownNames) {
  EXPECT_EQ(ResumeAfter("UPDATE run SET population_kind = 'feudal'"),
            At(": its population kind is 'feudal'; it can be elitist, islands, map-elites, niches, random") + kRemedy);
  EXPECT_EQ(ResumeAfter("UPDATE run SET population_kind = 'elitist', device = 'abacus'"),
            At(": its device is 'abacus'; it can be cpu, cuda") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithoutItsOperatorsOrTemplates) {
  EXPECT_EQ(ResumeAfter("UPDATE run_operator SET weight = -1"), At(": the weight of its operator set_parameter is -1") + kRemedy);
  EXPECT_EQ(ResumeAfter("DELETE FROM run_operator"), At(": it has no operators") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithAnotherTemplate) {
  EXPECT_EQ(ResumeAfter("UPDATE template SET text = text || ' '"),
            At(": the text of its template scale is not the one that was stored") + kRemedy);
  EXPECT_EQ(ResumeAfter("DELETE FROM run_template"), At(": the template scale of its baseline is missing") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithUnreadableOptions) {
  EXPECT_THAT(ResumeAfter("UPDATE run SET options = '{\"operators\"'"),
              AllOf(HasSubstr(At(": its stored options cannot be read")), HasSubstr("go back to a copy of the database")));
  EXPECT_THAT(ResumeAfter("UPDATE run SET options = '{\"ordinals\": []}'"), HasSubstr(At(": its option ordinals is []")));
  EXPECT_THAT(ResumeAfter("UPDATE run SET options = '{\"evaluations\": -1}'"), HasSubstr(At(": its option evaluations is -1")));
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithAnUnreadableGenome) {
  for (const char* genome : {"{", "null", "[]", "{\"template\": 1}", "{\"template\": \"scale\"}"}) {
    EXPECT_THAT(ResumeAfter(fmt::format("UPDATE candidate SET genome = '{}' WHERE candidate = 5", genome)),
                AllOf(HasSubstr(At(", candidate 5: genome")), HasSubstr(kRemedy), Not(HasSubstr("json.exception"))));
  }
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithAnUnknownOutcome) {
  EXPECT_EQ(ResumeAfter("UPDATE evaluation SET outcome = 'splendid' WHERE candidate = 3"),
            At(", candidate 3: its outcome is 'splendid', which this evo does not know") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithoutATime) {
  EXPECT_EQ(ResumeAfter("UPDATE evaluation SET score_ns = NULL WHERE candidate = 3"),
            At(", candidate 3: its outcome is ok, and its score is nan ns") + kRemedy);
}

TEST_F(DamagedHistory, ARunDoesNotGoOnWithACandidateOfAnotherTemplate) {
  EXPECT_EQ(ResumeAfter("UPDATE candidate SET genome = json_set(genome, '$.template_digest', 'f00d') WHERE candidate = 3"),
            At(", candidate 3: its template scale is missing") + kRemedy);
}

TEST_F(DamagedHistory, AnExportLeavesOutWhatIsDamagedAndSaysSo) {
  Damage("UPDATE candidate SET genome = '{' WHERE candidate = 5");
  Damage("DELETE FROM evaluation WHERE candidate = 4");
  const std::string csv = Call("export --csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6) << csv;
  EXPECT_THAT(remarks_, AllOf(HasSubstr("evo: " + At(", candidate 5: genome: ")), HasSubstr("; left out\n"),
                              HasSubstr("evo: " + At(", candidate 4: its evaluation is missing; left out\n"))));
  EXPECT_EQ(context_.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(Call("export --json"))["candidates"].size(), 5U);
  EXPECT_EQ(context_.exit_code, 1);
}

TEST_F(DamagedHistory, AWholeOneHasNoRemarks) {
  for (const char* command : {"export --csv", "best", "history", "history --runs", "lineage 6", "show 6"}) {
    Call(command);
    EXPECT_EQ(remarks_, "") << command;
    EXPECT_EQ(context_.exit_code, 0) << command;
  }
}

TEST_F(DamagedHistory, TheNextBestTakesThePlaceOfADamagedOne) {
  Damage("UPDATE candidate SET genome = '{' WHERE candidate = 6");
  EXPECT_THAT(Call("best"), HasSubstr("candidate   3 of run 1"));
  EXPECT_THAT(remarks_, HasSubstr(At(", candidate 6: genome")));
  EXPECT_THAT(Call("history --runs"), HasSubstr("scale"));
}

TEST_F(DamagedHistory, ALineageBeginsAfterWhatIsDamagedOrMissing) {
  Damage("UPDATE candidate SET genome = 'null' WHERE candidate = 2");
  EXPECT_EQ(nlohmann::json::parse(Call("lineage 6 --json")).size(), 2U);
  EXPECT_THAT(remarks_, HasSubstr(At(", candidate 2: genome")));
  Damage("DELETE FROM candidate WHERE candidate = 2");
  EXPECT_EQ(nlohmann::json::parse(Call("lineage 6 --json")).size(), 2U);
  EXPECT_EQ(remarks_, "evo: " + At(", candidate 3: its parent 2 is missing; left out\n"));
}

TEST_F(DamagedHistory, WhatWasAskedForByItsNumberIsNamed) {
  Damage("UPDATE evaluation SET stage = 'limbo' WHERE candidate = 5");
  try {
    Call("show 5");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), At(", candidate 5: its stage is 'limbo', which this evo does not know") + kRemedy);
  }
}

TEST_F(DamagedHistory, AChampionCheckThatCannotBeReadIsLeftOut) {
  Damage("UPDATE champion_check SET outcome = 'splendid' WHERE candidate = 6");
  EXPECT_THAT(Call("show 6"), HasSubstr("verdict     not checked"));
  EXPECT_THAT(remarks_, HasSubstr(At(", candidate 6: its champion check: its outcome is 'splendid'")));
}

TEST_F(DamagedHistory, OneRunDoesNotHideTheOthers) {
  SqliteStore(context_.database).BeginRun(testing::FixtureRun());
  Damage("UPDATE run SET seed = 'none' WHERE run = 2");
  EXPECT_THAT(Call("history --runs"), HasSubstr("NVIDIA H200"));
  EXPECT_EQ(remarks_, fmt::format("evo: {}: run 2: the run's row: its seed is 'none', which is out of range; left out\n",
                                  context_.database));
  Damage("UPDATE run SET seed = '3', options = '[' WHERE run = 1");
  EXPECT_THAT(Call("history --runs"), HasSubstr("NVIDIA H200"));
  EXPECT_THAT(Call("best --run 1"), HasSubstr("candidate   6 of run 1"));
  EXPECT_EQ(remarks_, "evo: " + At(": its options cannot be read; left out\n"));
  EXPECT_TRUE(nlohmann::json::accept(Call("history --json --run 1")));
}

TEST_F(DamagedHistory, GenerationsThatAreMissingAreSaid) {
  Damage("DELETE FROM generation WHERE generation = 2");
  EXPECT_THAT(Call("history"), HasSubstr("set_parameter"));
  EXPECT_EQ(remarks_, "evo: " + At(": its generation 2 is missing; left out\n"));
}

TEST_F(DamagedHistory, ManyRemarksAreFew) {
  SQLite::Database(context_.database, SQLite::OPEN_READWRITE)
      .exec(
          "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 199) "
          "INSERT INTO candidate SELECT 1, i, 2, i, 'scale', 'default', '', '{}' FROM n");
  Call("export --csv");
  EXPECT_EQ(std::count(remarks_.begin(), remarks_.end(), '\n'), 21);
  EXPECT_THAT(remarks_, HasSubstr("more is damaged and left out\n"));
}

// A new run learns from earlier ones, and damage to those is not its end.
TEST_F(DamagedHistory, KnownEvaluationsAreThoseThatCanBeRead) {
  Damage("UPDATE evaluation SET program_digest = 'p' || candidate");
  Damage("UPDATE candidate SET genome = '{' WHERE candidate = 5");
  EXPECT_EQ(SqliteStore(context_.database).LoadKnown(testing::FixtureRun()).size(), 7U) << "genomes are not read";
  Damage("UPDATE evaluation SET stage = 'of a later version' WHERE candidate = 5");
  EXPECT_EQ(SqliteStore(context_.database).LoadKnown(testing::FixtureRun()).size(), 6U);
}

TEST_F(DamagedHistory, NothingOfADatabaseControlsTheTerminal) {
  Damage(
      "UPDATE evaluation SET message = 'a' || char(27, 93, 7, 155, 8238, 13, 10) || 'verdict     verified', "
      "log = char(27) || '[2J' || char(10) || 'b' WHERE candidate = 4");
  Damage("UPDATE candidate SET operator = char(27) || '[31m' WHERE candidate = 4");
  const std::string text = Call("show 4");
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xc2\x9b")), Not(HasSubstr("\xe2\x80\xae")),
                          Not(HasSubstr("\r")), Not(HasSubstr("\nverdict     verified"))));
  EXPECT_THAT(text, HasSubstr("message     a\\x1b]\\x07\\u009b\\u202e\\nverdict     verified\n"));
  EXPECT_THAT(text, HasSubstr("\nlog:\n\\x1b[2J\nb\n"));
  for (const char* command : {"history", "lineage 4", "export --csv", "export --json", "show 4 --json"})
    EXPECT_THAT(Call(command), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xc2\x9b")), Not(HasSubstr("\xe2\x80\xae"))))
        << command;
  EXPECT_THAT(nlohmann::json::parse(Call("show 4 --json"))["message"].get<std::string>(),
              HasSubstr("\x1b]\x07\xc2\x9b\xe2\x80\xae"));
}

}  // namespace
}  // namespace evo
