#include <gmock/gmock.h>

#include <cmath>

#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/session/input_trials.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

std::string TaskWithReference(const std::string& value) {
  std::string task = kTwiceTask;
  return task.insert(task.find("\"baseline\""), "\"reference\": \"" + value + "\", ");
}

// y = 2 x with a baseline that gives its answers as floats.
class BaselineReferenceTest : public ::testing::Test {
 protected:
  BaselineReferenceTest() {
    // The same image is the task's reference and its baseline.
    parts_.device.kernels["reference"] = [this](const auto& buffers) {
      ++runs_;
      Multiply<float>(buffers, factor_);
    };
    parts_.baseline = TwiceProgram("reference");
  }

  const InputSet& Listed() {
    const Case& small = parts_.Context(TaskWithReference("baseline")).inputs.task().small;
    return parts_.cache.Get({small, 0, 7});
  }

  SessionParts parts_{"cpu"};
  double factor_ = 2;
  int runs_ = 0;
};

TEST_F(BaselineReferenceTest, GivesItsOwnAnswersAsDoubles) {
  factor_ = 3;
  const InputSet& set = Listed();
  EXPECT_EQ(runs_, 2) << "over memory that held different things";
  std::vector<float> x(kTwiceElements);
  parts_.device.memory().Read(std::as_writable_bytes(std::span(x)), set.PlaceOf("x").address);
  const std::vector<double> answers = set.References().front();
  for (int i = 0; i < kTwiceElements; ++i) ASSERT_EQ(answers[i], static_cast<double>(3 * x[i])) << "right is what it computes";
}

TEST_F(BaselineReferenceTest, MakesInputsLegalWhereItIsFinite) {
  LegalInputs& legal = parts_.Context(TaskWithReference("baseline")).legal;
  const Task& task = legal.task();
  const auto made = [&](const std::string& text) { return legal.Make(task.small, ParseInputProgram(text, 3, task)); };
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<InputSet>>(made("x: constant(3)")));
  const auto infinite = made("x: constant(3e38)");
  ASSERT_TRUE(std::holds_alternative<LeftOut>(infinite));
  EXPECT_THAT(std::get<LeftOut>(infinite).reason, HasSubstr("not finite"));
}

TEST_F(BaselineReferenceTest, HasNoAnswerWhereItDoesNotWrite) {
  parts_.device.kernels["reference"] = [](const auto& buffers) {
    const float last = reinterpret_cast<float*>(buffers[1])[kTwiceElements - 1];
    Multiply<float>(buffers, 2);
    reinterpret_cast<float*>(buffers[1])[kTwiceElements - 1] = last;
  };
  LegalInputs& legal = parts_.Context(TaskWithReference("baseline")).legal;
  Case sizes = legal.task().small;
  sizes.name = "N=100";
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto made = legal.MakeOfSizes(sizes, seed);
    ASSERT_TRUE(std::holds_alternative<LeftOut>(made)) << seed;
    EXPECT_EQ(std::get<LeftOut>(made).reason, "the reference has no answer: the baseline does not write element 99 of y");
  }
}

// An inout argument reaches it as drawn, in its own type.
TEST(BaselineReference, GetsTheValuesOfAnInout) {
  std::string text = kTwiceTask;
  const std::string out = R"("role": "out", "dtype": "f32", "shape": ["N"],)";
  text.replace(text.find(out), out.size(), R"("role": "inout", "dtype": "f32", "shape": ["N"], "generators": ["normal"],)");
  text.insert(text.find("\"baseline\""), R"("reference": "baseline", )");
  SessionParts parts("cpu");
  parts.device.kernels["reference"] = [](const auto& buffers) {
    const auto* x = reinterpret_cast<const float*>(buffers[0]);
    auto* y = reinterpret_cast<float*>(buffers[1]);
    for (int i = 0; i < kTwiceElements; ++i) y[i] += x[i];
  };
  const Case small = parts.Context(text).inputs.task().small;
  const InputSet& set = parts.cache.Get({small, 0, 7});
  std::vector<float> x(kTwiceElements), y(kTwiceElements);
  parts.device.memory().Read(std::as_writable_bytes(std::span(x)), set.PlaceOf("x").address);
  parts.device.memory().Read(std::as_writable_bytes(std::span(y)), set.PlaceOf("y").address);
  const std::vector<double> answers = set.References().front();
  for (int i = 0; i < kTwiceElements; ++i) ASSERT_EQ(answers[i], static_cast<double>(x[i] + y[i]));
}

// Computes y = 2 x, but has no answer to inputs beyond 10.
class PickyReference : public Reference {
 public:
  std::optional<Failure> Compute(Device& device, const Task&, const Case&, const std::vector<Place>& places) override {
    std::vector<float> x(kTwiceElements);
    device.memory().Read(std::as_writable_bytes(std::span(x)), places[0].contents.address);
    std::vector<double> y(kTwiceElements);
    for (int i = 0; i < kTwiceElements; ++i) {
      if (std::abs(x[i]) > 10)
        return Failure{Outcome::kUnsupported, "reference.py:3: ValueError: math domain error", false, true};
      y[i] = 2 * static_cast<double>(x[i]);
    }
    device.memory().Write(places[1].answer.address, std::as_bytes(std::span(y)));
    return std::nullopt;
  }
};

// Of a task whose reference is Python, a class of its own gives the answers here.
class GivenReferenceTest : public ::testing::Test {
 protected:
  GivenReferenceTest() {
    device_.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
    device_.kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
    cache_.Use(task_, "", {});
  }

  FakeDevice device_{"cpu"};
  Task task_ = ParseTask(TaskWithReference("reference.py"), "def reference(x): return 2 * x", "twice");
  InputCache cache_{device_, std::make_unique<PickyReference>()};
  LegalInputs legal_{device_, cache_, task_, TwiceProgram("baseline")};
};

TEST_F(GivenReferenceTest, AnInputWithoutAnAnswerIsNotLegal) {
  const auto made = [&](const std::string& text) { return legal_.Make(task_.small, ParseInputProgram(text, 3, task_)); };
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<InputSet>>(made("x: uniform(-1,1)")));
  const auto beyond = made("x: constant(11)");
  ASSERT_TRUE(std::holds_alternative<LeftOut>(beyond));
  EXPECT_EQ(std::get<LeftOut>(beyond).reason, "the reference has no answer: reference.py:3: ValueError: math domain error");
}

TEST_F(GivenReferenceTest, ACandidateIsNotChargedWithAnInputWithoutAnAnswer) {
  auto program = std::get<Program>(LoadProgram(device_, TwiceProgram("candidate").source, TwiceProgram("candidate").program));
  InputTrials trials(device_, legal_, program, task_.small);
  const auto tried = trials.Try(ParseInputProgram("x: constant(11)", 3, task_));
  ASSERT_TRUE(std::holds_alternative<LeftOut>(tried));
  EXPECT_THAT(std::get<LeftOut>(tried).reason, HasSubstr("math domain error"));
  EXPECT_TRUE(std::holds_alternative<RightAnswer>(trials.Try(ParseInputProgram("x: constant(1)", 3, task_))));
}

TEST_F(GivenReferenceTest, AListedInputWithoutAnAnswerEndsTheRun) {
  DrawnArguments contents = DrawArguments(task_, task_.small, 0, 7);
  reinterpret_cast<float*>(contents[0].data())[3] = 11;
  try {
    cache_.Make(task_.small, contents, 7);
    FAIL() << "an answer";
  } catch (const InfrastructureFailure& failure) {
    EXPECT_STREQ(failure.what(),
                 "the reference of task twice fails on case small: reference.py:3: ValueError: math domain error");
  }
}

}  // namespace
}  // namespace evo
