// A database that somebody else wrote: commands end, print what can be shown, and nothing of it controls the terminal.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/print.h"
#include "core/error.h"
#include "db/sqlite_store.h"
#include "tests/cli/captured_output.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCommands[] = {"best",   "history",   "history --runs", "history --timing",  "show 3", "show 4",
                                     "show 6", "lineage 6", "lineage 7",      "lineage 6 --brief", "export", "db check"};

class HostileDatabase : public ::testing::Test {
 protected:
  HostileDatabase() {
    context_.database = (folder_ / "evo.db").string();
    context_.make_renderer = [] {
      return SourceRenderer([](const TemplateText& text, const Genome& genome) {
        return text.text + fmt::format("// {} edits\n", genome.edits.size());
      });
    };
    testing::WriteFixture(context_.database, testing::FixtureRun());
  }

  void Write(const std::string& sql) const {
    SQLite::Database db(context_.database, SQLite::OPEN_READWRITE);
    db.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
    db.exec(sql);
  }

  // What the command prints on both streams; an error is what main would print.
  std::string Call(const std::string& arguments) {
    testing::CapturedOutput printed;
    testing::CapturedOutput remarks;
    context_.out = printed.stream();
    context_.messages = remarks.stream();
    CLI::App app;
    for (const auto add : {AddBest, AddDb, AddExport, AddHistory, AddLineage, AddShow}) add(app, context_);
    app.require_subcommand(1);
    std::string error;
    try {
      app.parse(arguments);
    } catch (const Error& failure) {
      error = CleanedLine(failure.what());
    }
    json_ = printed.Text();
    return json_ + remarks.Text() + error;
  }

  // Every command ends, prints only what a terminal shows, and its JSON is JSON.
  void ExpectSane() {
    for (const char* command : kCommands) {
      const std::string text = Call(command);
      EXPECT_FALSE(text.empty()) << command;
      EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("\xc2\x9b")), Not(HasSubstr("\r")),
                              Not(HasSubstr("\xe2\x80\xae"))))
          << command;
      if (std::string_view(command).ends_with("--brief")) continue;
      const std::string both = Call(std::string(command) + " --json");
      EXPECT_TRUE(json_.empty() || nlohmann::json::accept(json_)) << command << ": " << json_.substr(0, 200);
      EXPECT_THAT(both, Not(HasSubstr("\x1b"))) << command;
    }
  }

  testing::TemporaryFolder folder_;
  CommandContext context_;
  std::string json_;
};

// ESC ] 0 ; title BEL, clears the screen, an overriding mark, a script.
constexpr const char* kText =
    "char(27, 93) || '0;x' || char(7, 27) || '[2J' || char(155, 8238, 13, 10) || '<script>alert(1)</script>'";

TEST_F(HostileDatabase, NamesAndMessagesAreShownAsText) {
  Write(fmt::format("UPDATE run SET task = {0}, device_name = {0}, status_message = {0}, baseline = {0}, l2 = {0}, arch = {0}",
                    kText));
  Write(fmt::format("UPDATE evaluation SET message = {0}, log = {0}, device_name = {0}, failed_case = {0}, program_digest = {0}",
                    kText));
  Write(fmt::format("UPDATE candidate SET operator = {0}, template = {0}", kText));
  Write(fmt::format("UPDATE case_measurement SET case_name = {0}, launches = {0}, throttle_reason = {0}", kText));
  Write(fmt::format("UPDATE champion_check SET message = {0}, slowest_inputs = {0}, reference = {0}", kText));
  Write(fmt::format("UPDATE operator_total SET operator = {0} || operator", kText));
  Write(fmt::format("UPDATE dropped_edit SET reason = {0}", kText));
  ExpectSane();
}

TEST_F(HostileDatabase, EditsAndParametersAreShownAsText) {
  Write(
      "UPDATE candidate SET genome = json_set(genome, '$.edits[0].op', char(27) || '[31m', '$.edits[0].source[0].text', "
      "'</script>' || char(27) || ']0;x' || char(7), '$.parameters', json('{\"' || char(8238) || '\":1}')) WHERE candidate IN "
      "(3, 6, 7)");
  ExpectSane();
}

TEST_F(HostileDatabase, ALogOfTenMegabytesIsShown) {
  Write("UPDATE evaluation SET log = hex(zeroblob(5000000)) || char(27), message = hex(zeroblob(500000)) WHERE candidate = 4");
  EXPECT_GT(Call("show 4").size(), 10'000'000U);
  ExpectSane();
}

TEST_F(HostileDatabase, CyclesAmongParentsEnd) {
  Write("UPDATE parent SET parent = 6 WHERE candidate = 2");
  Write("UPDATE parent SET parent = 3 WHERE candidate = 3");
  ExpectSane();
  EXPECT_THAT(Call("lineage 6 --brief"), HasSubstr("set_parameter"));
  SQLite::Database db(context_.database);
  EXPECT_LE(db.execAndGet("SELECT count(*) FROM lineage WHERE run = 1 AND candidate = 6").getInt(), 4);
}

TEST_F(HostileDatabase, OddBlobsOfSamples) {
  Write("UPDATE case_row SET samples = x'0102' WHERE candidate = 3");
  Write("UPDATE case_row SET samples = zeroblob(4000000) WHERE candidate = 6");
  ExpectSane();
}

TEST_F(HostileDatabase, NumbersThatNoRunHas) {
  Write("UPDATE evaluation_row SET score_ns = -1e308, registers = 9223372036854775807, occupancy = 9e999 WHERE candidate = 6");
  Write("UPDATE evaluation_row SET score_ns = 9e999, spill_bytes = -5 WHERE candidate = 3");
  Write("UPDATE case_row SET median_ns = 9e999, tick_ns = -1, weight = 9e999 WHERE candidate = 3");
  Write("UPDATE generation SET evaluated = -1, valid = 9223372036854775807");
  ExpectSane();
}

// A table that is not STRICT, as another program might make it.
TEST_F(HostileDatabase, WrongTypes) {
  Write(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT, WITHOUT', 'WITHOUT'), ') "
      "STRICT', ')') "
      "WHERE type = 'table'; PRAGMA writable_schema = RESET");
  Write(
      "UPDATE evaluation_row SET score_ns = 'fast', registers = 'many', outcome = x'00ff', compile_ms = x'' WHERE candidate = 6");
  Write("UPDATE candidate_row SET head = 'x', edits = '[[1]]', idx = 'a' WHERE candidate = 5");
  Write("UPDATE case_row SET samples = 'abc', median_ns = 'x' WHERE candidate = 3");
  ExpectSane();
}

TEST_F(HostileDatabase, TextsThatAreMissing) {
  Write("DELETE FROM text");
  ExpectSane();
  EXPECT_THAT(Call("export --csv"), HasSubstr("genome: its text"));
}

}  // namespace
}  // namespace evo
