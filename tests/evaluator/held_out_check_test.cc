#include "evaluator/session/held_out_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_policy.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HeldOutCheckTest : public ::testing::Test {
 protected:
  HeldOutCheckTest() {
    for (SessionParts* parts : {&gpu_, &emulator_})
      parts->device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  }

  std::optional<Failure> Run(SessionParts& parts, const AttachedProgram& checked = {}, const std::string& task = kTwiceTask) {
    const SessionContext context = parts.Context(task);
    context.inputs.Place();
    ChampionRequest request{TwiceProgram("candidate"), checked, TwiceProgram("baseline")};
    request.effort = effort_;
    return HeldOutCheck(context, request, channel_, times_).Run(check_);
  }

  SessionParts gpu_{"cuda"};
  SessionParts emulator_{"cpu"};
  RecordingChannel channel_;
  ChampionCheck check_;
  CheckEffort effort_;
  PartTimes times_;
};

TEST_F(HeldOutCheckTest, AGoodCandidatePassesOnEveryHeldOutCase) {
  EXPECT_FALSE(Run(gpu_));
  EXPECT_THAT(check_.held_out_cases, ElementsAre("c"));
  ASSERT_EQ(check_.candidate.size(), 1U);
  ASSERT_EQ(check_.baseline.size(), 1U);
  EXPECT_EQ(check_.candidate[0].samples.size(), static_cast<std::size_t>(kCudaPolicy.interleaved_rounds));
  EXPECT_TRUE(check_.tools.empty());
}

TEST_F(HeldOutCheckTest, SearchesInputsAsLongAsItMay) {
  emulator_.baseline = TwiceProgram("baseline");
  EXPECT_FALSE(Run(emulator_, {}, FixedTwiceTask()));
  EXPECT_EQ(check_.adversary.inputs, kCpuPolicy.adversary_inputs);
  effort_.search_s = 0;
  check_ = {};
  EXPECT_FALSE(Run(emulator_, {}, FixedTwiceTask()));
  EXPECT_EQ(check_.adversary.inputs, 0);
  EXPECT_FALSE(check_.candidate.empty()) << "the rest of the check is made";
}

TEST_F(HeldOutCheckTest, UsesThePolicyOfAnEmulator) {
  emulator_.device.kernels["checked"] = emulator_.device.kernels["candidate"];
  EXPECT_FALSE(Run(emulator_, TwiceProgram("checked")));
  EXPECT_THAT(check_.held_out_cases, ElementsAre("d"));
  EXPECT_EQ(check_.candidate[0].samples.size(), static_cast<std::size_t>(kCpuPolicy.interleaved_rounds));
  ASSERT_EQ(check_.tools.size(), 2U);
  EXPECT_EQ(check_.tools[0].tool, "checked accesses");
  EXPECT_EQ(check_.tools[1].tool, "sampled blocks");
  EXPECT_EQ(check_.tools[1].result, "clean");
  EXPECT_EQ(check_.tools[1].message, "case b: 1 of 1 blocks; case a: 1 of 1 blocks") << "as timed here, and as timed on a GPU";
  const auto timing = std::find(channel_.stages.begin(), channel_.stages.end(), Stage::kTime) - channel_.stages.begin();
  EXPECT_TRUE(channel_.waited[static_cast<std::size_t>(timing)]) << "compilers stand still";
}

// Row 33: blocks in several orders at the size that is timed.
TEST_F(HeldOutCheckTest, Row33BlocksOfTheTimedCaseRunInSeveralOrders) {
  std::vector<std::uint64_t> of_timed_sets;
  emulator_.device.kernels["candidate"] = [&](const auto& buffers) {
    Multiply<float>(buffers, 2);
    for (InputSet* set : emulator_.inputs->TimedSets(emulator_.inputs->search_cases().front())) {
      if (set->PlaceOf("x").address == buffers[0]) of_timed_sets.push_back(emulator_.device.schedules.back());
    }
  };
  EXPECT_FALSE(Run(emulator_));
  for (const std::uint64_t schedule : {0U, 1U, 2U, 3U})
    EXPECT_GE(std::count(of_timed_sets.begin(), of_timed_sets.end(), schedule), 2);
}

TEST_F(HeldOutCheckTest, EveryPartIsNamed) {
  EXPECT_FALSE(Run(gpu_));
  std::set<std::string> names;
  for (const auto& [stage, part] : channel_.parts) {
    if (stage == Stage::kHeldOut) names.insert(part);
  }
  EXPECT_EQ(std::count(channel_.stages.begin(), channel_.stages.end(), Stage::kLoad) + static_cast<long>(channel_.parts.size()),
            static_cast<long>(channel_.stages.size()));
  EXPECT_FALSE(names.contains(""));
  EXPECT_TRUE(names.contains("the search for hard inputs"));
  EXPECT_TRUE(names.contains("sizes that the task does not list"));
}

// Row 34: a fault that shows at the timed size only.
TEST_F(HeldOutCheckTest, Row34AFaultOfASampledBlockFailsTheCandidate) {
  emulator_.device.kernels["checked"] = emulator_.device.kernels["candidate"];
  emulator_.device.run_blocks = [](const Sequence&, const BlockSample&) {
    return SampledBlocks{{Outcome::kNondeterministic, "k: race in shared memory", true}, 0, 1};
  };
  const auto failure = Run(emulator_, TwiceProgram("checked"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kNondeterministic);
  EXPECT_EQ(failure->message, "case b: k: race in shared memory");
  EXPECT_EQ(check_.tools.back().result, "error");
}

// What timing says depends on the machine's load, and what a kernel does wrong does not.
TEST_F(HeldOutCheckTest, AFaultOfASampledBlockCountsMoreThanTime) {
  bool mine = false;
  emulator_.device.kernels["candidate"] = emulator_.device.kernels["checked"] = [&](const auto& buffers) {
    mine = true;
    Multiply<float>(buffers, 2);
  };
  emulator_.device.clock = [&](std::size_t) {
    const auto& [stage, part] = channel_.parts.back();
    const bool other = stage == Stage::kTime && part.ends_with("generator 1");
    const std::uint64_t ticks = !std::exchange(mine, false) ? 2000 : other ? 3000 : 1000;
    return SequenceTime{ticks, ticks, 0, false};
  };
  auto failure = Run(emulator_, TwiceProgram("checked"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kSlower) << failure->message;
  emulator_.device.run_blocks = [](const Sequence&, const BlockSample&) {
    return SampledBlocks{{Outcome::kCrash, "k: reads 8 bytes of no buffer", true}, 0, 1};
  };
  check_ = {};
  failure = Run(emulator_, TwiceProgram("checked"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kCrash) << failure->message;
}

TEST_F(HeldOutCheckTest, ATrapInASampledBlockIsACrash) {
  emulator_.device.kernels["checked"] = emulator_.device.kernels["candidate"];
  emulator_.device.run_blocks = [](const Sequence&, const BlockSample&) {
    return SampledBlocks{{Outcome::kCrash, "k: __trap()", true}, 0, 1};
  };
  const auto failure = Run(emulator_, TwiceProgram("checked"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kCrash);
  EXPECT_EQ(check_.tools.back().result, "crash");
}

TEST_F(HeldOutCheckTest, ABlockThatTakesTooLongIsSaidAndFailsNobody) {
  emulator_.device.kernels["checked"] = emulator_.device.kernels["candidate"];
  int samples = 0;
  emulator_.device.run_blocks = [&](const Sequence&, const BlockSample&) {
    ++samples;
    return SampledBlocks{{Outcome::kTimeout, "k: one block took too long", true}, 0, 1};
  };
  EXPECT_FALSE(Run(emulator_, TwiceProgram("checked")));
  EXPECT_EQ(check_.tools.back().result, "timeout");
  EXPECT_EQ(check_.tools.back().message, "case b: k: one block took too long");
  EXPECT_EQ(samples, 1) << "the device cannot be used after it";
}

// What did not run is not clean: the verdict would rest on it.
TEST_F(HeldOutCheckTest, WhereNoBlockRanNothingIsClean) {
  emulator_.device.kernels["checked"] = emulator_.device.kernels["candidate"];
  emulator_.device.run_blocks = [](const Sequence&, const BlockSample&) { return SampledBlocks{{}, 0, 1}; };
  EXPECT_FALSE(Run(emulator_, TwiceProgram("checked")));
  EXPECT_EQ(check_.tools.back().tool, "sampled blocks");
  EXPECT_EQ(check_.tools.back().result, "missing");
  EXPECT_EQ(check_.tools.back().message, "case b: 0 of 1 blocks; case a: 0 of 1 blocks");
}

TEST_F(HeldOutCheckTest, FindsAKernelThatIsWrongOnHeldOutCasesOnly) {
  // Four runs of the search case on its second generator are right.
  int launches = 0;
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) { Multiply<float>(buffers, ++launches > 4 ? 3 : 2); };
  const auto failure = Run(gpu_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_THAT(failure->message, HasSubstr("case c: "));
  EXPECT_TRUE(check_.held_out_cases.empty());
  EXPECT_TRUE(gpu_.device.timed.empty());
}

// A slow kernel is not one that hangs: the deadline starts anew for each input.
TEST_F(HeldOutCheckTest, EachInputHasADeadlineOfItsOwn) {
  int launches = 0, most = 0;
  channel_.begun = [&](Stage) { launches = 0; };
  int of_all = 0;
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) {
    most = std::max(most, ++launches);
    Multiply<float>(buffers, ++of_all > 8 ? 3 : 2);
  };
  EXPECT_TRUE(Run(gpu_)) << "wrong on the second distribution of the held-out case";
  EXPECT_EQ(most, 4) << "runs of one input";
}

TEST_F(HeldOutCheckTest, FindsARaceThatTwoRunsDoNotShow) {
  int launches = 0;
  channel_.begun = [&](Stage) { launches = 0; };
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) { Multiply<float>(buffers, ++launches == 3 ? 3 : 2); };
  const auto failure = Run(gpu_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kNondeterministic);
}

// Row 29: it keeps answers from launch to launch, wherever it found room for them.
TEST_F(HeldOutCheckTest, Row29AKernelThatKeepsAnswersIsSlowerOnDataThatItHasNotSeen) {
  for (SessionParts* parts : {&gpu_, &emulator_}) {
    std::map<std::vector<float>, std::vector<float>> answers;
    std::uint64_t ticks = 0;
    parts->device.kernels["candidate"] = [&](const auto& buffers) {
      const auto* x = reinterpret_cast<const float*>(buffers[0]);
      auto* y = reinterpret_cast<float*>(buffers[1]);
      const auto [known, is_new] = answers.try_emplace({x, x + kTwiceElements});
      ticks = is_new ? 3000 : 1000;
      if (is_new) Multiply<float>(buffers, 2);
      if (is_new) known->second.assign(y, y + kTwiceElements);
      std::copy(known->second.begin(), known->second.end(), y);
    };
    parts->device.kernels["baseline"] = [&](const auto& buffers) {
      ticks = 2000;
      Multiply<float>(buffers, 2);
    };
    parts->device.clock = [&](std::size_t) { return SequenceTime{ticks, ticks, 0, false}; };
    check_ = {};
    const auto failure = Run(*parts);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->outcome, Outcome::kCheating);
    EXPECT_THAT(failure->message, HasSubstr("32.00 us on data that repeats, 96.00 us on data that it has not seen"));
    EXPECT_NEAR(check_.fresh_ratio, 3, 0.01);
  }
}

// The honest twin: its time changes, too, but as the baseline's does.
TEST_F(HeldOutCheckTest, Row29AMachineThatSlowsDownCondemnsNobody) {
  int measured = 0;
  channel_.begun = [&](Stage stage) { measured += stage == Stage::kTime; };
  gpu_.device.clock = [&](std::size_t ordinal) {
    return SequenceTime{(measured >= 2 ? 1500U : 1000U) + ordinal % 7, 1000, 0, false};
  };
  const auto failure = Run(gpu_);
  EXPECT_FALSE(failure) << failure->message;
  EXPECT_NEAR(check_.fresh_ratio, 1, 0.01);
}

TEST_F(HeldOutCheckTest, ADisturbanceThatDoesNotComeAgainCondemnsNobody) {
  // The second stage of timing begins with fresh data; 50 rounds of two launches.
  std::size_t fresh_begins = 0;
  int measured = 0;
  channel_.begun = [&](Stage stage) {
    if (stage == Stage::kTime && ++measured == 2) fresh_begins = gpu_.device.timed.size();
  };
  bool of_candidate = false;
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) {
    of_candidate = true;
    Multiply<float>(buffers, 2);
  };
  gpu_.device.clock = [&](std::size_t ordinal) {
    const bool slow = std::exchange(of_candidate, false) && measured == 2 && ordinal < fresh_begins + 100;
    return SequenceTime{slow ? 2000U : 1000U, 1000, 0, false};
  };
  const auto failure = Run(gpu_);
  EXPECT_FALSE(failure) << failure->message;
  EXPECT_NEAR(check_.fresh_ratio, 1, 0.01);
}

// Row 39: the answers that it was made with are not those to data that it has not seen.
TEST_F(HeldOutCheckTest, Row39AnAnswerToDataThatItHasNotSeenIsJudgedByALaterReference) {
  std::map<float, std::vector<float>> answers;  // by the first value of the input: fresh contents may begin like known ones
  bool fresh = false;
  int measured = 0;
  int references = 0;
  gpu_.device.kernels["reference"] = [&](const auto& buffers) {
    ++references;
    Multiply<double>(buffers, 2);
  };
  channel_.begun = [&](Stage stage) {
    measured += stage == Stage::kTime;
    fresh = measured == 2;
    if (fresh) references = 0;
  };
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) {
    Multiply<float>(buffers, 2);
    // Wrong in one element, and only on what was drawn for no set.
    const auto* x = reinterpret_cast<const float*>(buffers[0]);
    const auto [known, is_new] = answers.try_emplace(x[0], std::vector<float>(x, x + kTwiceElements));
    if (fresh && (is_new || !std::equal(x, x + kTwiceElements, known->second.begin())))
      reinterpret_cast<float*>(buffers[1])[5] = 9;
  };
  const auto failure = Run(gpu_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_THAT(failure->message, HasSubstr("case a: on data that it has not seen: "));
  EXPECT_EQ(references, 1) << "it runs after the candidate, for what is checked";
}

TEST_F(HeldOutCheckTest, TheInputsHoldWhatWasDrawnAfterwards) {
  const SessionContext context = gpu_.Context();
  context.inputs.Place();
  const auto contents = [&] {
    std::vector<float> all;
    for (InputSet* set : context.inputs.TimedSets(context.inputs.search_cases().front())) {
      const auto* x = reinterpret_cast<const float*>(set->PlaceOf("x").address);
      all.insert(all.end(), x, x + kTwiceElements);
    }
    return all;
  };
  const std::vector<float> before = contents();
  const ChampionRequest request{TwiceProgram("candidate"), {}, TwiceProgram("baseline")};
  EXPECT_FALSE(HeldOutCheck(context, request, channel_, times_).Run(check_));
  EXPECT_EQ(contents(), before);
}

TEST_F(HeldOutCheckTest, NamesTheInputsOnWhichTheCandidateIsSlowest) {
  int measured = 0;  // stages of timing: interleaved, on fresh data, then one for each generator
  channel_.begun = [&](Stage stage) { measured += stage == Stage::kTime; };
  gpu_.device.clock = [&](std::size_t) { return SequenceTime{measured == 4 ? 1500U : 1000U, 1000, 0, false}; };
  EXPECT_FALSE(Run(gpu_));
  EXPECT_NEAR(check_.slowest.ratio, 1.5, 0.01);
  EXPECT_EQ(check_.slowest.inputs, "case a, generator 1");
}

TEST_F(HeldOutCheckTest, ADisturbedMachineSaysNothingOfOtherInputs) {
  int measured = 0;
  channel_.begun = [&](Stage stage) { measured += stage == Stage::kTime; };
  gpu_.device.clock = [&](std::size_t) { return SequenceTime{1000, 1000, 0, measured == 4}; };
  EXPECT_FALSE(Run(gpu_));
  EXPECT_EQ(check_.candidate.size(), 1U);
  EXPECT_TRUE(check_.slowest.inputs.empty());
}

}  // namespace
}  // namespace evo
