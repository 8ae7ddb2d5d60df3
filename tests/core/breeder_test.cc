#include "core/breeder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace evo {
namespace {

using nlohmann::json;

Genome Example() {
  Genome genome{"tiled", "00112233445566778899aabbccddeeff", {{"N", 64}}, {}};
  genome.edits.push_back(
      {"unroll_pragma", {{"k", "ForStmt", "t", 1, "p", "b", "a", {0, 2}}}, {{0, Placement::kAfter, "x"}}, {}, {}});
  return genome;
}

TEST(Breeder, RequestsSurviveEncodingAndDecoding) {
  const BreedRequest request{{Example(), Example()}, {"one", ""}, {{"b", 0.1}, {"a", 2}}, ~0ULL, 7, 1ULL << 63};
  const auto back = json::parse(json(request).dump()).get<BreedRequest>();
  EXPECT_EQ(back.parents, request.parents);
  EXPECT_EQ(back.sources, request.sources);
  EXPECT_EQ(back.operators, request.operators) << "draws depend on the order";
  EXPECT_EQ(back.seed, request.seed);
  EXPECT_EQ(back.generation, request.generation);
  EXPECT_EQ(back.index, request.index);
}

TEST(Breeder, EditsThatARequestAsksForSurvive) {
  BreedRequest request{{Example()}, {}, {}, 1, 2, 3};
  EXPECT_FALSE(json(request).contains("alike"));
  request.alike = Example().edits;
  EXPECT_EQ(json::parse(json(request).dump()).get<BreedRequest>().alike, request.alike);
}

TEST(Breeder, ChildrenSurviveEncodingAndDecoding) {
  const BredChild child{Example(), "crossover", true, true, {"a", "b"}, {"dropped"}, "source\n", ""};
  const auto back = json::parse(json(child).dump()).get<BredChild>();
  EXPECT_EQ(back.genome, child.genome);
  EXPECT_EQ(back.op, child.op);
  EXPECT_EQ(back.used_second_parent, child.used_second_parent);
  EXPECT_EQ(back.parentless, child.parentless);
  EXPECT_EQ(back.inapplicable, child.inapplicable);
  EXPECT_EQ(back.dropped, child.dropped);
  EXPECT_EQ(back.source, child.source);
  EXPECT_EQ(back.failure, child.failure);
}

TEST(Breeder, AMissingChildDecodesAsMissing) {
  BredChild child;
  child.failure = "nothing applied";
  const auto back = json::parse(json(child).dump()).get<BredChild>();
  EXPECT_FALSE(back.genome);
  EXPECT_EQ(back.failure, "nothing applied");
}

TEST(Breeder, AMissingFieldIsAnError) {
  json request(BreedRequest{{Example()}, {}, {}, 1, 2, 3});
  request.erase("seed");
  EXPECT_THROW(request.get<BreedRequest>(), json::exception);
  EXPECT_THROW(json::object().get<BredChild>(), json::exception);
}

}  // namespace
}  // namespace evo
