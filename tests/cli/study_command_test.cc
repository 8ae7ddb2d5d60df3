#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "core/error.h"
#include "tests/cli/captured_output.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TemporaryFolder;

class StudyCommand : public ::testing::Test {
 protected:
  // 6 x 6 x 2 points, one row of which failed.
  StudyCommand() {
    std::ofstream file(path_);
    file << "BLOCK,UNROLL,LAYOUT,status,median_us\n";
    for (int block = 0; block < 6; ++block) {
      for (int unroll = 0; unroll < 6; ++unroll) {
        for (const char* layout : {"row", "col"}) {
          file << (8 << block) << ',' << unroll << ',' << layout << ',' << (block == 5 ? "launch_error" : "ok") << ','
               << 10 + (block - 3) * (block - 3) + unroll + (*layout == 'c' ? 3 : 0) << '\n';
        }
      }
    }
  }

  std::string Study(std::vector<std::string> arguments) {
    testing::CapturedOutput printed;
    CommandContext context;
    context.out = printed.stream();
    CLI::App app;
    AddStudy(app, context);
    arguments.insert(arguments.begin(), {"study", "--landscape", path_});
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
    return printed.Text();
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_ / "small.csv").string();
};

TEST_F(StudyCommand, PrintsATableWithRandomSearchForComparison) {
  const std::string text = Study({"--seeds", "5", "--evaluations", "60"});
  EXPECT_THAT(text, StartsWith(path_ + ": 72 points of 3 parameters, 12 failed; optimum median_us 10; 5 seeds"));
  EXPECT_THAT(text, HasSubstr("\nevaluations "));
  EXPECT_THAT(text, HasSubstr("\nelitist evolution + surrogate "));
  EXPECT_THAT(text, HasSubstr("\nrandom "));
  EXPECT_EQ(text, Study({"--seeds", "5", "--evaluations", "60"})) << "the same again";
}

TEST_F(StudyCommand, PrintsJson) {
  const auto study = nlohmann::json::parse(Study({"--seeds", "4", "--evaluations", "72", "--population-kind", "islands",
                                                  "--surrogate", "off", "--strategy", "evolution", "--format", "json"}));
  EXPECT_EQ(study.at("points"), 72);
  ASSERT_EQ(study.at("searches").size(), 1U);
  EXPECT_EQ(study.at("searches")[0].at("search"), "islands evolution");
  const auto& points = study.at("searches")[0].at("optimum_over_best");
  ASSERT_EQ(points.size(), 3U) << "after 20, 50 and all";
  EXPECT_EQ(points[2].at("evaluations"), 72);
  EXPECT_EQ(points[2].at("mean"), 1.0) << "a search that evaluates all points finds the best";
  EXPECT_EQ(points[2].at("standard_error"), 0.0);
  EXPECT_THAT(points[2].at("by_seed"), ElementsAre(1.0, 1.0, 1.0, 1.0));
}

TEST_F(StudyCommand, SearchesAsARunDoes) {
  for (const char* surrogate : {"on", "off"}) {
    const std::vector<std::string> flags = {"--seeds",   "4",           "--evaluations", "60",     "--as-run",   "--strategy",
                                            "evolution", "--surrogate", surrogate,       "--json", "--children", "6"};
    const std::string text = Study(flags);
    EXPECT_EQ(Study(flags), text) << "the same again";
    const auto study = nlohmann::json::parse(text);
    EXPECT_THAT(study.at("searches")[0].at("search").get<std::string>(), HasSubstr(", as a run"));
    EXPECT_GT(study.at("searches")[0].at("optimum_over_best")[2].at("mean"), 0.9);
  }
}

TEST_F(StudyCommand, RandomSearchHasNoSurrogate) {
  const std::string text = Study({"--seeds", "2", "--population-kind", "random", "--strategy", "evolution"});
  EXPECT_THAT(text, HasSubstr("\nrandom evolution "));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("surrogate")));
  EXPECT_THROW(Study({"--population-kind", "random", "--surrogate", "on"}), UsageError);
}

TEST_F(StudyCommand, RefusesAFolder) {
  path_ = folder_.path().string();
  try {
    Study({});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("it is a folder; give a file"));
  }
}

TEST_F(StudyCommand, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Study({"--score", "ns"}), UsageError);
  EXPECT_THROW(Study({"--ok", "correct"}), UsageError);
  EXPECT_THROW(Study({"--population-kind", "crowd"}), CLI::ParseError);
  EXPECT_THROW(Study({"--strategy", "guess"}), CLI::ParseError);
  EXPECT_THROW(Study({"--surrogate", "maybe"}), CLI::ParseError);
  EXPECT_THROW(Study({"--seeds", "0"}), CLI::ParseError);
  EXPECT_THROW(Study({"--children", "8"}), UsageError) << "without --as-run there are no generations";
  path_ = (folder_ / "missing.csv").string();
  EXPECT_THROW(Study({}), UsageError);
}

}  // namespace
}  // namespace evo
