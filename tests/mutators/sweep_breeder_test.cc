#include "mutators/breeding/sweep_breeder.h"

#include <gmock/gmock.h>

#include <set>

#include "core/error.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

// 3 * 4 settings, of which 9 are legal.
const KernelTemplate& Small() {
  static const KernelTemplate one = ParseTemplate("small", R"(// evo:param BLOCK 32 64 128
// evo:param ITEMS 1 2 4 8
// evo:constraint BLOCK * ITEMS <= 256
// evo:launch kernel(X) grid(1) block(BLOCK)
#ifndef BLOCK
#define BLOCK 64
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
__global__ void kernel(float* x) { x[threadIdx.x] = ITEMS; }
)");
  return one;
}
const KernelTemplate& Smaller() {
  static const KernelTemplate one = ParseTemplate("smaller", R"(// evo:param ROWS 1 2
// evo:launch kernel(X) grid(1) block(ROWS)
#ifndef ROWS
#define ROWS 1
#endif
__global__ void kernel(float* x) { x[threadIdx.x] = ROWS; }
)");
  return one;
}

Genome Defaults(const KernelTemplate& one) { return {one.name, one.digest, one.space.Defaults(), {}}; }

std::vector<BredChild> Breed(SweepBreeder& breeder, std::uint64_t generation, int children, std::uint64_t seed = 1) {
  std::vector<BreedRequest> requests;
  for (int i = 0; i < children; ++i)
    requests.push_back({{Defaults(Small())}, {}, {{kSweep, 1.0}}, seed, generation, static_cast<std::uint64_t>(i)});
  return breeder.Breed(std::move(requests), {});
}

std::vector<std::string> Sources(const std::vector<BredChild>& children) {
  std::vector<std::string> sources;
  for (const BredChild& child : children) sources.push_back(child.source);
  return sources;
}

TEST(SweepBreeder, MakesEveryLegalSettingOfEveryTemplateOnce) {
  SweepBreeder breeder({Small(), Smaller()}, {"small", "smaller"}, 4);
  EXPECT_EQ(breeder.size(), 11u);
  ASSERT_EQ(breeder.Generations(), 3);
  std::set<std::string> sources;
  std::set<std::string> genomes;
  int failures = 0;
  for (std::uint64_t generation = 1; generation <= 3; ++generation) {
    for (const BredChild& child : Breed(breeder, generation, 4)) {
      if (!child.genome) {
        ++failures;
        EXPECT_THAT(child.failure, HasSubstr("11 settings"));
        continue;
      }
      const KernelTemplate& one = child.genome->template_name == "small" ? Small() : Smaller();
      EXPECT_EQ(one.space.Violated(child.genome->parameters), std::nullopt);
      EXPECT_EQ(ParseTemplate("child", child.source).space.Defaults(), child.genome->parameters);
      EXPECT_EQ(child.op, kSweep);
      EXPECT_TRUE(child.parentless);
      sources.insert(child.source);
      genomes.insert(GenomeHash(*child.genome));
    }
  }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(sources.size(), 11u);
  EXPECT_EQ(genomes.size(), 11u);
}

TEST(SweepBreeder, TheOrderDependsOnlyOnTheSpaceAndNotOnTheStart) {
  SweepBreeder first({Small(), Smaller()}, {"small", "smaller"}, 4);
  SweepBreeder second({Small(), Smaller()}, {"small", "smaller"}, 4);
  const auto expected = Sources(Breed(first, 2, 4));
  Breed(second, 3, 4);
  EXPECT_EQ(Sources(Breed(second, 2, 4, 99)), expected);
}

TEST(SweepBreeder, SuccessiveSettingsDifferInManyParameters) {
  SweepBreeder breeder({Small()}, {"small"}, 9);
  const auto children = Breed(breeder, 1, 9);
  int alike = 0;
  for (std::size_t i = 1; i < children.size(); ++i)
    alike += children[i].genome->parameters.at("BLOCK") == children[i - 1].genome->parameters.at("BLOCK");
  EXPECT_LE(alike, 3);
}

TEST(SweepBreeder, SweepsOnlyTheTemplatesNamed) {
  const SweepBreeder breeder({Small(), Smaller()}, {"smaller"}, 4);
  EXPECT_EQ(breeder.size(), 2u);
  EXPECT_EQ(breeder.Generations(), 1);
}

TEST(SweepBreeder, RendersTheUnchangedGenomeIfNoOperatorIsRequested) {
  SweepBreeder breeder({Small(), Smaller()}, {"smaller"}, 4);
  Genome unknown = Defaults(Small());
  unknown.template_digest = "another";
  Genome illegal = Defaults(Small());
  illegal.parameters["BLOCK"] = 7;
  const auto children =
      breeder.Breed({{{Defaults(Small())}, {}, {}, 1, 0, 0}, {{unknown}, {}, {}, 1, 0, 1}, {{illegal}, {}, {}, 1, 0, 2}}, {});
  ASSERT_EQ(children.size(), 3u);
  EXPECT_EQ(children[0].genome, Defaults(Small()));
  EXPECT_THAT(children[0].source, HasSubstr("#define BLOCK 64"));
  for (const std::size_t wrong : {1u, 2u}) {
    EXPECT_FALSE(children[wrong].genome);
    EXPECT_NE(children[wrong].failure, "");
  }
}

TEST(SweepBreeder, AnswersEveryRequestWhenStopped) {
  SweepBreeder breeder({Small()}, {"small"}, 4);
  std::stop_source stop;
  stop.request_stop();
  const auto children = breeder.Breed({{{Defaults(Small())}, {}, {}, 1, 0, 0}}, stop.get_token());
  ASSERT_EQ(children.size(), 1u);
  EXPECT_FALSE(children[0].genome);
}

}  // namespace
}  // namespace evo
