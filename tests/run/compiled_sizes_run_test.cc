// Kernels whose size is a macro (evo:size): the real programs, on the cpu device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CompiledSizesRun : public EvoRun {
 protected:
  static std::string Task() { return std::string(EVO_TEST_TASKS) + "/sample_sized"; }
  static std::string Text(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  static std::string With(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
  }
  int Compile(const std::string& options) const {
    const std::string log = (folder_ / "nvcc.log").string();
    const int status = std::system(
        fmt::format("{} -arch=sm_90 -Werror all-warnings {} -o {}/out.o > {} 2>&1", EVO_NVCC, options, folder_.string(), log)
            .c_str());
    EXPECT_EQ(status, 0) << options << "\n" << Text(log);
    return status;
  }
};

TEST_F(CompiledSizesRun, TheTaskIsClean) {
  ASSERT_EQ(Run({"check", Task(), "--device", "cpu"}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("\nclean: 0 failing templates"));
}

TEST_F(CompiledSizesRun, AChampionIsVerifiedAndExported) {
  ASSERT_EQ(Run({"run", "--task", Task(), "--device", "cpu", "--generations", "3", "--population", "4", "--children", "6", "--db",
                 Database()}),
            0)
      << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("generation 3/3"), HasSubstr("held-out ok (h77_w33)")));
  const CandidateRecord best = *History(Database()).Best(1);
  ASSERT_TRUE(best.check);
  EXPECT_EQ(best.check->outcome, Outcome::kOk) << best.check->message;
  EXPECT_THAT(best.check->domain.sizes, ::testing::Contains(HasSubstr("W=1"))) << "other sizes are compiled, too";

  ASSERT_EQ(Run({"verify", "--db", Database()}), 0) << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("verdict     verified"), HasSubstr("the exported file compiles")));

  const std::string file = (folder_ / "fast.cu").string();
  ASSERT_EQ(Run({"best", "--db", Database(), "--export", file, "--with-host"}), 0) << Output();
  const std::string text = Text(file);
  EXPECT_THAT(text,
              AllOf(HasSubstr("// Sizes are compiled in: WIDTH = W"), HasSubstr("WIDTH = 256, for case h300_w256 (H=300 W=256)"),
                    HasSubstr("#define WIDTH 256\n"), HasSubstr("-DWIDTH=100")));
  EXPECT_THAT(Text(folder_ / "fast_host.cu"), HasSubstr("if (compiled_WIDTH != (W)) return cudaErrorInvalidValue;\n"));
  Compile("-c " + file);
  Compile("-std=c++17 -c " + (folder_ / "fast_host.cu").string());
  Compile("-std=c++17 -DWIDTH=100 -DLAST=99 -c " + (folder_ / "fast_host.cu").string());
  // What was exported is a template again.
  ASSERT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu"}), 0) << Output();
}

// The row length of one case, everywhere: right in the first search case only.
TEST_F(CompiledSizesRun, TheImageOfAnotherSizeIsWrong) {
  const std::string file = (folder_ / "fixed.cu").string();
  const std::string sized = Text(Task() + "/rows.cu");
  for (const char* width : {"50", "256"}) {
    std::ofstream(file) << With(With(sized, "// evo:size WIDTH = W\n", ""), "1024", width);
    EXPECT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu"}), 3) << Output();
    EXPECT_THAT(Output(), Not(HasSubstr("verdict     verified")));
  }
  std::ofstream(file) << sized;
  EXPECT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu"}), 0) << Output();
}

TEST_F(CompiledSizesRun, AKernelThatCannotBeCompiledForSomeSizesIsRightAtTheOthers) {
  const std::string file = (folder_ / "even.cu").string();
  const std::string sized = Text(Task() + "/rows.cu");
  std::ofstream(file) << With(sized, "    int row", "    static_assert(WIDTH != 1, \"too narrow\");\n    int row");
  ASSERT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu"}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("sizes are compiled in, and this was not compiled with WIDTH = 1"));
  std::ofstream(file) << With(sized, "    int row", "    static_assert(WIDTH != 33, \"held out\");\n    int row");
  ASSERT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu"}), 3) << Output();
  EXPECT_THAT(Output(), HasSubstr("with WIDTH = 33: "));
}

TEST_F(CompiledSizesRun, ASizeThatTheTaskDoesNotHaveIsSaid) {
  const std::string file = (folder_ / "odd.cu").string();
  std::ofstream(file) << With(Text(Task() + "/rows.cu"), "WIDTH = W", "WIDTH = COLUMNS");
  EXPECT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu"}), 3);
  EXPECT_THAT(Output(), HasSubstr("line 1: evo:size WIDTH: 'COLUMNS' is not a size of the task"));
}

}  // namespace
}  // namespace evo
