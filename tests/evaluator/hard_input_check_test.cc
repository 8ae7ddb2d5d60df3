#include "evaluator/session/hard_input_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evaluator/gate/infrastructure_failure.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const float* Input(const std::vector<Address>& buffers) { return reinterpret_cast<const float*>(buffers[0]); }
float* Output(const std::vector<Address>& buffers) { return reinterpret_cast<float*>(buffers[1]); }

Case OfSize(const char* name, std::int64_t n) { return {.name = name, .sizes = {{"N", n}}}; }

TEST(CaseForHardInputsTest, IsTheFirstThatIsSmallEnoughElseTheSmallest) {
  const Task task = ParseTask(kTwiceTask, kTwiceSource, "twice");
  const std::int64_t most = kMostHardBytes / 8;
  EXPECT_EQ(CaseForHardInputs(task, {OfSize("huge", most + 1), OfSize("first", most), OfSize("second", 7)}).name, "first");
  EXPECT_EQ(CaseForHardInputs(task, {OfSize("huge", 3 * most), OfSize("large", 2 * most)}).name, "large");
}

// y = 2 x, whatever x is.
class HardInputCheckTest : public ::testing::Test {
 protected:
  HardInputCheckTest() {
    parts_.device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
    parts_.baseline = TwiceProgram("baseline");
  }

  // Runs `check` on a program with this kernel.
  std::optional<Failure> Run(const FakeDevice::Kernel& kernel,
                             const std::function<std::optional<Failure>(HardInputCheck&)>& check) {
    parts_.device.kernels["candidate"] = kernel;
    context_.emplace(parts_.Context(FixedTwiceTask()));
    context_->inputs.Place();
    program_.emplace(
        std::get<Program>(LoadProgram(parts_.device, TwiceProgram("candidate").source, TwiceProgram("candidate").program)));
    gate_.emplace(parts_.device, Determinism::kBitwise);
    hard_.emplace(*context_, *program_, *gate_);
    return check(*hard_);
  }

  static void Twice(const std::vector<Address>& buffers) { Multiply<float>(buffers, 2); }
  // Right as long as no element is larger than 100.
  static void TwiceOfSmall(const std::vector<Address>& buffers) {
    for (int i = 0; i < kTwiceElements; ++i) Output(buffers)[i] = 2 * std::fmin(Input(buffers)[i], 100.0F);
  }
  static constexpr auto kNever = [] { return false; };
  static constexpr auto kNoEnd = std::chrono::steady_clock::time_point::max();

  SessionParts parts_{"cpu"};
  std::optional<SessionContext> context_;
  std::optional<Program> program_;
  std::optional<Gate> gate_;
  std::optional<HardInputCheck> hard_;
};

TEST_F(HardInputCheckTest, ARightKernelPassesTheWholeBattery) {
  EXPECT_FALSE(Run(&Twice, [](HardInputCheck& hard) { return hard.CheckBattery(0, 2); }));
  EXPECT_GT(hard_->domain().inputs.size(), 20U);
  EXPECT_THAT(hard_->counterexample().case_name, IsEmpty());
  for (const LeftOut& one : hard_->domain().left_out) EXPECT_THAT(one.reason, HasSubstr("not finite")) << one.what;
}

TEST_F(HardInputCheckTest, TheBatteryFindsAKernelThatIsRightOnTheTasksInputsOnly) {
  const auto failure = Run(&TwiceOfSmall, [](HardInputCheck& hard) { return hard.CheckBattery(0, 1); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_EQ(hard_->counterexample().case_name, "small");
  EXPECT_THAT(hard_->counterexample().inputs, HasSubstr("x: "));
  EXPECT_THAT(failure->message, HasSubstr("inputs: x"));
}

TEST_F(HardInputCheckTest, TheBatteryFindsTheSameTogether) {
  const auto one_by_one = Run(&TwiceOfSmall, [](HardInputCheck& hard) { return hard.CheckBattery(0, 1); });
  const Counterexample found = hard_->counterexample();
  const auto together = Run(&TwiceOfSmall, [](HardInputCheck& hard) { return hard.CheckBatteryTogether(0); });
  ASSERT_TRUE(one_by_one && together);
  EXPECT_EQ(together->message, one_by_one->message);
  EXPECT_EQ(hard_->counterexample().inputs, found.inputs);
  EXPECT_FALSE(Run(&Twice, [](HardInputCheck& hard) { return hard.CheckBatteryTogether(0); }));
}

TEST_F(HardInputCheckTest, WhatWasFoundOnceIsFoundAgain) {
  const Counterexample known{"small", 0, 5, "x: constant(1000)"};
  ASSERT_TRUE(Run(&TwiceOfSmall, [&](HardInputCheck& hard) { return hard.CheckKnown({known}); }));
  EXPECT_EQ(hard_->counterexample().inputs, known.inputs);
  EXPECT_EQ(hard_->counterexample().seed, known.seed);
  EXPECT_FALSE(Run(&Twice, [&](HardInputCheck& hard) { return hard.CheckKnown({known}); }));
}

TEST_F(HardInputCheckTest, CounterexamplesOfAnotherVersionOfTheTaskArePassedOver) {
  for (const Counterexample& other : {Counterexample{"small", 0, 5, "w: constant(1000)"},
                                      Counterexample{"gone", 0, 5, "x: normal"}, Counterexample{"small", 0, 5, "no program"}}) {
    EXPECT_FALSE(Run(&TwiceOfSmall, [&](HardInputCheck& hard) { return hard.CheckKnown({other}); })) << other.inputs;
  }
}

TEST_F(HardInputCheckTest, TheSearchFindsItWithoutTheBattery) {
  const auto failure = Run(&TwiceOfSmall, [](HardInputCheck& hard) { return hard.Search(2000, kNever, 1); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_THAT(hard_->counterexample().inputs, Not(IsEmpty()));
  EXPECT_GT(hard_->adversary().inputs, 0);
  // The text that is kept makes the kernel fail again.
  const Counterexample found = hard_->counterexample();
  EXPECT_TRUE(Run(&TwiceOfSmall, [&](HardInputCheck& hard) { return hard.CheckKnown({found}); }));
}

TEST_F(HardInputCheckTest, TheSearchTriesAsManyInputsAsItIsTold) {
  EXPECT_FALSE(Run(&Twice, [](HardInputCheck& hard) { return hard.Search(300, kNever, 1); }));
  EXPECT_EQ(hard_->adversary().inputs, 300);
  EXPECT_LE(hard_->adversary().worst, 1);
}

// On a GPU a wait takes ten microseconds, an inspection forty, a page of memory a hundred.
TEST_F(HardInputCheckTest, TheSearchMakesItsBuffersOnce) {
  const auto cost_of = [&](const FakeDevice::Kernel& kernel, int inputs) {
    FakeDevice::Operations cost;
    EXPECT_FALSE(Run(kernel, [&](HardInputCheck& hard) {
      const FakeDevice::Operations before = parts_.device.operations;
      auto failure = hard.Search(inputs, kNever, 1);
      const FakeDevice::Operations& after = parts_.device.operations;
      cost = {after.allocations - before.allocations, after.memory - before.memory, after.inspections - before.inspections,
              after.runs - before.runs};
      return failure;
    }));
    return cost;
  };
  for (const BufferLayout& layout : {BufferLayout{64, 4096}, BufferLayout{}}) {
    parts_.device.layout = layout;
    const FakeDevice::Operations few = cost_of(&Twice, 50);
    const FakeDevice::Operations many = cost_of(&Twice, 150);
    EXPECT_EQ(many.allocations, few.allocations);
    EXPECT_EQ(many.memory - few.memory, 100 * 2) << "the contents, and poison where the reference writes";
    EXPECT_EQ(many.inspections - few.inspections, 100 * 3) << "before and after the reference, and the answer";
    EXPECT_EQ(many.runs - few.runs, 100 * 2);
  }
}

// One memory for all inputs: whatever a kernel leaves there on a late input is found as on the first.
TEST_F(HardInputCheckTest, TheSearchLooksAtGuardsInputsAndOutputsAfterEveryInput) {
  constexpr int kLate = 40;
  int launches = 0;
  double* answer = nullptr;
  parts_.device.kernels["reference"] = [&](const auto& buffers) {
    answer = reinterpret_cast<double*>(buffers[1]);
    Multiply<double>(buffers, 2);
  };
  const auto search = [&](const std::function<void(const std::vector<Address>&)>& misdeed) {
    launches = 0;
    return Run(
        [&, misdeed](const auto& buffers) {
          if (++launches == kLate)
            misdeed(buffers);
          else
            Multiply<float>(buffers, 2);
        },
        [&](HardInputCheck& hard) { return hard.Search(2 * kLate, kNever, 1); });
  };
  const auto outside = search([](const auto& buffers) {
    Multiply<float>(buffers, 2);
    Output(buffers)[-1] = 0;
  });
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->outcome, Outcome::kCheating);
  EXPECT_THAT(outside->message, HasSubstr("wrote outside"));
  const auto changed = search([](const auto& buffers) {
    Multiply<float>(buffers, 2);
    reinterpret_cast<float*>(buffers[0])[3] += 1;
  });
  ASSERT_TRUE(changed);
  EXPECT_THAT(changed->message, HasSubstr("changed its input x"));
  const auto unwritten = search([](const auto&) {});
  ASSERT_TRUE(unwritten);
  EXPECT_EQ(unwritten->outcome, Outcome::kNondeterministic) << "it is right in the run after";
  const auto looked_up = search([&](const auto& buffers) { std::copy_n(answer, kTwiceElements, Output(buffers)); });
  ASSERT_TRUE(looked_up) << "neither this input's answer nor the one before is there";
  EXPECT_THAT(looked_up->message, HasSubstr("not finite"));
}

// Half the task's bound off where an element is larger than 100, a tenth elsewhere.
TEST_F(HardInputCheckTest, TheWorstErrorIsThatOfALegalInputOverTheBoundThere) {
  const auto has_large = [](const auto& buffers) {
    return std::any_of(Input(buffers), Input(buffers) + kTwiceElements, [](float x) { return std::abs(x) > 100; });
  };
  const auto search = [&](double factor_of_large) {
    parts_.device.kernels["baseline"] = [=](const auto& buffers) {
      Multiply<float>(buffers, has_large(buffers) ? factor_of_large : 2);
    };
    const auto kernel = [=](const auto& buffers) { Multiply<float>(buffers, 2 * (1 + (has_large(buffers) ? 5e-7 : 1e-7))); };
    EXPECT_FALSE(Run(kernel, [](HardInputCheck& hard) { return hard.Search(300, kNever, 1); }));
    const InputProgram worst = ParseInputProgram(hard_->adversary().worst_inputs, 1, context_->inputs.task());
    EXPECT_TRUE(std::holds_alternative<InputSet*>(context_->legal.Get(context_->inputs.task().small, worst)));
    return hard_->adversary().worst;
  };
  const double hard = LegalInputs::kHardInputs;
  EXPECT_NEAR(search(2), 0.5 / hard, 0.1 / hard);
  EXPECT_LT(search(3), 0.25 / hard) << "the baseline is wrong on large ones";
}

TEST_F(HardInputCheckTest, SizesThatAreNotReachedInTimeAreLeftOut) {
  int begun = 0;
  EXPECT_FALSE(
      Run(&Twice, [&](HardInputCheck& hard) { return hard.CheckSizes([&] { ++begun; }, std::chrono::steady_clock::now()); }));
  EXPECT_EQ(begun, 0);
  EXPECT_THAT(hard_->domain().sizes, IsEmpty());
  ASSERT_THAT(hard_->domain().left_out, Not(IsEmpty()));
  for (const LeftOut& one : hard_->domain().left_out) EXPECT_THAT(one.reason, HasSubstr("no time was left"));
}

TEST_F(HardInputCheckTest, SizesOutsideTheDomainAreLeftOut) {
  EXPECT_FALSE(Run(&Twice, [](HardInputCheck& hard) { return hard.CheckSizes([] {}, kNoEnd); }));
  EXPECT_THAT(hard_->domain().sizes, IsEmpty());
  ASSERT_THAT(hard_->domain().left_out, Not(IsEmpty()));
  EXPECT_THAT(hard_->domain().left_out[0].reason, HasSubstr("a fixed kernel"));
}

// Announcements of a job, as the coordinator gets them.
struct Announced {
  BaselineRuns::Announce Keep() {
    return [this](const AnnouncedRun& run) { all.push_back(run); };
  }
  std::vector<AnnouncedRun> all;
};

TEST_F(HardInputCheckTest, SaysWhoRunsOnWhichInputs) {
  Announced announced;
  std::vector<bool> of_baseline;  // by launch: what the coordinator believed
  const auto note = [&](bool is_baseline) {
    ASSERT_FALSE(announced.all.empty());
    EXPECT_EQ(announced.all.back().of_baseline, is_baseline);
    EXPECT_EQ(announced.all.back().on.case_name, "small");
    of_baseline.push_back(is_baseline);
  };
  parts_.device.kernels["baseline"] = [&](const auto& buffers) {
    note(true);
    Multiply<float>(buffers, 2);
  };
  const auto kernel = [&](const auto& buffers) {
    note(false);
    Multiply<float>(buffers, 2);
  };
  EXPECT_FALSE(Run(kernel, [&](HardInputCheck& hard) {
    context_->legal.baseline_runs().Start(announced.Keep(), {});
    return hard.CheckBattery(3, 1);
  }));
  EXPECT_THAT(of_baseline, testing::Contains(true));
  EXPECT_THAT(of_baseline, testing::Contains(false));
  EXPECT_FALSE(announced.all.back().on.inputs.empty());
}

TEST_F(HardInputCheckTest, InputsOnWhichTheBaselineDiedAreLeftOutAndSaid) {
  int runs = 0;
  const Counterexample known{"small", 0, 5, "x: constant(1000)"};
  EXPECT_FALSE(Run(&TwiceOfSmall, [&](HardInputCheck& hard) {
    parts_.device.kernels["baseline"] = [&](const auto&) { ++runs; };
    context_->legal.baseline_runs().Start([](const AnnouncedRun&) {}, {{known, "the baseline crashes"}});
    return hard.CheckKnown({known});
  }));
  EXPECT_EQ(runs, 0);
  ASSERT_EQ(hard_->domain().left_out.size(), 1U);
  EXPECT_EQ(hard_->domain().left_out[0].reason, "the baseline crashes");
}

TEST_F(HardInputCheckTest, ABaselineThatBreaksTheDeviceIsReportedAsSuch) {
  Announced announced;
  parts_.device.run_status = [](const std::string& image) {
    return image == "baseline" ? DeviceStatus{Outcome::kCrash, "illegal address", true} : DeviceStatus{};
  };
  EXPECT_THROW(Run(&Twice,
                   [&](HardInputCheck& hard) {
                     context_->legal.baseline_runs().Start(announced.Keep(), {});
                     return hard.CheckBattery(1, 1);
                   }),
               InfrastructureFailure);
  ASSERT_FALSE(announced.all.empty());
  EXPECT_TRUE(announced.all.back().of_baseline) << "it is not the candidate's turn";
}

TEST_F(HardInputCheckTest, NothingIsTriedWithoutABaseline) {
  parts_.baseline = {};
  EXPECT_FALSE(Run(&TwiceOfSmall, [](HardInputCheck& hard) { return hard.CheckBattery(0, 1); }));
  EXPECT_THAT(hard_->domain().inputs, IsEmpty());
  EXPECT_FALSE(Run(&TwiceOfSmall, [](HardInputCheck& hard) { return hard.Search(100, kNever, 1); }));
  EXPECT_EQ(hard_->adversary().inputs, 0);
}

}  // namespace
}  // namespace evo
