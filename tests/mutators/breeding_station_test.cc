#include "mutators/breeding/breeding_station.h"

#include <gmock/gmock.h>

#include "core/error.h"
#include "mutators/analysis/kernel_kind.h"
#include "mutators/bottleneck_relief.h"
#include "mutators/restructuring.h"
#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"
#include "tests/mutators/plain_kernels.h"
#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char* const kText = R"(// evo:param N 16 32 64
// evo:launch k(A) grid(1) block(N)
#ifndef N
#define N 32
#endif
__global__ void k(float* a) {
  for (int i = 0; i < N; ++i) a[i] = 1;
}
)";

class BreedingStationTest : public testing::Test {
 protected:
  BreedRequest Request(std::vector<std::pair<std::string, double>> operators) const {
    return {{DefaultGenome(kernel_template_)}, {}, std::move(operators), 1, 2, 3};
  }
  static BreedingStation& Station() {
    // Never destroyed, because libclang's globals would be destroyed before it.
    static auto* const station = new BreedingStation({ParseTemplate("small", kText)}, TestPaths());
    return *station;
  }
  const KernelTemplate kernel_template_ = ParseTemplate("small", kText);
};

TEST_F(BreedingStationTest, RendersTheParentWithoutOperators) {
  const BredChild child = Station().Breed(Request({}));
  ASSERT_TRUE(child.genome);
  EXPECT_EQ(*child.genome, DefaultGenome(kernel_template_));
  EXPECT_EQ(child.source, kText);
  EXPECT_EQ(child.op, "");
}

TEST_F(BreedingStationTest, SameRequestSameChild) {
  const auto operators = MutatorSet().DefaultOperators();
  for (std::uint64_t index = 0; index < 10; ++index) {
    BreedRequest request = Request(operators);
    request.index = index;
    const BredChild first = Station().Breed(request);
    const BredChild second = Station().Breed(request);
    EXPECT_EQ(first.genome, second.genome);
    EXPECT_EQ(first.source, second.source);
    EXPECT_EQ(first.op, second.op);
    EXPECT_EQ(first.inapplicable, second.inapplicable);
  }
}

TEST_F(BreedingStationTest, ReportsInapplicableOperatorsAndTriesTheNext) {
  const BredChild child = Station().Breed(Request({{"accumulator_split", 1e12}, {"parameter_step", 1}, {"fast_math", 0}}));
  ASSERT_TRUE(child.genome);
  EXPECT_EQ(child.op, "parameter_step");
  EXPECT_THAT(child.inapplicable, ElementsAre("accumulator_split"));
  EXPECT_NE(child.source, kText);
}

TEST_F(BreedingStationTest, NothingApplicableIsAFailure) {
  const BredChild child = Station().Breed(Request({{"accumulator_split", 1}, {"reciprocal", 1}}));
  EXPECT_FALSE(child.genome);
  EXPECT_EQ(child.source, "");
  EXPECT_EQ(child.inapplicable.size(), 2u);
  EXPECT_THAT(child.failure, HasSubstr("no operator applied"));
}

TEST_F(BreedingStationTest, WrongRequestsAreFailures) {
  BreedRequest request = Request({});
  request.parents[0].template_digest = "unknown";
  EXPECT_THAT(Station().Breed(request).failure, HasSubstr("unknown"));
  request.parents.clear();
  EXPECT_THAT(Station().Breed(request).failure, HasSubstr("without a parent"));
  EXPECT_THAT(Station().Breed(Request({{"no_such", 1}})).failure, HasSubstr("no_such"));
  request = Request({});
  request.parents[0].parameters["N"] = 17;
  EXPECT_THAT(Station().Breed(request).failure, HasSubstr("17"));
}

TEST_F(BreedingStationTest, CrossoverTakesFromBothParentsAndRecordsDroppedEdits) {
  BreedRequest request = Request({{"unroll_pragma", 1}});
  const BredChild unrolled = Station().Breed(request);
  ASSERT_TRUE(unrolled.genome);
  request = Request({{"crossover", 1}});
  request.parents.push_back(*unrolled.genome);
  request.parents[1].parameters["N"] = 64;
  bool used = false;
  for (std::uint64_t index = 0; index < 20; ++index) {
    request.index = index;
    const BredChild child = Station().Breed(request);
    if (!child.genome) continue;
    used = true;
    EXPECT_TRUE(child.used_second_parent);
    EXPECT_THAT(child.dropped, IsEmpty());
  }
  EXPECT_TRUE(used);
  // An edit whose loop does not exist is dropped, and the child's genome does not contain it.
  request.parents[0].parameters["N"] = 16;
  request.parents[1].edits[0].anchors[0].tokens = "0000000000000000";
  request.parents[1].edits.push_back(request.parents[1].edits[0]);
  request.parents[1].edits[1].anchors[0].tokens = "1111111111111111";
  bool dropped = false;
  for (std::uint64_t index = 0; index < 20; ++index) {
    request.index = index;
    const BredChild child = Station().Breed(request);
    if (!child.genome) continue;
    EXPECT_THAT(child.genome->edits, IsEmpty());
    dropped = dropped || !child.dropped.empty();
  }
  EXPECT_TRUE(dropped);
}

// A occurs in a preprocessor condition, through a macro; B occurs in none. Texts that a renderer remembers for other values must
// not be used where they differ.
TEST(GenomeRenderer, DoesNotReuseTextsWhoseConditionsDiffer) {
  const KernelTemplate one = ParseTemplate("conditions", R"(// evo:param A 1 2 4
// evo:param B 16 32
// evo:launch k(X) grid(1) block(B)
#ifndef A
#define A 1
#endif
#ifndef B
#define B 16
#endif
#define MANY (A > 1)
__global__ void k(float* a) {
#if MANY
  for (int i = 0; i < A; ++i) a[i] = 1;
#endif
  for (int i = 0; i < B; ++i) a[i] = 2;
}
)");
  Genome genome = DefaultGenome(one);
  genome.parameters["A"] = 2;
  const Parent parent(one, genome);
  const SourceMutator& mutator = SourceMutatorNamed("unroll_pragma");
  const std::vector<Proposal> proposals = mutator.Proposals(parent.Context());
  ASSERT_GE(proposals.size(), 2U);
  GenomeRenderer remembering(TestPaths());
  GenomeRenderer forgetting(TestPaths(), {.texts = 0});
  int dropped = 0;
  for (const Proposal& proposal : proposals) {
    genome.edits = {MakeEdit(*parent.tree, "unroll_pragma", proposal)};
    for (const int a : {2, 4, 1, 2}) {
      for (const int b : {16, 32}) {
        genome.parameters = {{"A", a}, {"B", b}};
        const RenderedGenome expected = forgetting.Render(one, genome);
        const RenderedGenome rendered = remembering.Render(one, genome);
        EXPECT_EQ(rendered.source, expected.source);
        EXPECT_EQ(rendered.applied, expected.applied);
        EXPECT_EQ(rendered.dropped, expected.dropped);
        dropped += static_cast<int>(rendered.dropped.size());
      }
    }
  }
  EXPECT_GT(dropped, 0) << "the code under #if does not exist for A = 1";
}

TEST(MutatorSet, NamesAreUniqueAndDescribed) {
  const MutatorSet set;
  EXPECT_EQ(set.Find("no_such"), nullptr);
  std::set<std::string_view> names;
  for (const auto& mutator : set.all()) {
    EXPECT_TRUE(names.insert(mutator->name()).second);
    EXPECT_FALSE(mutator->description().empty());
    EXPECT_GT(mutator->weight(), 0);
    EXPECT_EQ(set.Find(mutator->name()), mutator.get());
  }
  EXPECT_EQ(set.DefaultOperators().size(), names.size());
}

TEST(MutatorSet, EveryMutatorIsInOneFamily) {
  const MutatorSet set;
  std::vector<const Mutator*> listed;
  for (const MutatorFamily& family : set.families()) {
    EXPECT_FALSE(family.subject.empty()) << family.name;
    EXPECT_FALSE(family.mutators.empty()) << family.name;
    listed.insert(listed.end(), family.mutators.begin(), family.mutators.end());
  }
  std::vector<const Mutator*> all;
  for (const auto& mutator : set.all()) all.push_back(mutator.get());
  EXPECT_EQ(listed, all);
}

TEST(MutatorSet, DefaultOperatorsAreSortedByName) {
  const auto operators = MutatorSet().DefaultOperators();
  EXPECT_TRUE(std::is_sorted(operators.begin(), operators.end()));
  EXPECT_THAT(operators, testing::Contains(testing::Pair("unroll_pragma", 2.0)));
}

TEST(KernelKind, IsThatOfTheFirstRecogniserThatKnowsTheKernel) {
  const auto kind = [](const std::string& source) { return KernelKind(Parent(source).Context()); };
  EXPECT_EQ(kind(kTransposedB), "contraction");
  EXPECT_EQ(kind(Rows("  float sum = 0;\n  for (int c = 0; c < m; ++c) sum += in[row * m + c];\n  out[row] = sum;\n")), "rows");
  EXPECT_EQ(kind(Rows("  out[row] = 2 * in[row];\n")), "elements");
  EXPECT_EQ(kind(kText), "");
}

TEST_F(BreedingStationTest, KnowsTheKindOfATemplate) {
  EXPECT_EQ(Station().KindOf("small"), "");
  EXPECT_THROW(Station().KindOf("gone"), Error);
}

TEST(Restructuring, NamesOperatorsThatEditSources) {
  const MutatorSet mutators;
  const std::vector<std::string> names = Restructuring();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) EXPECT_NE(dynamic_cast<const SourceMutator*>(mutators.Find(name)), nullptr) << name;
  for (const char* const stencil : {"stencil_rows", "stencil_sums"}) EXPECT_THAT(names, testing::Contains(stencil));
}

// Two loops, of which the first one is edited.
const char* const kTwoLoops = R"(// evo:param N 16 32 64
// evo:launch k(A) grid(1) block(N)
#ifndef N
#define N 32
#endif
__global__ void k(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < N; ++i) sum += in[i] / 3.0f;
  for (int i = 0; i < 8; ++i) out[i] = sum;
}
)";

class AlikeEditTest : public testing::Test {
 protected:
  static BreedingStation& Station() {
    static auto* const station = new BreedingStation({ParseTemplate("loops", kTwoLoops)}, TestPaths());
    return *station;
  }
  // The edits of some children of the template by this operator.
  std::vector<Edit> Edits(const std::string& op) const {
    std::vector<Edit> edits;
    for (std::uint64_t index = 0; index < 12; ++index) {
      const BredChild child = Station().Breed({{parent_}, {}, {{op, 1}}, 1, 2, index});
      if (child.genome) edits.push_back(child.genome->edits.back());
    }
    return edits;
  }
  const Genome parent_ = DefaultGenome(ParseTemplate("loops", kTwoLoops));
};

TEST_F(AlikeEditTest, IsTheSameEditOnTheSameGenome) {
  for (const std::string op : {"unroll_pragma", "strip_mine", "reciprocal"}) {
    const std::vector<Edit> edits = Edits(op);
    ASSERT_FALSE(edits.empty()) << op;
    for (const Edit& edit : edits) {
      const BredChild child = Station().Breed({{parent_}, {}, {}, 1, 2, 3, {edit}});
      ASSERT_TRUE(child.genome) << child.failure;
      EXPECT_THAT(child.genome->edits, ElementsAre(edit)) << op;
      EXPECT_THAT(child.dropped, IsEmpty());
    }
  }
}

TEST_F(AlikeEditTest, IsMadeAnewWhereOtherEditsHaveChangedTheCode) {
  const Edit strip = Edits("strip_mine").front();
  const Edit divide = Edits("reciprocal").front();
  const BredChild child = Station().Breed({{parent_}, {}, {}, 1, 2, 3, {divide, strip}});
  ASSERT_TRUE(child.genome) << child.failure;
  ASSERT_EQ(child.genome->edits.size(), 2U) << child.source;
  EXPECT_EQ(child.genome->edits[0], divide);
  EXPECT_EQ(child.genome->edits[1].op, "strip_mine");
  EXPECT_NE(child.genome->edits[1], strip) << "its text holds what the other edit made";
  EXPECT_THAT(child.source, HasSubstr("1.0f / 3.0f"));
}

TEST_F(AlikeEditTest, IsLeftOutWhereNothingAlikeIsProposed) {
  Edit elsewhere = Edits("strip_mine").front();
  for (Anchor& anchor : elsewhere.anchors) anchor.function = "another";
  const BredChild child = Station().Breed({{parent_}, {}, {}, 1, 2, 3, {elsewhere}});
  ASSERT_TRUE(child.genome);
  EXPECT_EQ(*child.genome, parent_);
  EXPECT_EQ(child.source, kTwoLoops);
  elsewhere.op = "gone";
  EXPECT_THAT(Station().Breed({{parent_}, {}, {}, 1, 2, 3, {elsewhere}}).failure, HasSubstr("gone"));
}

TEST_F(AlikeEditTest, ComesBeforeTheOperatorThatIsDrawn) {
  const BredChild child = Station().Breed({{parent_}, {}, {{"parameter_step", 1}}, 1, 2, 3, {Edits("reciprocal").front()}});
  ASSERT_TRUE(child.genome) << child.failure;
  EXPECT_EQ(child.op, "parameter_step");
  EXPECT_EQ(child.genome->edits.size(), 1U);
  EXPECT_NE(child.genome->parameters, parent_.parameters);
}

TEST(Reliefs, NameOperatorsThatExist) {
  const MutatorSet mutators;
  for (const auto& [bottleneck, factors] : Reliefs()) {
    EXPECT_FALSE(factors.empty());
    for (const auto& [op, factor] : factors) {
      EXPECT_NE(mutators.Find(op), nullptr) << op;
      EXPECT_GT(factor, 1) << op;
    }
  }
  EXPECT_FALSE(Reliefs().contains(Bottleneck::kUnknown));
  EXPECT_GT(Reliefs().at(Bottleneck::kSpills).at("launch_bounds"), 2);
}

}  // namespace
}  // namespace evo
