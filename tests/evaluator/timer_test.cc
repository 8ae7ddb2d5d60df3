// The rows of docs/hazards.md that the timer itself must meet, by their numbers; no kernel can show these.
#include "evaluator/timer/timer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <list>
#include <map>

#include "evaluator/device/cuda/cuda_policy.h"
#include "evaluator/gate/input_set.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/twice_task.h"

namespace evo {
namespace {

constexpr std::size_t kSets = 3;
constexpr int kRounds = 50;
// Interleaved launches of two programs, including two rounds of warm-up. Later launches are for the check.
constexpr std::size_t kInterleaved = 2 * (kRounds + 2);

class TimerTest : public ::testing::Test {
 protected:
  TimerTest() {
    device_.kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
    device_.kernels["honest"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
    Program reference = Load("reference");
    KernelReference answers(reference);
    for (std::size_t i = 0; i < kSets; ++i) {
      sets_.push_back(std::move(
          std::get<0>(InputSet::Make(device_, task_, task_.small, DrawArguments(task_, task_.small, 0, i + 1), i + 1, answers))));
    }
  }

  Program Load(const std::string& image) {
    CompiledProgram compiled{image, "", {{"k", "k"}}};
    return std::move(std::get<Program>(LoadProgram(device_, kTwiceSource, compiled)));
  }

  // An image's program over every set.
  const std::vector<BoundProgram>& Bind(const std::string& image) {
    Owned& owned = owned_.emplace_back(Owned{Load(image), {}, {}});
    owned.binding.push_back(std::move(std::get<LaunchBinding>(LaunchBinding::Make(device_, owned.program, task_, task_.small))));
    for (const auto& set : sets_) owned.bound.push_back(BindProgram(owned.binding.front(), *set));
    return owned.bound;
  }

  std::variant<CaseMeasurement, Failure> Measure(const std::string& image, L2State l2 = L2State::kHot) {
    Timer timer(device_, gate_, l2, StoppingCriterion{kCudaPolicy.sampling}, 7);
    return timer.Measure(Bind(image), errors_);
  }

  std::pair<CaseMeasurement, CaseMeasurement> Interleaved(const std::string& first, const std::string& second) {
    Timer timer(device_, gate_, L2State::kHot, {}, 7);
    return std::get<0>(timer.MeasureInterleaved(Bind(first), Bind(second), errors_, kRounds));
  }

  struct Owned {
    Program program;
    std::vector<LaunchBinding> binding;
    std::vector<BoundProgram> bound;
  };
  FakeDevice device_{"cuda"};
  Task task_ = ParseTask(kTwiceTask, kTwiceSource, "twice");
  Gate gate_{device_, Determinism::kBitwise};
  CheckedErrors errors_;
  std::vector<std::unique_ptr<InputSet>> sets_;
  std::list<Owned> owned_;
};

TEST_F(TimerTest, Row01OutputsArePoisonBeforeEveryTimedLaunch) {
  ASSERT_EQ(Measure("honest").index(), 0U);
  for (const FakeDevice::Timed& run : device_.timed) {
    const auto poisons_y = [&](const DevicePoison& fill) {
      return fill.address == run.buffers[1] && fill.bytes == kTwiceElements * sizeof(float);
    };
    EXPECT_TRUE(std::any_of(run.preparation.poison.begin(), run.preparation.poison.end(), poisons_y));
  }
}

TEST_F(TimerTest, Row03NoTimedLaunchSeesTheDataOfTheOneBefore) {
  ASSERT_EQ(Measure("honest").index(), 0U);
  ASSERT_GT(device_.timed.size(), 8U);
  for (std::size_t i = 4; i < device_.timed.size(); ++i)
    EXPECT_NE(device_.timed[i].buffers[0], device_.timed[i - 1].buffers[0]) << i;
}

TEST_F(TimerTest, Row04WhatTheLastTimedLaunchesWroteIsChecked) {
  int launches = 0;
  device_.kernels["tires"] = [&](const auto& buffers) { Multiply<float>(buffers, ++launches <= 4 ? 2 : 1); };
  const auto measured = Measure("tires");
  ASSERT_EQ(measured.index(), 1U);
  EXPECT_EQ(std::get<Failure>(measured).outcome, Outcome::kWrongResult);
}

TEST_F(TimerTest, MeasuresForLongerUntilAJobWaits) {
  device_.clock = [](std::size_t ordinal) {
    return SequenceTime{1000 + ordinal % 2 * 20, 1000, 0, false};
  };  // noisy by one percent either way
  StoppingCriterion brief = StoppingCriterion{kCudaPolicy.sampling};
  brief.max_samples = 20;
  const std::vector<BoundProgram>& bound = Bind("honest");
  const auto samples = [&](const std::function<bool()>& jobs_wait) {
    Timer timer(device_, gate_, L2State::kHot, brief, 7);
    return std::get<CaseMeasurement>(
               timer.Measure(bound, errors_,
                             IdleMeasurement{StoppingCriterion{*kCudaPolicy.idle_sampling}, jobs_wait, std::chrono::minutes(5)}))
        .samples.size();
  };
  EXPECT_LT(samples([] { return true; }), 40U);
  EXPECT_GE(samples([] { return false; }), 480U);
  int asked = 0;
  const std::size_t stopped = samples([&] { return ++asked > 6; });
  EXPECT_GT(stopped, 40U);
  EXPECT_LT(stopped, 120U) << "a job came after six batches of at most twelve, and one is under way then";
}

TEST_F(TimerTest, ACopyOfASetLiesElsewhereAndIsCheckedLikeIt) {
  const auto copy = std::move(std::get<0>(sets_[0]->Copy(99)));
  const std::vector<InputSet::View> original = sets_[0]->Views();
  const std::vector<InputSet::View> copied = copy->Views();
  ASSERT_EQ(original.size(), copied.size());
  for (std::size_t i = 0; i < original.size(); ++i) {
    EXPECT_NE(copied[i].place.address, original[i].place.address);
    EXPECT_EQ(copied[i].place.bytes, original[i].place.bytes);
    EXPECT_EQ(copied[i].reference, original[i].reference) << "the answer is there once";
  }
  device_.kernels["wrong"] = [](const auto& buffers) { Multiply<float>(buffers, 3); };
  device_.kernels["meddler"] = [](const auto& buffers) {
    Multiply<float>(buffers, 2);
    reinterpret_cast<float*>(buffers[0])[3] = 0.5F;
  };
  const auto check = [&](const std::string& image) {
    Bind(image);
    Owned& owned = owned_.back();
    Gate gate(device_, Determinism::kBitwise);
    if (auto failure = gate.Check(BindProgram(owned.binding.front(), *sets_[0]), 1, errors_); failure && image != "meddler")
      return failure;
    return gate.Check(BindProgram(owned.binding.front(), *copy), 1, errors_);
  };
  EXPECT_FALSE(check("honest"));
  const auto wrong = check("wrong");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->outcome, Outcome::kWrongResult);
  const auto meddled = check("meddler");
  ASSERT_TRUE(meddled);
  EXPECT_NE(meddled->message.find("changed its input"), std::string::npos) << meddled->message;
  EXPECT_FALSE(check("honest")) << "restored";
  device_.kernels["aware"] = [&](const auto& buffers) {
    Multiply<float>(buffers, 2);
    auto* y = reinterpret_cast<float*>(buffers[1]);
    if (buffers[0] != original[0].place.address) y[0] = std::nextafter(y[0], 1e9F);
  };
  const auto aware = check("aware");
  ASSERT_TRUE(aware);
  EXPECT_EQ(aware->outcome, Outcome::kNondeterministic) << "the same input gives the same bits wherever it lies";
}

TEST_F(TimerTest, InterleavedSlowProgramsHaveFewRounds) {
  device_.clock = [](std::size_t) { return SequenceTime{10'000'000, 10'000'000, 320'000'000, false}; };  // a third of a second
  const auto [first, second] = Interleaved("honest", "honest");
  EXPECT_EQ(first.samples.size(), 8u);
  EXPECT_EQ(second.samples.size(), 8u);
  device_.clock = [](std::size_t) { return SequenceTime{1000, 1000, 32'000, false}; };
  EXPECT_EQ(Interleaved("honest", "honest").first.samples.size(), 50u);
}

TEST_F(TimerTest, InterleavedBothMeetEverySetEquallyOften) {
  device_.kernels["twin"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  Interleaved("honest", "twin");
  std::map<std::uint64_t, int> met[2];
  int round = 0;
  ASSERT_EQ(device_.timed.size(), kInterleaved + kSets);
  for (std::size_t i = 0; i < kInterleaved; ++i, round += i % 2 == 0 ? 1 : 0) {
    const std::size_t program = (static_cast<std::size_t>(round) + i % 2) % 2;
    ++met[program][device_.timed[i].buffers[0]];
    if (i > 0) {
      EXPECT_NE(device_.timed[i].buffers[0], device_.timed[i - 1].buffers[0]) << i;
    }
  }
  for (const auto& of_program : met) {
    ASSERT_EQ(of_program.size(), kSets);
    for (const auto& [set, times] : of_program) EXPECT_NEAR(times, kInterleaved / 2.0 / kSets, 1) << set;
  }
}

TEST_F(TimerTest, Row04InterleavedTheOutputOfTheFirstIsChecked) {
  // Another program, whose right answers have other bits, writes over the same sets and copies of them.
  device_.kernels["near"] = [](const auto& buffers) { Multiply<float>(buffers, 2.0 + 5e-7); };
  bool tires = false;
  device_.kernels["candidate"] = [&](const auto& buffers) { Multiply<float>(buffers, tires ? 3 : 2); };
  std::vector<std::unique_ptr<InputSet>> copies;
  for (const auto& set : sets_) copies.push_back(std::move(std::get<0>(set->Copy(99))));
  const auto bind = [&](const std::string& image) {
    std::vector<BoundProgram> bound = Bind(image);
    for (const auto& copy : copies) bound.push_back(BindProgram(owned_.back().binding.front(), *copy));
    return bound;
  };
  const std::vector<BoundProgram> candidate = bind("candidate");
  const std::vector<BoundProgram> near = bind("near");
  const auto compare = [&] {
    Gate gate(device_, Determinism::kBitwise);
    Timer timer(device_, gate, L2State::kHot, {}, 7);
    return timer.MeasureInterleaved(candidate, near, errors_, kRounds);
  };
  const auto honest = compare();
  EXPECT_EQ(honest.index(), 0U) << std::get<Failure>(honest).message;
  tires = true;
  EXPECT_EQ(compare().index(), 1U);
}

TEST_F(TimerTest, Row20InterleavedTheSecondPlaceIsNoAdvantage) {
  device_.kernels["twin"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  // The second program of a round finds warm caches.
  device_.clock = [](std::size_t ordinal) { return SequenceTime{ordinal % 2 == 0 ? 1000U : 900U, 900, 0, false}; };
  const auto [first, second] = Interleaved("honest", "twin");
  EXPECT_EQ(first.median_ns, second.median_ns);
}

TEST_F(TimerTest, Row16ColdFlushesTwiceL2AndTouchesNothing) {
  ASSERT_EQ(Measure("honest", L2State::kCold).index(), 0U);
  for (const FakeDevice::Timed& run : device_.timed) {
    EXPECT_GE(run.preparation.flush_bytes, 2 * device_.info().l2_bytes);
    EXPECT_TRUE(run.preparation.displace_code);
    EXPECT_TRUE(run.preparation.touch.empty());
  }
}

TEST_F(TimerTest, Row16HotTouchesEveryInputAndFlushesNothing) {
  ASSERT_EQ(Measure("honest", L2State::kHot).index(), 0U);
  for (const FakeDevice::Timed& run : device_.timed) {
    EXPECT_EQ(run.preparation.flush_bytes, 0U);
    EXPECT_TRUE(run.preparation.displace_code) << "between two calls of a kernel others run";
    ASSERT_EQ(run.preparation.touch.size(), 1U);
    EXPECT_EQ(run.preparation.touch[0].address, run.buffers[0]);
    EXPECT_EQ(run.preparation.touch[0].bytes, kTwiceElements * sizeof(float));
  }
}

TEST_F(TimerTest, Row14RecordsThatDifferAreTheCandidatesFailure) {
  device_.timing_status = {Outcome::kCheating, "kernel child ran and was not declared", false};
  const auto measured = Measure("honest");
  ASSERT_EQ(measured.index(), 1U);
  EXPECT_EQ(std::get<Failure>(measured).outcome, Outcome::kCheating);
}

TEST_F(TimerTest, Row20LuckySamplesDoNotScore) {
  device_.clock = [](std::size_t ordinal) { return SequenceTime{ordinal % 5 == 0 ? 100U : 1000 + ordinal % 3, 1000, 0, false}; };
  const auto measured = Measure("honest");
  ASSERT_EQ(measured.index(), 0U);
  EXPECT_NEAR(std::get<CaseMeasurement>(measured).median_ns, 1001 * 32.0, 2 * 32.0);
}

// The chip slows down by half during the comparison. Measured one after the other, the second program would look worse.
TEST_F(TimerTest, Row20AWarmingChipDoesNotRankTwoPrograms) {
  device_.clock = [](std::size_t ordinal) { return SequenceTime{10'000 + 50 * ordinal, 0, 0, false}; };
  const auto [first, second] = Interleaved("honest", "honest");
  EXPECT_NEAR(first.median_ns / second.median_ns, 1, 0.01);
  // Each round has both, and each goes first in every other round.
  for (std::size_t i = 1; i < kInterleaved; i += 2) EXPECT_NE(device_.timed[i].program, device_.timed[i - 1].program) << i;
  for (std::size_t i = 2; i < kInterleaved; i += 2) EXPECT_NE(device_.timed[i].program, device_.timed[i - 2].program) << i;
}

TEST_F(TimerTest, Row20DisturbedSamplesAreDiscardedAndCounted) {
  device_.clock = [](std::size_t ordinal) { return SequenceTime{ordinal % 4 == 0 ? 90'000U : 1000U, 1000, 0, ordinal % 4 == 0}; };
  const auto measured = Measure("honest");
  ASSERT_EQ(measured.index(), 0U);
  EXPECT_EQ(std::get<CaseMeasurement>(measured).p90_ns, 1000 * 32.0);
  EXPECT_GT(std::get<CaseMeasurement>(measured).discarded, 0);
  device_.clock = [](std::size_t ordinal) { return SequenceTime{1000, 1000, 0, ordinal % 8 != 0}; };
  const auto noisy = Measure("honest");
  ASSERT_EQ(noisy.index(), 1U);
  EXPECT_EQ(std::get<Failure>(noisy).outcome, Outcome::kNoisy);
}

TEST_F(TimerTest, Row20ClocksAndWhyTheyWereThrottledAreKept) {
  int reading = 0;
  device_.clocks = [&] {
    return ++reading == 2 ? ClockState{1755, 1980, 3200, 80, 690, "power cap", false}
                          : ClockState{1980, 1980, 3200, 60, 500, "", false};
  };
  device_.clock = [](std::size_t ordinal) { return SequenceTime{1000 + ordinal * 37 % 100, 1000, 0, false}; };
  const auto measured = Measure("honest");
  ASSERT_EQ(measured.index(), 0U);
  const auto& m = std::get<CaseMeasurement>(measured);
  ASSERT_GE(reading, 2);
  EXPECT_EQ(m.sm_low_mhz, 1755);
  EXPECT_EQ(m.sm_high_mhz, 1980);
  EXPECT_EQ(m.throttle_reason, "power cap");
}

TEST_F(TimerTest, Row20OutliersAreCountedAndKept) {
  device_.clock = [](std::size_t ordinal) { return SequenceTime{ordinal % 10 == 7 ? 5000U : 1000U, 1000, 0, false}; };
  const auto measured = Measure("honest");
  ASSERT_EQ(measured.index(), 0U);
  const auto& m = std::get<CaseMeasurement>(measured);
  EXPECT_GT(m.outliers, 0);
  EXPECT_EQ(m.outliers, std::count(m.samples.begin(), m.samples.end(), 5000U));
}

TEST_F(TimerTest, Row21TheProgramAskedForIsTheOneTimed) {
  device_.kernels["other"] = device_.kernels["honest"];
  const std::vector<BoundProgram>& other = Bind("other");
  ASSERT_EQ(Measure("honest").index(), 0U);
  const LoadedProgram* const asked = owned_.back().program.images.front().loaded.get();
  EXPECT_NE(asked, other.front().binding->image().loaded.get());
  for (const FakeDevice::Timed& run : device_.timed) EXPECT_EQ(run.program, asked);
}

// The first program gets the first result: a program that is twice as slow has twice the time on either side.
TEST_F(TimerTest, Row21ResultsOfTwoProgramsAreNotMixedUp) {
  // The first program runs as number 0, 3, 4, 7, 8 and so on.
  device_.clock = [](std::size_t ordinal) { return SequenceTime{(ordinal + 1) / 2 % 2 == 0 ? 2000U : 1000U, 1000, 0, false}; };
  const auto [first, second] = Interleaved("honest", "honest");
  EXPECT_NEAR(first.median_ns / second.median_ns, 2, 1e-3);
}

TEST_F(TimerTest, Row24TheScoreIsTheSpanAndTheSumIsKeptToo) {
  device_.clock = [](std::size_t) { return SequenceTime{1000, 300, 0, false}; };
  const auto measured = Measure("honest");
  ASSERT_EQ(measured.index(), 0U);
  EXPECT_NEAR(std::get<CaseMeasurement>(measured).median_ns, 1000 * 32.0, 16);
  EXPECT_NEAR(std::get<CaseMeasurement>(measured).busy_ns, 300 * 32.0, 16);
}

}  // namespace
}  // namespace evo
