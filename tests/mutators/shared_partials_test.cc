#include "mutators/analysis/numbers/shared_partials.h"

#include <gtest/gtest.h>

#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

constexpr std::size_t kLanes = 4;
const LaneMask kAll(kLanes, 1);

SharedPlace Places(const std::vector<std::int64_t>& index) { return {{7, ""}, "sums", index}; }

Partials OneOfEach() {
  Partials values;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    values.push_back({.elements = FingerprintOf(static_cast<std::int64_t>(lane)), .count = 1, .defined = true, .kinds = 1});
  return values;
}

TEST(SharedPartials, KeepWhatThreadsWrote) {
  Refusal refusal;
  SharedPartials shared(kLanes, refusal);
  shared.Write(Places({0, 1, 2, 3}), OneOfEach(), kAll);
  shared.PassBarrier();
  const Partials read = shared.Read(Places({3, 2, 1, 0}), kAll);
  EXPECT_EQ(refusal.why(), "");
  EXPECT_EQ(read[0].elements, FingerprintOf(3));
  EXPECT_EQ(read[3].elements, FingerprintOf(0));
}

TEST(SharedPartials, AtomicsAddOneAfterAnother) {
  Refusal refusal;
  SharedPartials shared(kLanes, refusal);
  shared.Write(Places({0, 0, 0, 0}), Partials(kLanes, {.defined = true, .initials = 2}), {1, 0, 0, 0});
  shared.PassBarrier();
  shared.Add(Places({0, 0, 0, 0}), OneOfEach(), 4, kAll);
  shared.PassBarrier();
  const Partials read = shared.Read(Places({0, 0, 0, 0}), kAll);
  EXPECT_EQ(refusal.why(), "");
  EXPECT_EQ(read[2].count, 4);
  EXPECT_EQ(read[2].initials, 2u);
  EXPECT_EQ(read[2].combines, 4u);
  EXPECT_EQ(read[2].elements, FingerprintOf(0) + FingerprintOf(1) + FingerprintOf(2) + FingerprintOf(3));
}

TEST(SharedPartials, RefuseWhatIsNotOrderedOrNotThere) {
  const auto refused = [](auto use) {
    Refusal refusal;
    SharedPartials shared(kLanes, refusal);
    use(shared);
    return refusal.why();
  };
  EXPECT_EQ(refused([](SharedPartials& shared) {
              shared.Write(Places({0, 0, 1, 2}), OneOfEach(), kAll);
            }),
            "threads race for `sums`");
  EXPECT_EQ(refused([](SharedPartials& shared) {
              shared.Write(Places({0, 1, 2, 3}), OneOfEach(), kAll);
              shared.Read(Places({1, 1, 2, 3}), kAll);
            }),
            "`sums` is read while another thread writes it");
  EXPECT_EQ(refused([](SharedPartials& shared) {
              shared.Add(Places({0, 0, 0, 0}), OneOfEach(), 4, kAll);
            }),
            "a value is combined that was never stored");
  EXPECT_EQ(refused([](SharedPartials& shared) {
              shared.Read(Places({0, 0, 0, -1}), kAll);
            }),
            "an index of `sums` is out of bounds");
}

}  // namespace
}  // namespace evo
