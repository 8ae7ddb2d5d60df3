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

}  // namespace
}  // namespace evo
