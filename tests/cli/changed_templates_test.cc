#include "cli/changed_templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kernel_templates/kernel_template.h"
#include "tests/cli/captured_output.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kText = R"(// evo:launch copy(x, y, N) grid(1) block(32)
__global__ void copy(const float* x, float* y, int n) { for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i]; }
)";

class ChangedTemplatesTest : public ::testing::Test {
 protected:
  ChangedTemplatesTest() {
    for (const char* name : {"a", "b", "c"}) {
      Write(name, kText);
      const KernelTemplate loaded = LoadTemplate(folder_ / (std::string(name) + ".cu"));
      run_.templates.push_back({loaded.name, loaded.digest, loaded.text});
    }
    run_.id = 7;
  }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / (name + ".cu")) << text; }
  std::string Said() const {
    testing::CapturedOutput messages;
    SayWhatChanged(messages.stream(), folder_.path(), run_);
    return messages.Text();
  }

  testing::TemporaryFolder folder_;
  RunRecord run_;
};

TEST_F(ChangedTemplatesTest, NothingIsSaidOfTemplatesAsTheyWere) {
  Write("new", kText);  // the run does not have it
  EXPECT_THAT(ChangedTemplates(folder_.path(), run_), IsEmpty());
  EXPECT_EQ(Said(), "");
}

TEST_F(ChangedTemplatesTest, NamesThoseThatAreEditedMalformedOrGone) {
  Write("a", std::string(kText) + "// faster\n");
  EXPECT_THAT(ChangedTemplates(folder_.path(), run_), ElementsAre("a"));
  EXPECT_THAT(Said(),
              AllOf(HasSubstr("run 7: "), HasSubstr("the template a has changed since; the text that the run stored is used\n")));
  Write("b", "// evo:launch copy(\n");
  std::filesystem::remove(folder_ / "c.cu");
  EXPECT_THAT(ChangedTemplates(folder_.path(), run_), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Said(), HasSubstr("the templates a, b, c have changed since"));
}

}  // namespace
}  // namespace evo
