#include "evaluator/scheduling/retries.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(Retries, EachCauseHasOne) {
  Retries retries;
  EXPECT_TRUE(retries.AfterInfrastructureFailure());
  EXPECT_TRUE(retries.AfterCheating()) << "the machine's failure is not the candidate's";
  EXPECT_FALSE(retries.AfterInfrastructureFailure());
  EXPECT_FALSE(retries.AfterCheating());
}

TEST(Retries, AWorkerMayBeKilledFromOutsideSeveralTimes) {
  Retries retries;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(retries.AfterInfrastructureFailure(true));
  EXPECT_FALSE(retries.AfterInfrastructureFailure(true)) << "not for ever";
  EXPECT_TRUE(retries.AfterInfrastructureFailure()) << "the machine has not failed yet";
}

}  // namespace
}  // namespace evo
