#include "engine/champion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace evo {
namespace {

constexpr double kTick = 32;

// A kernel of `mean` nanoseconds timed `samples` times with a relative spread.
Evaluation Timed(double mean, double spread, int samples, std::mt19937& random) {
  std::normal_distribution<double> noise(mean, spread * mean);
  CaseMeasurement measured;
  measured.tick_ns = kTick;
  for (int i = 0; i < samples; ++i) measured.samples.push_back(static_cast<std::uint32_t>(std::lround(noise(random) / kTick)));
  std::vector<std::uint32_t> sorted = measured.samples;
  std::sort(sorted.begin(), sorted.end());
  measured.median_ns = sorted[sorted.size() / 2] * kTick;
  measured.p10_ns = sorted[sorted.size() / 10] * kTick;
  measured.p90_ns = sorted[sorted.size() * 9 / 10] * kTick;
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.score_ns = measured.median_ns;
  evaluation.cases = {measured};
  return evaluation;
}

TEST(Champion, IsNotReplacedByAnyOfAThousandEqualCandidates) {
  std::mt19937 random(1);
  for (const double mean : {1'000.0, 5'000.0, 100'000.0}) {
    for (const double spread : {0.001, 0.01, 0.05}) {
      const Evaluation champion = Timed(mean, spread, 20, random);
      int changes = 0;
      for (int i = 0; i < 1000; ++i) changes += Beats(Timed(mean, spread, 20, random), champion) ? 1 : 0;
      EXPECT_LE(changes, 1) << mean << " ns, spread " << spread;
    }
  }
}

TEST(Champion, IsReplacedByACandidateBeyondTheNoise) {
  std::mt19937 random(2);
  const Evaluation champion = Timed(100'000, 0.002, 20, random);
  EXPECT_TRUE(Beats(Timed(97'000, 0.002, 20, random), champion));
  EXPECT_TRUE(Beats(Timed(50'000, 0.2, 20, random), champion)) << "a noisy one that is twice as fast";
  EXPECT_FALSE(Beats(Timed(99'800, 0.002, 20, random), champion)) << "0.2% is what two processes differ by";
  EXPECT_FALSE(Beats(Timed(103'000, 0.002, 20, random), champion));
}

TEST(Champion, IsNotReplacedForOneTickOfTheTimer) {
  std::mt19937 random(3);
  const Evaluation champion = Timed(1'024, 0, 20, random);
  EXPECT_FALSE(Beats(Timed(1'024 - 8, 0, 20, random), champion));
  EXPECT_TRUE(Beats(Timed(1'024 - 128, 0, 20, random), champion));
}

TEST(Champion, IsNeverAPrunedCandidate) {
  std::mt19937 random(4);
  Evaluation challenger = Timed(10'000, 0.001, 5, random);
  challenger.cases[0].pruned = true;
  EXPECT_FALSE(Beats(challenger, Timed(100'000, 0.001, 20, random)));
}

TEST(Champion, ComparesTheTimesOfAllCases) {
  std::mt19937 random(5);
  Evaluation champion = Timed(100'000, 0.001, 20, random);
  champion.cases.push_back(Timed(10'000, 0.001, 20, random).cases[0]);
  Evaluation challenger = Timed(90'000, 0.001, 20, random);
  challenger.cases.push_back(Timed(13'000, 0.001, 20, random).cases[0]);
  EXPECT_FALSE(Beats(challenger, champion)) << "10% won, 30% lost";
  challenger.cases[1].weight = champion.cases[1].weight = 0.1;
  EXPECT_TRUE(Beats(challenger, champion)) << "where the loss hardly counts";
}

}  // namespace
}  // namespace evo
