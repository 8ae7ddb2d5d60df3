#include "import/host_leaves.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

HostLeaf LeafOf(const std::string& name, int function, std::optional<std::int64_t> value) {
  return {name, HostLeaf::Origin::kVariable, function, value ? std::optional(Number::Integer(*value)) : std::nullopt, "line 1"};
}

TEST(HostLeaves, OneThingHasOneLabel) {
  HostLeaves leaves;
  EXPECT_EQ(leaves.Add(LeafOf("n", 0, 5)).Text(), "n");
  EXPECT_EQ(leaves.Add(LeafOf("n", 0, 5)).Text(), "n");
  EXPECT_EQ(leaves.Add(LeafOf("n", 1, 5)).Text(), "n") << "of the callee, with the same value";
  EXPECT_EQ(leaves.all().size(), 1u);
}

TEST(HostLeaves, TwoThingsOfOneNameHaveTwoLabels) {
  HostLeaves leaves;
  leaves.Add(LeafOf("n", 0, 5));
  EXPECT_EQ(leaves.Add(LeafOf("n", 1, 6)).Text(), "n_2");
  EXPECT_EQ(leaves.Add(LeafOf("n", 2, {})).Text(), "n_3");
  EXPECT_EQ(leaves.Add(LeafOf("n", 1, 6)).Text(), "n_2");
  const Variables values = leaves.Values();
  EXPECT_EQ(values.size(), 2u) << "only what is known";
  EXPECT_EQ(values.at("n_2").integer, 6);
}

TEST(HostLeaves, WhatMustBeEqualHasTheFirstLabel) {
  HostLeaves leaves;
  leaves.Add(LeafOf("a", 0, {}));
  leaves.Add(LeafOf("b", 0, {}));
  leaves.SetEqual("a", "b");
  EXPECT_EQ(leaves.Add(LeafOf("b", 0, {})).Text(), "a");
}

TEST(HostLeaves, FindsComponentsOnly) {
  HostLeaves leaves;
  leaves.Add({"grid_x", HostLeaf::Origin::kComponent, 0, Number::Integer(4), ""});
  leaves.Add(LeafOf("grid_y", 0, 4));
  ASSERT_TRUE(leaves.Component("grid_x", 0));
  EXPECT_EQ(leaves.Component("grid_x", 0)->Text(), "grid_x");
  EXPECT_FALSE(leaves.Component("grid_x", 1));
  EXPECT_FALSE(leaves.Component("grid_y", 0));
}

}  // namespace
}  // namespace evo
