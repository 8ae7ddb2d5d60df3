#include "evaluator/session/input_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "evaluator/gate/infrastructure_failure.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::set<Address> AddressesOf(const std::vector<InputSet*>& sets) {
  std::set<Address> addresses;
  for (const InputSet* set : sets) addresses.insert(set->PlaceOf("x").address);
  return addresses;
}

TEST(InputPool, TheDevicesPolicySaysWhichCasesAndHowManyGenerators) {
  SessionParts gpu("cuda");
  const InputPool& on_gpu = gpu.Context().inputs;
  EXPECT_EQ(on_gpu.search_cases().front().name, "a");
  EXPECT_EQ(on_gpu.held_out_cases().front().name, "c");
  EXPECT_EQ(on_gpu.Generators(), 2);
  EXPECT_EQ(on_gpu.SearchGenerators(), 2);
  SessionParts emulator("cpu");
  const InputPool& emulated = emulator.Context().inputs;
  EXPECT_EQ(emulated.search_cases().front().name, "b");
  EXPECT_EQ(emulated.held_out_cases().front().name, "d");
  EXPECT_EQ(emulated.Generators(), 2);
  EXPECT_EQ(emulated.SearchGenerators(), 1);
}

TEST(InputPool, SetsAreFewerWhereTheyAreLarge) {
  constexpr std::size_t kBytes = 2 * kTwiceElements * sizeof(float);  // of one set
  SessionParts parts("cuda");
  const InputPool& inputs = parts.Context().inputs;
  const Case& sizes = inputs.search_cases().front();
  EXPECT_EQ(inputs.SetCount(sizes), 4U) << "as many as there are seeds";
  parts.device.mutable_info().memory_bytes = 16 * 3 * kBytes;
  EXPECT_EQ(inputs.SetCount(sizes), 3U);
  parts.device.mutable_info().memory_bytes = 1;
  EXPECT_EQ(inputs.SetCount(sizes), 2U) << "the next launch must have other data";
  parts.device.mutable_info().memory_bytes = 1'000'000'000;
  parts.device.mutable_info().l2_bytes = 3 * kBytes / 4;
  EXPECT_EQ(inputs.SetCount(sizes), 3U) << "no more than fill L2 four times";
}

// One element holds all of y, ten times its rms; it is off by two units in the last place.
std::string TwiceOfOneHot(const std::string& check) {
  std::string task = kTwiceTask;
  const auto replace = [&](const std::string& from, const std::string& to) { task.replace(task.find(from), from.size(), to); };
  replace(R"json(["normal", "uniform(-1,1)"])json", R"(["one_hot"])");
  replace(R"({"l2": 1e-6, "max": 1e-5})", check);
  return task;
}
bool AcceptsTwoUnits(const std::string& check) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context(TwiceOfOneHot(check)).inputs;
  InputSet& set = inputs.CheckedSet(inputs.task().small, 0);
  const auto* x = reinterpret_cast<const float*>(set.PlaceOf("x").address);
  auto* y = reinterpret_cast<float*>(set.PlaceOf("y").address);
  for (int i = 0; i < kTwiceElements; ++i) y[i] = x[i] == 0 ? 0.0F : 2.0F + 0x1p-21F;
  return set.Inspect(nullptr).difference.acceptable;
}
TEST(InputPool, WhereNoPeakIsStatedTheAnswersLargestElementBoundsTheLargestError) {
  EXPECT_TRUE(AcceptsTwoUnits(R"({"sum": 1})"));
  EXPECT_FALSE(AcceptsTwoUnits(R"({"sum": 1, "peak": 6})"));
}

TEST(InputPool, TimesEachSetAtEightAddressesOnAGpu) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context().inputs;
  const auto sets = inputs.TimedSets(inputs.search_cases().front());
  ASSERT_EQ(sets.size(), 32U);
  EXPECT_EQ(AddressesOf(sets).size(), 32U);
  for (std::size_t i = 1; i < sets.size(); ++i) EXPECT_NE(sets[i]->number(), sets[i - 1]->number()) << i;
  const Address checked = inputs.CheckedSet(inputs.search_cases().front(), 0).PlaceOf("x").address;
  EXPECT_TRUE(AddressesOf(sets).contains(checked)) << "a case is checked at an address that is timed";
}

TEST(InputPool, TimesTheSetItselfOnAnEmulator) {
  SessionParts parts("cpu");
  InputPool& inputs = parts.Context().inputs;
  const Case& sizes = inputs.search_cases().front();
  const auto sets = inputs.TimedSets(sizes);
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0], &inputs.CheckedSet(sizes, 0));
}

TEST(InputPool, ManyLargeSetsAreNotCopied) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context().inputs;
  parts.device.mutable_info().l2_bytes = 64;
  EXPECT_EQ(inputs.TimedSets(inputs.search_cases().front()).size(), 4U);
}

TEST(InputPool, EverythingIsPlacedAheadOfTheCandidates) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context().inputs;
  inputs.Draw();
  EXPECT_TRUE(parts.device.prepared.empty()) << "drawing leaves the device alone";
  inputs.Place();
  int references = 0;
  parts.device.kernels["reference"] = [&](const auto&) { ++references; };
  for (int g = 0; g < inputs.Generators(); ++g) {
    inputs.CheckedSet(inputs.task().small, g);
    inputs.CheckedSet(inputs.search_cases().front(), g);
  }
  inputs.TimedSets(inputs.search_cases().front());
  inputs.Place();
  EXPECT_EQ(references, 0);
}

// Whether sets are drawn ahead, while others are placed, or when they are asked for; each takes the memory of one before it.
TEST(InputPool, WhenASetIsDrawnMakesNoDifference) {
  const auto contents = [](std::string_view device, bool draws_ahead) {
    SessionParts parts(device);
    InputPool& inputs = parts.Context().inputs;
    if (draws_ahead) inputs.Draw();
    inputs.Place();
    std::vector<float> all;
    const auto add = [&](const InputSet& set) {
      const auto* x = reinterpret_cast<const float*>(set.PlaceOf("x").address);
      all.insert(all.end(), x, x + kTwiceElements);
      for (const InputSet::View& view : set.Views()) {
        if (view.contents != 0) {
          EXPECT_EQ(std::memcmp(x, reinterpret_cast<const void*>(view.contents), view.place.bytes), 0);
        }
        if (view.reference != 0) {
          EXPECT_EQ(*reinterpret_cast<const double*>(view.reference), 2.0 * double{x[0]});
        }
      }
    };
    for (int g = 0; g < inputs.Generators(); ++g) add(inputs.CheckedSet(inputs.task().small, g));
    for (const InputSet* set : inputs.TimedSets(inputs.search_cases().front())) add(*set);
    return all;
  };
  for (const char* device : {"cuda", "cpu"}) EXPECT_EQ(contents(device, false), contents(device, true)) << device;
}

TEST(InputPool, TheLargestAnswersAreFoundWhereTheyAre) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context().inputs;
  InputSet& set = inputs.CheckedSet(inputs.task().small, 0);
  const std::vector<double> answers = set.References().front();
  const auto of_answers = [&] { return std::get<std::vector<double>>(set.LargestAnswers()); };
  double largest = 0;
  for (const double answer : answers) largest = std::max(largest, std::abs(answer));
  EXPECT_EQ(of_answers(), std::vector<double>{largest});
  for (const InputSet::View& view : set.Views()) {
    if (view.reference == 0) continue;
    auto* reference = reinterpret_cast<double*>(view.reference);
    reference[3] = -std::numeric_limits<double>::infinity();
    reference[5] = std::numeric_limits<double>::quiet_NaN();
    reference[7] = -2 * largest;
  }
  EXPECT_EQ(of_answers(), std::vector<double>{2 * largest}) << "of those that are finite";
}

TEST(InputPool, SeedsDecideTheContents) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context().inputs;
  const auto first = [&](InputSet& set) { return *reinterpret_cast<const float*>(set.PlaceOf("x").address); };
  const float drawn = first(*inputs.MakeSmall(0, 99));
  EXPECT_EQ(first(*inputs.MakeSmall(0, 99)), drawn);
  EXPECT_NE(first(*inputs.MakeSmall(0, 98)), drawn);
}

TEST(InputPool, RefusesATaskOnWhichAnAnswerWithoutAComputationPasses) {
  SessionParts parts("cuda");
  InputPool& inputs = parts.Context(LaxTwiceTask()).inputs;
  EXPECT_THAT([&] { inputs.Place(); },
              ThrowsMessage<InfrastructureFailure>(HasSubstr("a kernel that copies x to its output would pass")));
}

}  // namespace
}  // namespace evo
