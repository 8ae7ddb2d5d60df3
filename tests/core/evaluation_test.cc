#include "core/evaluation.h"

#include <gtest/gtest.h>

#include <vector>

namespace evo {
namespace {

CaseMeasurement Measured(double median_ns, double weight) {
  CaseMeasurement c;
  c.median_ns = median_ns;
  c.weight = weight;
  return c;
}

TEST(Score, IsTheMedianOfASingleCaseWhateverItsWeight) {
  EXPECT_DOUBLE_EQ(Score({Measured(250, 1)}), 250);
  EXPECT_NEAR(Score({Measured(250, 7)}), 250, 1e-9);
}

TEST(Score, IsTheWeightedGeometricMean) {
  EXPECT_NEAR(Score({Measured(100, 1), Measured(400, 1)}), 200, 1e-9);
  EXPECT_NEAR(Score({Measured(16, 3), Measured(1, 1)}), 8, 1e-9);
  EXPECT_NEAR(Score({Measured(16, 3), Measured(1, 0)}), 16, 1e-9);
}

}  // namespace
}  // namespace evo
