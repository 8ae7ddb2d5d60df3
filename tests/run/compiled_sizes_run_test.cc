// Kernels whose size is a macro (evo:size): the real programs, on the cpu device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

// The fixed one has the row length of the small case everywhere.
TEST_F(CompiledSizesRun, EachCaseRunsItsOwnImage) {
  const fs::path task = folder_ / "task";
  fs::copy(Task(), task);
  const std::string sized = Text(task / "rows.cu");
  const auto add = [&](const std::string& name, const std::string& text) { std::ofstream(task / (name + ".cu")) << text; };
  add("fixed", With(With(sized, "// evo:size WIDTH = W\n", ""), "1024", "50"));
  add("narrow", With(sized, "    int row", "    static_assert(WIDTH != 100, \"not 100\");\n    int row"));
  add("odd", With(sized, "WIDTH = W", "WIDTH = COLUMNS"));
  ASSERT_EQ(Run({"check", task.string(), "--device", "cpu", "--json"}), 3) << Output();
  const std::string output = Output();
  const auto json = nlohmann::json::parse(output.substr(output.find('{')));
  std::map<std::string, std::string> outcomes;
  std::map<std::string, std::string> messages;
  for (const auto& row : json.at("templates")) {
    const auto name = row.at("template").get<std::string>();
    outcomes[name] = row.at("outcome").get<std::string>();
    messages[name] = row.at("message").get<std::string>();
  }
  EXPECT_EQ(outcomes.at("rows"), "ok") << messages.at("rows");
  EXPECT_EQ(outcomes.at("shared"), "ok") << messages.at("shared");
  EXPECT_EQ(outcomes.at("fixed"), "wrong_result");
  EXPECT_THAT(messages.at("fixed"), HasSubstr("case h300_w256: ")) << "right in the small case";
  EXPECT_EQ(outcomes.at("narrow"), "compile_error");
  EXPECT_THAT(messages.at("narrow"), HasSubstr("with WIDTH = 100: "));
  EXPECT_THAT(messages.at("odd"), HasSubstr("line 1: evo:size WIDTH: 'COLUMNS' is not a size of the task"));
}

TEST_F(CompiledSizesRun, AChampionIsVerifiedAndExported) {
  ASSERT_EQ(Run({"run", "--task", Task(), "--device", "cpu", "--generations", "3", "--population", "2", "--children", "3", "--db",
                 Database()}),
            0)
      << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("generation 3/3"), HasSubstr("held-out ok (h77_w33)")));
  const CandidateRecord best = *History(Database()).Best(1);
  ASSERT_TRUE(best.check);
  EXPECT_EQ(best.check->outcome, Outcome::kOk) << best.check->message;
  EXPECT_THAT(best.check->domain.sizes, ::testing::Contains(HasSubstr("W=1"))) << "other sizes are compiled, too";

  ASSERT_EQ(Run({"verify", "--db", Database(), "--time-limit", "5s"}), 0) << Output();
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
}

TEST_F(CompiledSizesRun, AKernelThatCannotBeCompiledForSomeSizesIsRightAtTheOthers) {
  const std::string file = (folder_ / "even.cu").string();
  const std::string sized = Text(Task() + "/rows.cu");
  std::ofstream(file) << With(sized, "    int row", "    static_assert(WIDTH != 1, \"too narrow\");\n    int row");
  ASSERT_EQ(Run({"verify", "--task", Task(), "--kernel", file, "--device", "cpu", "--time-limit", "5s"}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("sizes are compiled in, and this was not compiled with WIDTH = 1"));
}

}  // namespace
}  // namespace evo
