#pragma once

#include <cstdint>
#include <deque>

#include "core/rng.h"
#include "evaluator/device/pattern.h"

namespace evo {

// What memory holds that a kernel has not written yet. The first three are not finite, or extreme integers.
enum class PoisonKind { kNan, kInfinity, kNegativeInfinity, kLarge, kZero, kRandom, kOtherAnswer };

// Of elements of `dtype`; kOtherAnswer has no pattern and gives the random one.
DevicePattern PatternOf(PoisonKind kind, Dtype dtype, std::uint64_t seed);

// The poison of one run.
struct Poison {
  PoisonKind outputs = PoisonKind::kNan;
  PoisonKind workspaces = PoisonKind::kNan;
  PoisonKind scrubbed = PoisonKind::kNan;  // shared and local memory
  std::uint64_t seed = 0;                  // of random bits
};

// The poisons of the runs over one input set. Each differs from those of the three runs before, so that a program that relies on
// one fails in a later run, even where two programs take turns.
class PoisonSequence {
 public:
  explicit PoisonSequence(std::uint64_t seed) : rng_(seed) {}

  // For the first run of a check: outputs are not finite, so that no element that was left out can pass for an answer.
  Poison First();
  // Outputs are finite if those of the last run were not.
  Poison Next();

 private:
  // The kinds that were drawn last for one use.
  using Recent = std::deque<PoisonKind>;
  PoisonKind Draw(Recent& recent, PoisonKind first, PoisonKind last);
  Poison WithOutputs(PoisonKind outputs);

  Rng rng_;
  Recent outputs_;
  Recent workspaces_;
  Recent scrubbed_;
};

}  // namespace evo
