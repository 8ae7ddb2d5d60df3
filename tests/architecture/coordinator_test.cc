// The coordinator schedules evolved text and never parses it: a parser that crashes or hangs on it must cost a worker, not the
// run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "tests/architecture/source_rules.h"

namespace evo::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Includes of kernel_templates/ in evaluator/scheduling/ beyond the task and its cases, which are the user's text, not evolved.
std::vector<std::string> ParsersIncluded(const std::string& path, const std::string& text) {
  static const std::regex kInclude(R"(#\s*include\s*["<](kernel_templates/[^">]+|)"
                                   R"(evaluator/workers/(launch_prediction|compile_role)\.h)[">])");
  std::vector<std::string> found;
  if (path.find("evaluator/scheduling/") != 0) return found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), kInclude); match != std::sregex_iterator(); ++match) {
    const std::string included = (*match)[1].str();
    if (included != "kernel_templates/task.h" && included != "kernel_templates/case_scale.h")
      found.push_back(path + ": " + included);
  }
  return found;
}

TEST(Coordinator, DoesNotParseEvolvedText) {
  int files = 0;
  for (const std::string& path : SourceFiles(EVO_SOURCE_ROOT)) {
    std::ifstream file(std::filesystem::path(EVO_SOURCE_ROOT) / path);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_THAT(ParsersIncluded(path, text.str()), IsEmpty());
    files += path.find("evaluator/scheduling/") == 0 ? 1 : 0;
  }
  EXPECT_GT(files, 5);
}

TEST(Coordinator, ParsersAreRecognised) {
  EXPECT_THAT(ParsersIncluded("evaluator/scheduling/a.cc",
                              "#include \"kernel_templates/task.h\"\n#include \"kernel_templates/launch_plan.h\"\n"),
              ElementsAre("evaluator/scheduling/a.cc: kernel_templates/launch_plan.h"));
  EXPECT_THAT(ParsersIncluded("evaluator/workers/a.cc", "#include \"kernel_templates/launch_plan.h\"\n"), IsEmpty());
}

}  // namespace
}  // namespace evo::testing
