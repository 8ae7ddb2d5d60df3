#include "core/promise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

Genome WithEdits(const std::vector<std::string>& ops) {
  Genome genome;
  for (const std::string& op : ops) genome.edits.emplace_back().op = op;
  return genome;
}

TEST(Promise, AnUnknownOperatorPromisesNothing) {
  const Promises promises{{"swap", Promise::kExact}, {"step", Promise::kInherited}};
  EXPECT_EQ(PromiseOf(promises, "swap"), Promise::kExact);
  EXPECT_EQ(PromiseOf(promises, "step"), Promise::kInherited);
  EXPECT_EQ(PromiseOf(promises, "from_a_later_version"), Promise::kUnproven);
}

TEST(UnprovenEdits, KeepTheOrderOfTheGenome) {
  const Promises promises{{"swap", Promise::kExact},
                          {"split", Promise::kReassociating},
                          {"delete", Promise::kUnproven},
                          {"copy", Promise::kUnproven}};
  const Genome genome = WithEdits({"copy", "swap", "delete", "split", "copy"});
  std::vector<std::string> names;
  for (const Edit* edit : UnprovenEdits(genome, promises)) names.push_back(edit->op);
  EXPECT_THAT(names, ::testing::ElementsAre("copy", "delete", "copy"));
  EXPECT_TRUE(UnprovenEdits(WithEdits({"swap", "split"}), promises).empty());
}

TEST(Promise, HasAName) {
  EXPECT_EQ(ToString(Promise::kExact), "exact");
  EXPECT_EQ(ToString(Promise::kReassociating), "reassociating");
  EXPECT_EQ(ToString(Promise::kInherited), "inherited");
  EXPECT_EQ(ToString(Promise::kUnproven), "unproven");
}

}  // namespace
}  // namespace evo
