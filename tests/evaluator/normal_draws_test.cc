#include "evaluator/gate/normal_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

std::vector<VectorTarget> Targets() {
  std::vector<VectorTarget> targets;
  for (const VectorTarget one : {VectorTarget::kUsual, VectorTarget::kAvx2, VectorTarget::kAvx512}) {
    if (one <= WidestVectorTarget()) targets.push_back(one);
  }
  return targets;
}

// An answer that a kernel was wrong on is drawn again from its seed: no processor may round a number another way.
TEST(NormalDraws, RoundedNumbersAreThoseOfTheCLibraryOnEveryProcessor) {
  constexpr std::size_t kMany = 400'001;
  std::vector<double> values(kMany);
  for (const Normal& normal :
       {Normal{0, 1}, {1, 1}, {0, 1000}, {-3, 0.01}, {2, 0}, {0.5, 70'000}, {0, 1e-7}, {0, 1e-42}, {0, 1e30}}) {
    Rng rng(9);
    DrawNormals(normal, values, rng);
    const std::uint64_t next = rng.Next();
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      ASSERT_TRUE(HasRoundedNormals(dtype));
      const std::vector<std::byte> wanted = FromDoubles(values, dtype);
      for (const VectorTarget target : Targets()) {
        std::vector<std::byte> bytes(wanted.size());
        Rng same(9);
        DrawRoundedNormals(normal, dtype, bytes, same, target);
        EXPECT_EQ(bytes, wanted) << normal.mean << ", " << normal.deviation << ", " << ToString(dtype) << ", target "
                                 << static_cast<int>(target);
        EXPECT_EQ(same.Next(), next);
      }
    }
  }
}

TEST(NormalDraws, ManyAreThoseThatComeInPairs) {
  constexpr std::size_t kOdd = 2001;
  std::vector<double> values(kOdd);
  Rng many(4);
  DrawNormals({0.25, 3}, values, many);
  Rng rng(4);
  for (std::size_t i = 0; i < kOdd; i += 2) {
    const double uniform = rng.Uniform();
    const NormalPair pair = ToNormal(uniform, rng.Uniform());
    EXPECT_EQ(values[i], 0.25 + 3 * pair.first);
    if (i + 1 < kOdd) {
      EXPECT_EQ(values[i + 1], 0.25 + 3 * pair.second);
    }
  }
}

TEST(NormalDraws, TheEndsOfTheUniformNumbersHaveANumber) {
  EXPECT_EQ(ToNormal(0, 0.3).first, 0);
  EXPECT_TRUE(std::isfinite(ToNormal(1 - 0x1p-53, 1 - 0x1p-53).first));
}

}  // namespace
}  // namespace evo
