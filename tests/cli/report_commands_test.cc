#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <stop_token>

#include "cli/commands/commands.h"
#include "core/error.h"
#include "db/sqlite_store.h"
#include "tests/cli/captured_output.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ReportCommandsTest : public ::testing::Test {
 protected:
  ReportCommandsTest() {
    context_.database = (folder_ / "evo.db").string();
    context_.make_renderer = [] { return SourceRenderer([](const TemplateText& text, const Genome&) { return text.text; }); };
    stop_.request_stop();  // a server ends as soon as it serves
    context_.interrupt = stop_.get_token();
    context_.messages = messages_.stream();
  }

  std::string Call(const std::string& arguments) {
    testing::CapturedOutput printed;
    context_.out = printed.stream();
    CLI::App app;
    AddReport(app, context_);
    AddServe(app, context_);
    app.parse(arguments);
    return printed.Text();
  }

  std::string UsageErrorOf(const std::string& arguments) {
    try {
      return "printed: " + Call(arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  testing::TemporaryFolder folder_;
  std::stop_source stop_;
  testing::CapturedOutput messages_;
  CommandContext context_;
};

TEST_F(ReportCommandsTest, ServeRefusesADatabaseOrARunThatIsNotThere) {
  EXPECT_THAT(UsageErrorOf("serve --port 0"), HasSubstr("evo.db: no such database; `evo run --db "));
  EXPECT_FALSE(std::filesystem::exists(context_.database));
  SqliteStore{context_.database};  // of a run that begins later
  EXPECT_THAT(UsageErrorOf("serve --port 0"), StartsWith("printed: http://127.0.0.1:"));
  testing::WriteFixture(folder_ / "other.db", testing::FixtureRun());
  context_.database = (folder_ / "other.db").string();
  EXPECT_THAT(UsageErrorOf("serve --port 0 --run 7"), HasSubstr("no run 7"));
}

TEST_F(ReportCommandsTest, AReportGoesToTheStandardOutput) {
  testing::WriteFixture(context_.database, testing::FixtureRun());
  const std::string file = (folder_ / "report.html").string();
  EXPECT_EQ(Call("report --out " + file), "");
  EXPECT_THAT(messages_.Text(), HasSubstr("report.html: run 1 of "));
  const std::string page = Call("report --out -");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_NEAR(static_cast<double>(page.size()), static_cast<double>(std::filesystem::file_size(file)), 100);
  EXPECT_THAT(Call("report --out - --format markdown"), StartsWith("## scale: evolved by evo"));
  EXPECT_FALSE(std::filesystem::exists("-"));
}

}  // namespace
}  // namespace evo
