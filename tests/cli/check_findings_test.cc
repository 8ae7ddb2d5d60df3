#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/check_task.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The softmax task on the cpu device, with nothing wrong.
class FindingsTest : public ::testing::Test {
 protected:
  FindingsTest() {
    check_.task = LoadTask(std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / "softmax");
    check_.device.kind = "cpu";
    check_.device.memory_bytes = std::size_t{16} << 30;
    SurveyedOutput output{.output = "Y",
                          .allowed_l2 = 1e-5,
                          .allowed_max = 1e-4,
                          .baseline_l2 = 1e-6,
                          .baseline_max = 1e-5,
                          .baseline_ratio = 0.1,
                          .block_ratio = 1e4,
                          .block = 3,
                          .blocks = 41,
                          .term_ratio = 30,
                          .terms = 1283};
    check_.survey.cases = {{"small", 4e5, 1, 1, 5, 5, {}, {output}}, {"r256_c1000", 2e6, 10, 3, 5, 5, {}, {output}}};
    CheckedTemplate baseline;
    baseline.evaluated = true;
    baseline.nvcc.result = "clean";
    baseline.evaluation.outcome = Outcome::kOk;
    baseline.evaluation.cases = {{.name = "r256_c1000", .median_ns = 2e6}};
    check_.templates = {baseline};
  }
  SurveyedOutput& Output(std::size_t i = 0) { return check_.survey.cases.at(i).outputs.at(0); }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const Finding& one : FindingsOf(check_)) texts.push_back((one.fails ? "fails " : "warning ") + one.text);
    return texts;
  }

  TaskCheck check_;
};

TEST_F(FindingsTest, AreNoneWhereNothingIsWrong) { EXPECT_THAT(Texts(), IsEmpty()); }

TEST_F(FindingsTest, ABaselineThatIsWrongFails) {
  check_.survey.cases[0].failures = {{"X: normal", "Y: too far"}, {"X: one_hot", "Y: too far"}};
  EXPECT_THAT(Texts(), Contains("fails case small, X: normal; X: one_hot: the baseline fails: Y: too far"));
}

TEST_F(FindingsTest, ASlowReferenceIsSaid) {
  check_.reference = ReferenceCost{40, 60, 300};
  EXPECT_THAT(Texts(), IsEmpty()) << "2.4 s";
  check_.task.reference_file = "reference.py";
  check_.reference->ms = 200;
  EXPECT_THAT(
      Texts(),
      Contains("warning slow reference: 200 ms for an answer of reference.py to the small case; a search waits 12 s for 60 of "
               "them before its first candidate, and 60 s in each check of a champion: make the small case smaller, or the "
               "reference faster"));
}

TEST_F(FindingsTest, AReferenceThatCrashesFails) {
  check_.survey.cases[1].failures = {{"X: normal", "the reference crashes: signal 11"}};
  EXPECT_THAT(Texts(), Contains("fails case r256_c1000, X: normal: the reference crashes: signal 11"));
}

TEST_F(FindingsTest, AWideBoundIsSaidOnceForItsWorstCase) {
  Output(0).block_ratio = 0.5;
  Output(1).block_ratio = 0.25;
  Output(0).term_ratio = 0.75;
  EXPECT_THAT(Texts(), Contains(AllOf(HasSubstr("warning case r256_c1000: zeros in place of block 3 of 41 of Y"),
                                      HasSubstr("0.25 of what is allowed"), HasSubstr("so in 1 more case"))));
  EXPECT_THAT(Texts(), Contains(AllOf(HasSubstr("case small: one missing term of the 1283"), HasSubstr("about 0.75"))));
}

TEST_F(FindingsTest, ABaselineNearItsBoundIsSaid) {
  Output().baseline_ratio = 0.8;
  EXPECT_THAT(Texts(), Contains(HasSubstr("the baseline's own error of Y is 0.8 of what is allowed")));
}

TEST_F(FindingsTest, SizesThatAreAllMultiplesOfAWarpAreSaid) {
  const auto set = [&](const char* name, std::int64_t small, std::int64_t others) {
    check_.task.small.sizes[name] = small;
    for (auto* list : {&check_.task.search_cpu, &check_.task.held_out_cpu}) {
      for (Case& one : *list) one.sizes[name] = others;
    }
  };
  set("COLS", 64, 256);
  EXPECT_THAT(Texts(), Contains(HasSubstr("not ragged: COLS is a multiple of 32 in every case")));
  set("ROWS", 64, 96);
  EXPECT_THAT(Texts(), Contains(HasSubstr("every size of every case is a multiple of 32")));
  set("COLS", 64, 100);
  set("ROWS", 64, 77);
  EXPECT_THAT(Texts(), Contains(HasSubstr("the small case is not ragged")));
  set("COLS", 100, 64);
  EXPECT_THAT(Texts(), IsEmpty());
}

TEST_F(FindingsTest, CasesThatCostTooMuchAreSaid) {
  check_.templates[0].evaluation.cases[0].median_ns = 90e6;
  check_.survey.cases[1].bytes = 5e9;
  EXPECT_THAT(Texts(), Contains(HasSubstr("case r256_c1000: too slow: 90 ms for one run of the baseline")));
  EXPECT_THAT(Texts(), Contains(HasSubstr("case r256_c1000: too large: 5.0 GB of arguments")));
}

TEST_F(FindingsTest, ATemplateFailsUnlessItIsForAnotherDevice) {
  CheckedTemplate& one = check_.templates[0];
  EXPECT_FALSE(Fails(one));
  one.evaluation.outcome = Outcome::kUnsupported;
  EXPECT_TRUE(Fails(one));
  one.hopeless = true;
  EXPECT_FALSE(Fails(one));
  one.nvcc.result = "error";
  EXPECT_TRUE(Fails(one)) << "nvcc compiles for every device";
}

}  // namespace
}  // namespace evo
