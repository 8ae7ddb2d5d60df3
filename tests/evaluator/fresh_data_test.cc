#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "evaluator/gate/input_generator.h"
#include "evaluator/timer/fresh_comparison.h"
#include "evaluator/timer/fresh_contents.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/twice_task.h"

namespace evo {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kManyKinds = R"json({
  "name": "kinds", "summary": "y = 2 x", "sizes": ["N"],
  "arguments": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["N"], "generators": ["normal"]},
    {"name": "order", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["permutation"]},
    {"name": "starts", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["offsets<N"]},
    {"name": "rows", "role": "in", "dtype": "f32", "shape": ["10", "N"], "generators": ["one_hot"]},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "check": {"l2": 1e-6, "max": 1e-5}},
    {"name": "z", "role": "inout", "dtype": "f32", "shape": ["N"], "generators": ["uniform(-1,1)"],
     "check": {"l2": 1e-6, "max": 1e-5}}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 100}},
    "search": [{"name": "a", "sizes": {"N": 100}}], "search_cpu": [{"name": "b", "sizes": {"N": 100}}],
    "held_out": [{"name": "c", "sizes": {"N": 100}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 100}}]
  },
  "baseline": "k", "bytes": "8 * N", "operations": "N"
})json";
constexpr const char* kManyKindsSource = "// evo:launch k(x, order, starts, rows, y, z) grid(1) block(1)\n";

// Three sets of one case and a copy of the first.
class FreshContentsTest : public ::testing::Test {
 protected:
  FreshContentsTest() {
    device_.kernels["reference"] = [](const auto&) {};
    Program reference = std::move(std::get<Program>(LoadProgram(device_, kManyKindsSource, {"reference", "", {{"k", "k"}}})));
    KernelReference answers(reference);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      sets_.push_back(std::move(
          std::get<0>(InputSet::Make(device_, task_, task_.small, DrawArguments(task_, task_.small, 0, seed), seed, answers))));
      sources_.push_back(sets_.back().get());
    }
    copy_ = std::move(std::get<0>(sets_.front()->Copy(9)));
  }

  void Make(const std::vector<DeviceCopy>& copies) {
    for (const DeviceCopy& copy : copies) device_.memory().Copy(copy);
  }

  template <typename T>
  std::vector<T> Values(const InputSet& set, const std::string& name) {
    const BufferPlace place = set.PlaceOf(name);
    const auto* values = reinterpret_cast<const T*>(place.address);
    return {values, values + place.bytes / sizeof(T)};
  }

  FakeDevice device_{"cuda"};
  Task task_ = ParseTask(kManyKinds, kManyKindsSource, "kinds");
  std::vector<std::unique_ptr<InputSet>> sets_;
  std::vector<const InputSet*> sources_;
  std::unique_ptr<InputSet> copy_;
  Rng rng_{5};
};

TEST_F(FreshContentsTest, AreNeverTheSameAndStayLegal) {
  std::set<std::vector<float>> seen = {Values<float>(*sets_[0], "x"), Values<float>(*sets_[1], "x"),
                                       Values<float>(*sets_[2], "x")};
  std::set<float> drawn;
  for (const std::vector<float>& values : seen) drawn.insert(values.begin(), values.end());
  std::vector<int> sorted(100);
  for (int i = 0; i < 100; ++i) sorted[static_cast<std::size_t>(i)] = i;
  for (int time = 0; time < 50; ++time) {
    Make(FreshContents(*copy_, sources_, rng_));
    const auto x = Values<float>(*copy_, "x");
    EXPECT_TRUE(seen.insert(x).second) << time;
    EXPECT_TRUE(std::all_of(x.begin(), x.end(), [&](float value) { return drawn.contains(value); }));
    EXPECT_THAT(Values<int>(*copy_, "order"), UnorderedElementsAreArray(sorted));
    const auto starts = Values<int>(*copy_, "starts");
    EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
    EXPECT_EQ(starts.front(), 0);
    EXPECT_EQ(starts.back(), 100);
    const auto rows = Values<float>(*copy_, "rows");
    for (int row = 0; row < 10; ++row) EXPECT_EQ(std::count(rows.begin() + row * 100, rows.begin() + row * 100 + 100, 1.0F), 1);
  }
}

TEST_F(FreshContentsTest, ComeFromTwoSetsAndMoveEveryValue) {
  const auto before = Values<float>(*copy_, "x");
  for (int time = 0; time < 20; ++time) {
    Make(FreshContents(*copy_, sources_, rng_));
    const auto after = Values<float>(*copy_, "x");
    auto sorted = after;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << "no value twice";
    for (const auto& set : sets_) {
      auto values = Values<float>(*set, "x");
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NE(values[i], after[i]) << "it stays where it was";
      std::sort(values.begin(), values.end());
      EXPECT_NE(values, sorted) << "a sum over all of them would be the same";
    }
  }
}

TEST_F(FreshContentsTest, SameContentsIsAsManyCopiesOfAsManyBytes) {
  const auto before = Values<float>(*copy_, "x");
  const std::vector<DeviceCopy> same = SameContents(*copy_, rng_);
  const std::vector<DeviceCopy> fresh = FreshContents(*copy_, sources_, rng_);
  Make(same);
  EXPECT_EQ(Values<float>(*copy_, "x"), before);
  ASSERT_EQ(same.size(), fresh.size());
  const auto bytes = [](const std::vector<DeviceCopy>& copies) {
    std::size_t sum = 0;
    for (const DeviceCopy& copy : copies) sum += copy.bytes;
    return sum;
  };
  EXPECT_EQ(bytes(same), bytes(fresh));
  for (std::size_t i = 0; i < same.size(); ++i) EXPECT_GT(fresh[i].bytes, 0U);
}

TEST_F(FreshContentsTest, AreKnownOnTheHostWithoutLookingAtTheInputs) {
  const std::vector<DeviceCopy> fresh = FreshContents(*copy_, sources_, rng_);
  Make(fresh);
  const auto x = Values<float>(*copy_, "x");
  const auto z = Values<float>(*copy_, "z");
  device_.memory().Fill({copy_->PlaceOf("x").address, copy_->PlaceOf("x").bytes, 7});  // a kernel that changes its input
  const DrawnArguments contents = ContentsAfter(device_.memory(), task_, *copy_, fresh);
  EXPECT_EQ(contents[0], (std::vector<std::byte>(std::as_bytes(std::span(x)).begin(), std::as_bytes(std::span(x)).end())));
  EXPECT_EQ(contents[5], (std::vector<std::byte>(std::as_bytes(std::span(z)).begin(), std::as_bytes(std::span(z)).end())));
  EXPECT_TRUE(contents[4].empty()) << "an output";
}

TEST_F(FreshContentsTest, TheDrawnContentsComeBack) {
  const auto before = Values<float>(*copy_, "x");
  const auto order = Values<int>(*copy_, "order");
  Make(FreshContents(*copy_, sources_, rng_));
  ASSERT_TRUE(RestoreContents(device_.memory(), *copy_).ok());
  EXPECT_EQ(Values<float>(*copy_, "x"), before);
  EXPECT_EQ(Values<int>(*copy_, "order"), order);
}

// 40 samples of about `ns`, a percent to either side.
CaseMeasurement Around(double ns, double spread = 0.01) {
  CaseMeasurement measured;
  measured.median_ns = ns;
  for (int i = -20; i < 20; ++i) measured.samples.push_back(static_cast<std::uint32_t>(ns * (1 + spread * i / 20)));
  return measured;
}

TEST(FreshComparisonTest, ACandidateIsComparedWithTheBaselineUnderTheSameChange) {
  const FreshComparison slower({Around(10'000), Around(20'000)}, {Around(15'000), Around(30'000)});
  EXPECT_NEAR(slower.ratio, 1, 1e-9) << "the machine was slower, and both with it";
  EXPECT_FALSE(slower.knows_its_data());
  const FreshComparison knows({Around(10'000), Around(20'000)}, {Around(15'000), Around(20'000)});
  EXPECT_NEAR(knows.ratio, 1.5, 1e-9);
  EXPECT_TRUE(knows.knows_its_data());
}

TEST(FreshComparisonTest, NoiseIsNoEvidence) {
  EXPECT_FALSE(FreshComparison({Around(10'000), Around(20'000)}, {Around(10'900), Around(20'000)}).knows_its_data());
  EXPECT_TRUE(FreshComparison({Around(10'000), Around(20'000)}, {Around(12'500), Around(20'000)}).knows_its_data());
  const FreshComparison noisy({Around(10'000, 0.6), Around(20'000, 0.6)}, {Around(12'500, 0.6), Around(20'000, 0.6)});
  EXPECT_FALSE(noisy.knows_its_data());
  const FreshComparison cached({Around(10'000, 0.6), Around(20'000, 0.6)}, {Around(80'000, 0.6), Around(20'000, 0.6)});
  EXPECT_TRUE(cached.knows_its_data()) << "eight times as long is more than any noise";
}

TEST(FreshComparisonTest, SaysBothTimes) {
  const std::string text = Describe({Around(812'000), Around(900'000)}, {Around(27'000'000), Around(901'000)});
  EXPECT_THAT(text, HasSubstr("812.00 us on data that repeats, 27000.00 us on data that it has not seen"));
}

}  // namespace
}  // namespace evo
