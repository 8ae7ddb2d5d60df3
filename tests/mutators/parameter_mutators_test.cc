#include <gmock/gmock.h>

#include <set>

#include "mutators/genetic/crossover.h"
#include "mutators/mutator_set.h"

namespace evo {
namespace {

// A parent in a small search space. These mutators read no source, so no parser is needed.
struct Space {
  explicit Space(const std::string& constraint) {
    const std::string text =
        "// evo:param A 1 2 4 8\n// evo:param B 1 2 4 8\n// evo:constraint " + constraint +
        "\n// evo:launch k(X) grid(B) block(A)\n#ifndef A\n#define A 2\n#endif\n#ifndef B\n#define B 2\n#endif\n";
    kernel_template = ParseTemplate("space", text);
    genome = {kernel_template.name, kernel_template.digest, kernel_template.space.Defaults(), {}};
  }
  MutationContext Context(const Genome* second = nullptr) const {
    return {kernel_template, genome, tree, kernel_template, second};
  }

  // The parameters of the children from many random streams.
  std::set<Parameters> Children(const Mutator& mutator) const {
    std::set<Parameters> children;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      if (const auto child = mutator.Mutate(Context(), rng)) children.insert(child->parameters);
    }
    return children;
  }

  KernelTemplate kernel_template;
  Genome genome;
  SyntaxTree tree;
};

const Mutator& Named(std::string_view name) {
  static const MutatorSet set;
  return *set.Find(name);
}

Parameters Values(std::int64_t a, std::int64_t b) { return {{"A", a}, {"B", b}}; }

TEST(ParameterMutators, StepGoesToNeighbours) {
  EXPECT_THAT(Space("A > 0").Children(Named("parameter_step")),
              testing::UnorderedElementsAre(Values(1, 2), Values(4, 2), Values(2, 1), Values(2, 4)));
}

TEST(ParameterMutators, DrawGivesOneParameterAnyValue) {
  EXPECT_THAT(Space("A > 0").Children(Named("parameter_draw")),
              testing::UnorderedElementsAre(Values(1, 2), Values(4, 2), Values(8, 2), Values(2, 1), Values(2, 4), Values(2, 8)));
}

TEST(ParameterMutators, MixChangesSeveral) {
  const auto children = Space("A > 0").Children(Named("parameter_mix"));
  EXPECT_EQ(children.size(), 9u);
  for (const Parameters& child : children) EXPECT_TRUE(child.at("A") != 2 && child.at("B") != 2);
}

TEST(ParameterMutators, RandomDrawsAnySetting) {
  EXPECT_EQ(Space("A > 0").Children(Named("parameter_random")).size(), 15u) << "all but the parent's";
}

TEST(ParameterMutators, ConstraintsHold) {
  EXPECT_THAT(Space("A == B").Children(Named("parameter_step")), testing::IsEmpty());
  EXPECT_THAT(Space("A == B").Children(Named("parameter_mix")),
              testing::UnorderedElementsAre(Values(1, 1), Values(4, 4), Values(8, 8)));
  EXPECT_THAT(Space("A == B").Children(Named("parameter_random")),
              testing::UnorderedElementsAre(Values(1, 1), Values(4, 4), Values(8, 8)));
  EXPECT_THAT(Space("A * B <= 4").Children(Named("parameter_draw")), testing::UnorderedElementsAre(Values(1, 2), Values(2, 1)));
}

TEST(ParameterMutators, StepsLeaveOutWhatNothingUses) {
  Space space("A > 0");
  std::string& text = space.kernel_template.text;
  text.replace(text.find("grid(B)"), 7, "grid(1)");
  text += "constexpr int kB = B;\n";
  EXPECT_THAT(space.Children(Named("parameter_step")), testing::UnorderedElementsAre(Values(1, 2), Values(4, 2)));
  text += "constexpr int kTwice = 2 * kB;\n__global__ void k(float* x) { x[kTwice] = 1; }\n";
  EXPECT_EQ(space.Children(Named("parameter_step")).size(), 4u);
}

// An edit has replaced the code that B was for, and brought C.
TEST(ParameterMutators, DrawsLeaveOutWhatNothingUses) {
  Space space("A > 0");
  std::string& text = space.kernel_template.text;
  text.replace(text.find("grid(B)"), 7, "grid(C)");
  space.kernel_template.space.parameters.push_back({"C", {1, 2, 4}, 2});
  space.genome.parameters["C"] = 2;
  for (const char* name : {"parameter_mix", "parameter_random"}) {
    const std::set<Parameters> children = space.Children(Named(name));
    EXPECT_EQ(children.size(), name == std::string("parameter_mix") ? 6u : 11u) << name;
    for (const Parameters& child : children) EXPECT_EQ(child.at("B"), 2) << name;
  }
  text.replace(text.find("grid(C)"), 7, "grid(1)");
  for (const char* name : {"parameter_mix", "parameter_random"})
    EXPECT_THAT(space.Children(Named(name)), testing::IsEmpty()) << name << " is for several";
}

// As Space, with an edit that brings T.
struct Tiled : Space {
  Tiled() : Space("A == 2 && B == 2") {
    genome.edits = {Brings("tile", "T", {2, 4, 8}, "T >= A * 2")};
    genome.parameters["T"] = 4;
    kernel_template.text += "__global__ void k(float* x) { x[T] = 1; }\n";
  }
  static Edit Brings(const std::string& op, const std::string& name, std::vector<std::int64_t> values,
                     const std::string& constraint) {
    Edit edit;
    edit.op = op;
    edit.source = {{0, Placement::kReplace, name + " + 1;"}};
    edit.launch = {{"k", "block", name}};
    edit.brings = {{name, std::move(values), 4}};
    edit.constraints = {constraint};
    return edit;
  }
};

TEST(ParameterMutators, ChangeWhatEditsBring) {
  const Tiled tiled;
  const Parameters eight{{"A", 2}, {"B", 2}, {"T", 8}};
  for (const char* name : {"parameter_step", "parameter_draw", "parameter_random"})
    EXPECT_THAT(tiled.Children(Named(name)), testing::ElementsAre(eight))
        << name << ": T = 2 does not meet the edit's constraint";
}

TEST(Crossover, InheritsEditsWithTheValuesOfTheirParameters) {
  Tiled tiled;
  Genome other = tiled.genome;
  other.edits.clear();
  other.parameters.erase("T");
  std::swap(tiled.genome, other);
  std::set<Parameters> parameters;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const auto child = Named(kCrossover).Mutate(tiled.Context(&other), rng);
    if (!child) continue;
    EXPECT_EQ(child->parameters.contains("T"), !child->edits.empty());
    parameters.insert(child->parameters);
  }
  EXPECT_THAT(parameters, testing::IsEmpty()) << "the child would be the second parent";
  Edit plain;
  plain.op = "plain";
  tiled.genome.edits = {plain};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const auto child = Named(kCrossover).Mutate(tiled.Context(&other), rng);
    if (!child) continue;
    const bool tile = std::any_of(child->edits.begin(), child->edits.end(), [](const Edit& e) { return e.op == "tile"; });
    EXPECT_EQ(child->parameters.contains("T"), tile);
    parameters.insert(child->parameters);
  }
  EXPECT_TRUE(parameters.contains({{"A", 2}, {"B", 2}, {"T", 4}}));
}

TEST(Crossover, TwoEditsThatBringTheSameNameGetTwo) {
  const Tiled tiled;
  Genome other = tiled.genome;
  other.edits = {Tiled::Brings("another", "T", {4, 16}, "T > B")};
  other.parameters["T"] = 16;
  bool both = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const auto child = Named(kCrossover).Mutate(tiled.Context(&other), rng);
    if (!child || child->edits.size() < 2) continue;
    both = true;
    EXPECT_EQ(child->parameters, (Parameters{{"A", 2}, {"B", 2}, {"T", 4}, {"T_2", 16}}));
    const Edit& renamed = child->edits[1];
    EXPECT_EQ(renamed.brings[0].name, "T_2");
    EXPECT_EQ(renamed.source[0].text, "T_2 + 1;");
    EXPECT_EQ(renamed.launch[0].text, "T_2");
    EXPECT_EQ(renamed.constraints[0], "T_2 > B");
  }
  EXPECT_TRUE(both);
}

TEST(Crossover, NeedsASecondParentOfTheSameTemplate) {
  const Space space("A > 0");
  const Mutator& crossover = Named(kCrossover);
  Rng rng(1);
  EXPECT_EQ(crossover.Mutate(space.Context(), rng), std::nullopt);
  Genome other = space.genome;
  EXPECT_EQ(crossover.Mutate(space.Context(&other), rng), std::nullopt);
  other.parameters = Values(8, 8);
  other.template_digest = "another";
  EXPECT_EQ(crossover.Mutate(space.Context(&other), rng), std::nullopt);
}

TEST(Crossover, MixesParametersAndEdits) {
  Space space("A > 0");
  space.genome.edits = {{.op = "a1"}, {.op = "common"}};
  Genome other = space.genome;
  other.parameters = Values(8, 4);
  other.edits = {{.op = "b1"}, {.op = "common"}, {.op = "b2"}};
  const Mutator& crossover = Named(kCrossover);
  std::set<Parameters> parameters;
  std::set<std::string> lists;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const auto child = crossover.Mutate(space.Context(&other), rng);
    if (!child) continue;
    parameters.insert(child->parameters);
    std::string list;
    for (const Edit& edit : child->edits) list += edit.op + " ";
    lists.insert(list);
    EXPECT_LE(std::count_if(child->edits.begin(), child->edits.end(), [](const Edit& e) { return e.op == "common"; }), 1);
  }
  EXPECT_THAT(parameters, testing::UnorderedElementsAre(Values(2, 2), Values(8, 2), Values(2, 4), Values(8, 4)));
  EXPECT_TRUE(lists.contains("a1 common b1 b2 "));
  EXPECT_TRUE(lists.contains("a1 b2 "));
}

TEST(Crossover, ConstraintsHold) {
  Space space("A == B");
  Genome other = space.genome;
  other.parameters = Values(8, 8);
  const Mutator& crossover = Named(kCrossover);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const auto child = crossover.Mutate(space.Context(&other), rng);
    if (child) {
      EXPECT_EQ(child->parameters.at("A"), child->parameters.at("B"));
    }
  }
}

}  // namespace
}  // namespace evo
