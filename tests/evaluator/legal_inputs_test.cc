#include "evaluator/session/legal_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evaluator/session/input_trials.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

const float* InputOf(const std::vector<Address>& buffers) { return reinterpret_cast<const float*>(buffers[0]); }
float* OutputOf(const std::vector<Address>& buffers) { return reinterpret_cast<float*>(buffers[1]); }

// y = 2 x; the baseline overflows where 4 x does.
class LegalInputsTest : public ::testing::Test {
 protected:
  LegalInputsTest() {
    parts_.device.kernels["baseline"] = [](const auto& buffers) {
      for (int i = 0; i < kTwiceElements; ++i) OutputOf(buffers)[i] = 4 * InputOf(buffers)[i] / 2;
    };
    parts_.baseline = TwiceProgram("baseline");
  }

  LegalInputs& Legal(const std::string& task = kTwiceTask) { return parts_.Context(task).legal; }
  InputProgram Program(const std::string& text) { return ParseInputProgram(text, 3, Task()); }
  evo::Task Task() const { return ParseTask(kTwiceTask, kTwiceSource, "twice"); }
  // What the candidate's image is told on these inputs.
  InputTrials::Tried Try(const std::string& text, const FakeDevice::Kernel& kernel) {
    parts_.device.kernels["candidate"] = kernel;
    LegalInputs& legal = Legal();
    auto loaded = LoadProgram(parts_.device, TwiceProgram("candidate").source, TwiceProgram("candidate").program);
    return InputTrials(parts_.device, legal, std::get<evo::Program>(loaded), Task().small).Try(Program(text));
  }

  SessionParts parts_{"cpu"};
};

TEST_F(LegalInputsTest, AreThoseThatTheBaselineGetsRight) {
  LegalInputs& legal = Legal();
  EXPECT_TRUE(std::holds_alternative<InputSet*>(legal.Get(Task().small, Program("x: constant(3)"))));
  const LegalInputs::Legal& overflow = legal.Get(Task().small, Program("x: constant(1e38)"));
  ASSERT_TRUE(std::holds_alternative<LeftOut>(overflow)) << "8e38 is no float, and the reference is 2e38";
  EXPECT_THAT(std::get<LeftOut>(overflow).reason, HasSubstr("the baseline is wrong"));
}

// A kernel whose blocks are larger than a size writes behind its output. Its answer may be right there all the same.
TEST_F(LegalInputsTest, AreNoneWhereTheBaselineWritesOutsideItsBuffers) {
  parts_.device.kernels["baseline"] = [](const auto& buffers) {
    Multiply<float>(buffers, 2);
    OutputOf(buffers)[kTwiceElements] = 1;
  };
  LegalInputs& legal = Legal();
  for (const LegalInputs::Legal* made :
       {&legal.Get(Task().small, Program("x: constant(3)")), &legal.GetOfSizes(Task().small, 3)}) {
    ASSERT_TRUE(std::holds_alternative<LeftOut>(*made));
    EXPECT_THAT(std::get<LeftOut>(*made).reason, HasSubstr("the baseline fails: wrote outside y"));
  }
}

// A reference may be slow.
TEST_F(LegalInputsTest, NeedSoManyAnswersOfTheReference) {
  int answers = 0;
  parts_.device.kernels["reference"] = [&](const auto& buffers) {
    ++answers;
    Multiply<double>(buffers, 2);
  };
  EXPECT_TRUE(std::holds_alternative<InputSet*>(Legal().Get(Task().small, Program("x: constant(3)"))));
  EXPECT_EQ(answers, LegalInputs::kAnswers);
}

TEST_F(LegalInputsTest, AreNoneWhereTheReferenceIsNotFinite) {
  const LegalInputs::Legal& infinite = Legal().Get(Task().small, Program("x: normal(0,1) | mask_first(-inf)"));
  ASSERT_TRUE(std::holds_alternative<LeftOut>(infinite));
  EXPECT_THAT(std::get<LeftOut>(infinite).reason, HasSubstr("reference"));
}

TEST_F(LegalInputsTest, AreNoneWithoutABaseline) {
  parts_.baseline = {};
  EXPECT_FALSE(Legal().enabled());
  EXPECT_TRUE(std::holds_alternative<LeftOut>(Legal().Get(Task().small, Program("x: constant(3)"))));
}

TEST_F(LegalInputsTest, StayWithinTheTasksDomain) {
  std::string task = kTwiceTask;
  task.insert(task.find("\"cases\""), R"("domain": [{"of": "x", "from": -5, "to": 5, "reason": "angles"}], )");
  LegalInputs& legal = Legal(task);
  EXPECT_TRUE(std::holds_alternative<InputSet*>(legal.Get(Task().small, Program("x: constant(5)"))));
  const LegalInputs::Legal& outside = legal.Get(Task().small, Program("x: constant(6)"));
  ASSERT_TRUE(std::holds_alternative<LeftOut>(outside));
  EXPECT_THAT(std::get<LeftOut>(outside).reason, HasSubstr("angles"));
}

TEST_F(LegalInputsTest, ARightProgramIsFarFromItsBound) {
  const auto tried = Try("x: constant(3)", [](const auto& buffers) { Multiply<float>(buffers, 2); });
  ASSERT_TRUE(std::holds_alternative<RightAnswer>(tried));
  EXPECT_EQ(std::get<RightAnswer>(tried).fitness, 0);
}

TEST_F(LegalInputsTest, AWrongProgramIsBeyondItsBound) {
  const auto tried = Try("x: constant(3)", [](const auto& buffers) { Multiply<float>(buffers, 2.1); });
  ASSERT_TRUE(std::holds_alternative<Failure>(tried));
  EXPECT_EQ(std::get<Failure>(tried).outcome, Outcome::kWrongResult);
}

TEST_F(LegalInputsTest, AProgramThatOverflowsWhereTheBaselineDoesNotIsWrong) {
  const auto tried = Try("x: constant(5e37)", [](const auto& buffers) {
    for (int i = 0; i < kTwiceElements; ++i) OutputOf(buffers)[i] = 8 * InputOf(buffers)[i] / 4;
  });
  ASSERT_TRUE(std::holds_alternative<Failure>(tried));
  EXPECT_THAT(std::get<Failure>(tried).message, HasSubstr("not finite"));
}

TEST_F(LegalInputsTest, AProgramMayOverflowWhereTheBaselineDoes) {
  const auto tried = Try("x: constant(1e38)", [](const auto& buffers) {
    for (int i = 0; i < kTwiceElements; ++i) OutputOf(buffers)[i] = 8 * InputOf(buffers)[i] / 4;
  });
  EXPECT_TRUE(std::holds_alternative<LeftOut>(tried));
}

// Neighbours cancel in the baseline's order of the sum. Sixteen times these values are no floats, so that trying them shows
// nothing.
TEST_F(LegalInputsTest, AProgramMayOverflowWhereOnlyTheOrderOfTheSumKeepsTheBaselineFromIt) {
  const auto sum_of = [](int step) {
    return [step](const auto& buffers) {
      float sum = 0;
      for (int first = 0; first < step; ++first) {
        for (int i = first; i < kTwiceElements; i += step) sum += InputOf(buffers)[i];
      }
      for (int i = 0; i < kTwiceElements; ++i) OutputOf(buffers)[i] = 2 * InputOf(buffers)[i] + 0 * sum;
    };
  };
  parts_.device.kernels["baseline"] = sum_of(1);
  const auto tried = Try("x: constant(1.2e38) | alternate", sum_of(2));
  ASSERT_TRUE(std::holds_alternative<LeftOut>(tried));
  EXPECT_THAT(std::get<LeftOut>(tried).reason, HasSubstr("overflows"));
}

// The baseline itself cannot be tried with larger values there, and a kernel within the allowed error can round to infinity.
TEST_F(LegalInputsTest, AProgramMayOverflowWhereTheAnswerIsAtTheEndOfItsType) {
  parts_.device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  const auto overflows = [](const auto& buffers) {
    for (int i = 0; i < kTwiceElements; ++i) OutputOf(buffers)[i] = 2 * InputOf(buffers)[i] * 1.000001F;
  };
  const auto tried = Try("x: constant(1.7014117e38)", overflows);
  ASSERT_TRUE(std::holds_alternative<LeftOut>(tried));
  EXPECT_THAT(std::get<LeftOut>(tried).reason, HasSubstr("the largest number of its type"));
}

// The scale of such an answer underflows, so that its error is infinite by the task's own bounds, but not relative to the sum of
// magnitudes.
TEST_F(LegalInputsTest, AnAnswerTooSmallForItsTypeMayBeZero) {
  const auto is_tiny = [](const auto& buffers) { return InputOf(buffers)[0] < 0 && InputOf(buffers)[0] > -10; };
  parts_.device.kernels["reference"] = [=](const auto& buffers) { Multiply<double>(buffers, is_tiny(buffers) ? 1e-254 : 2); };
  const auto kernel = [=](const auto& buffers) { Multiply<float>(buffers, is_tiny(buffers) ? 0 : 2); };
  parts_.device.kernels["baseline"] = kernel;
  const auto tried = Try("x: constant(-3)", kernel);
  const auto* left_out = std::get_if<LeftOut>(&tried);
  EXPECT_TRUE(std::holds_alternative<RightAnswer>(tried)) << (left_out == nullptr ? "wrong" : left_out->reason);
}

TEST_F(LegalInputsTest, AProgramMayBeSomeTimesLessPreciseThanTheBaseline) {
  const auto off_by = [](double relative) {
    return [relative](const std::vector<Address>& buffers) { Multiply<float>(buffers, 2 * (1 + relative)); };
  };
  parts_.device.kernels["baseline"] = off_by(1e-4);
  const auto near = Try("x: constant(3)", off_by(5e-4));
  ASSERT_TRUE(std::holds_alternative<RightAnswer>(near));
  EXPECT_NEAR(std::get<RightAnswer>(near).error, 0.5, 0.01);
  EXPECT_TRUE(std::holds_alternative<Failure>(Try("x: constant(3)", off_by(2e-3))));
}

// An error that rounding makes is small on some inputs by luck, and a search for the largest error over the bound finds these.
TEST_F(LegalInputsTest, TheBaselineMayBeRightByLuck) {
  const auto off_by = [](double relative) {
    return [relative](const std::vector<Address>& buffers) { Multiply<float>(buffers, 2 * (1 + relative)); };
  };
  std::optional<float> lucky;
  parts_.device.kernels["baseline"] = [&](const std::vector<Address>& buffers) {
    if (!lucky) lucky = InputOf(buffers)[0];
    off_by (*lucky == InputOf(buffers)[0] ? 1e-4 : 1e-3)(buffers);
  };
  EXPECT_TRUE(std::holds_alternative<RightAnswer>(Try("x: normal(0,1)", off_by(5e-3))));
  lucky.reset();
  EXPECT_TRUE(std::holds_alternative<Failure>(Try("x: normal(0,1)", off_by(2e-2))));
}

}  // namespace
}  // namespace evo
