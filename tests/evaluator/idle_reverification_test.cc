// What a candidate goes through while no job waits for its GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "core/digest.h"
#include "evaluator/session/run_session.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

// Launches during the re-verification until a job waits.
constexpr int kReverified = 20;

class IdleReverificationTest : public ::testing::Test {
 protected:
  IdleReverificationTest()
      : device_(new FakeDevice("cuda")),
        session_(
            std::unique_ptr<Device>(device_), [this] { return jobs_wait_; }, std::chrono::minutes(5)) {
    device_->kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
    // The candidate remembers the inputs that it meets.
    device_->kernels["candidate"] = [this](const auto& buffers) {
      std::vector<char> bytes(kTwiceElements * sizeof(float));
      std::memcpy(bytes.data(), reinterpret_cast<const void*>(buffers[0]), bytes.size());
      met_.insert(Digest({bytes.data(), bytes.size()}));
      Multiply<float>(buffers, ++launches_ > right_ ? 1 : 2);
      if (reverifying_ && ++reverified_ >= kReverified) jobs_wait_ = true;
    };
    channel_.begun = [this](Stage stage) { reverifying_ = stage == Stage::kReverify; };
    session_.Setup(TwiceSetup());
  }

  Evaluation Evaluate(bool unhurried, const std::string& comment = "") {
    jobs_wait_ = !unhurried;
    const EvaluateRequest request{TwiceProgram("candidate", comment), {}, {}, {}, {}};
    launches_ = reverified_ = 0;
    reverifying_ = false;
    met_.clear();
    return session_.Evaluate(request, channel_);
  }

  FakeDevice* device_;
  bool jobs_wait_ = false;
  RunSession session_;
  RecordingChannel channel_;
  std::set<std::string> met_;  // digests of inputs
  int launches_ = 0;
  bool reverifying_ = false;
  int reverified_ = 0;
  int right_ = 1'000'000'000;  // launches before the kernel goes wrong
};

TEST_F(IdleReverificationTest, IsForACandidateBehindWhichNoJobWaits) {
  const Evaluation hurried = Evaluate(false);
  ASSERT_EQ(hurried.outcome, Outcome::kOk) << hurried.message;
  EXPECT_EQ(hurried.reverification_runs, 0);
  const Evaluation unhurried = Evaluate(true);
  ASSERT_EQ(unhurried.outcome, Outcome::kOk) << unhurried.message;
  EXPECT_EQ(unhurried.reverification_runs, kReverified) << "until a job waits";
  EXPECT_EQ(unhurried.stage, Stage::kTime);
  EXPECT_EQ(channel_.stages.back(), Stage::kReverify);
}

TEST_F(IdleReverificationTest, TimesInManyPlacementsWhileNoJobWaits) {
  Evaluate(true);
  std::set<std::uint64_t> places;
  for (const FakeDevice::Timed& timed : device_->timed) places.insert(timed.buffers[0]);
  EXPECT_EQ(places.size(), 32U) << "four sets, eight places of each";
}

TEST_F(IdleReverificationTest, Row04AKernelThatRecognisesTimedAddressesMeetsAllInputsThere) {
  // Wrong for inputs that are not timed, where the arguments lie at addresses that are timed.
  device_->kernels["candidate"] = [](const auto& buffers) {
    const auto* x = reinterpret_cast<const float*>(buffers[0]);
    const bool uniform = std::all_of(x, x + kTwiceElements, [](float value) { return std::abs(value) <= 1; });
    constexpr std::uint64_t kUnit = 512;  // sets that are copies begin at a multiple of it
    Multiply<float>(buffers, uniform && buffers[0] % kUnit == 0 ? 3 : 2);
  };
  EXPECT_EQ(Evaluate(false).outcome, Outcome::kWrongResult);
}

TEST_F(IdleReverificationTest, DrawsInputsThatNoCandidateHasMet) {
  Evaluate(false);
  std::set<std::string> known = met_;
  for (const std::string comment : {"// one\n", "// two\n"}) {
    ASSERT_EQ(Evaluate(true, comment).outcome, Outcome::kOk);
    std::set<std::string> fresh;
    std::set_difference(met_.begin(), met_.end(), known.begin(), known.end(), std::inserter(fresh, fresh.end()));
    EXPECT_EQ(fresh.size(), 1U) << comment;
    known.insert(fresh.begin(), fresh.end());
  }
}

TEST_F(IdleReverificationTest, FindsAKernelThatGoesWrongLate) {
  channel_.begun = [&](Stage stage) {
    reverifying_ = stage == Stage::kReverify;
    if (reverifying_) right_ = launches_ + kReverified / 2;
  };
  const Evaluation found = Evaluate(true);
  EXPECT_EQ(found.outcome, Outcome::kNondeterministic) << found.message;
  EXPECT_EQ(found.stage, Stage::kReverify);
  EXPECT_FALSE(found.counterexample.case_name.empty());
  EXPECT_TRUE(found.cases.empty()) << "no candidate is compared with the times of a wrong kernel";
}

TEST_F(IdleReverificationTest, SaysOnWhichFreshInputsAKernelIsWrong) {
  channel_.begun = [&](Stage stage) {
    reverifying_ = stage == Stage::kReverify;
    if (reverifying_) right_ = launches_;
  };
  const Evaluation found = Evaluate(true);
  EXPECT_EQ(found.stage, Stage::kReverify);
  EXPECT_EQ(found.counterexample.case_name, "small");
  for (const std::uint64_t seed : {11, 12, 13, 14})
    EXPECT_NE(found.counterexample.seed, seed) << "a seed of the run, not of this candidate";
}

TEST_F(IdleReverificationTest, EveryOtherRunOfACheckFindsColdCaches) {
  Evaluate(true);
  const auto cold = [](const Preparation& p) { return p.flush_bytes > 0 && p.displace_code; };
  const auto warm = [](const Preparation& p) { return p.flush_bytes == 0 && !p.displace_code; };
  const auto colds = std::count_if(device_->prepared.begin(), device_->prepared.end(), cold);
  const auto warms = std::count_if(device_->prepared.begin(), device_->prepared.end(), warm);
  EXPECT_EQ(static_cast<std::size_t>(colds + warms), device_->prepared.size());
  EXPECT_GT(colds, 5);
  EXPECT_GE(warms, colds);
}

}  // namespace
}  // namespace evo
