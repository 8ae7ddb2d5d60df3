#include "mutators/breeding/edit_application.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/error.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const char* const kEditedText = R"(// evo:param N 16 32
// evo:launch k(A) grid(1) block(N)
#ifndef N
#define N 16
#endif
__global__ void k(float* a) {
  a[0] = 1;
  a[1] = 2;
#if N == 16
  a[2] = 3;
#endif
}
)";

int Statement(const SyntaxTree& tree, const std::string& text) {
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    if (tree.Text(static_cast<int>(i)) == text) return static_cast<int>(i);
  }
  ADD_FAILURE() << text;
  return 0;
}

Edit Replacing(const SyntaxTree& tree, const std::string& from, const std::string& to) {
  return MakeEdit(tree, "test", {{{Statement(tree, from), Placement::kReplace, to}}, {}, {}});
}

TEST(EditApplication, ReplacesAndInsertsBeforeAndAfter) {
  const Parent parent{std::string(kEditedText)};
  const int statement = Statement(*parent.tree, "a[1] = 2;");
  const Edit edit = MakeEdit(*parent.tree, "test",
                             {{{statement, Placement::kReplace, "a[1] = 9;"},
                               {statement, Placement::kBefore, "/*b*/"},
                               {statement, Placement::kAfter, "/*a*/"}},
                              {},
                              {}});
  EXPECT_EQ(edit.anchors.size(), 1u);
  EXPECT_THAT(ApplyEdit(*parent.tree, parent.genome.parameters, edit).text, HasSubstr("  /*b*/a[1] = 9;/*a*/\n"));
}

TEST(EditApplication, DeletionRemovesABlankLine) {
  const Parent parent{std::string(kEditedText)};
  const AppliedEdit applied = ApplyEdit(*parent.tree, parent.genome.parameters, Replacing(*parent.tree, "a[1] = 2;", ""));
  EXPECT_THAT(applied.text, HasSubstr("  a[0] = 1;\n#if"));
}

Edit Tiling(const SyntaxTree& tree) {
  Proposal proposal{{{Statement(tree, "a[0] = 1;"), Placement::kReplace, "a[0] = TILE;"}}, {}, {}};
  proposal.launch = {{"k", "block", "N * TILE"}};
  proposal.brings = {{"TILE", {1, 2, 4}, 2}};
  proposal.constraints = {"N * TILE <= 64"};
  return MakeEdit(tree, "tile", proposal);
}

TEST(EditApplication, DeclaresTheParametersThatAnEditBrings) {
  Parent parent{std::string(kEditedText)};
  parent.genome.edits = {Tiling(*parent.tree)};
  parent.genome.parameters["TILE"] = 4;
  parent.Render();
  EXPECT_THAT(parent.rendering.dropped, IsEmpty());
  EXPECT_THAT(parent.rendering.source, HasSubstr("#endif\n\n// evo:param TILE 1 2 4\n// evo:constraint N * TILE <= 64\n"
                                                 "#ifndef TILE\n#define TILE 4\n#endif\n__global__"));
  EXPECT_THAT(parent.rendering.source, HasSubstr("block(N * TILE)"));
  EXPECT_EQ(parent.rendered.space.Defaults(), (Parameters{{"N", 16}, {"TILE", 4}}));
  EXPECT_EQ(parent.rendered.space.constraints.size(), 1u);
  // Other values, from the texts that the renderer remembers.
  parent.genome.parameters["TILE"] = 1;
  parent.genome.parameters["N"] = 32;
  parent.Render();
  EXPECT_EQ(parent.rendered.space.Defaults(), (Parameters{{"N", 32}, {"TILE", 1}}));
}

TEST(EditApplication, ADroppedEditTakesItsParametersWithIt) {
  Parent parent{std::string(kEditedText)};
  Edit lost = Tiling(*parent.tree);
  lost.anchors[0].tokens = "0000000000000000";
  parent.genome.edits = {lost};
  parent.genome.parameters["TILE"] = 4;
  parent.Render();
  EXPECT_EQ(parent.rendering.applied.parameters, (Parameters{{"N", 16}}));
  EXPECT_EQ(parent.rendering.source, kEditedText);
}

TEST(EditApplication, DropsAnEditWhoseParametersDoNotFit) {
  const Parent parent{std::string(kEditedText)};
  const Edit edit = Tiling(*parent.tree);
  EXPECT_EQ(ApplyEdit(*parent.tree, {{"N", 32}, {"TILE", 4}}, edit).dropped, "tile: the values do not meet 'N * TILE <= 64'");
  EXPECT_EQ(ApplyEdit(*parent.tree, {{"N", 16}, {"TILE", 3}}, edit).dropped, "tile: its parameter TILE: 3 is not among 1, 2, 4");
  EXPECT_THAT(ApplyEdit(*parent.tree, {{"N", 16}}, edit).text, HasSubstr("#define TILE 2")) << "the first value";
  Edit other = edit;
  other.constraints = {"M > 1"};
  EXPECT_EQ(ApplyEdit(*parent.tree, {{"N", 16}, {"TILE", 1}}, other).dropped,
            "tile: its constraint names M, which is no parameter");
  other = edit;
  other.brings[0].name = "a";
  EXPECT_EQ(ApplyEdit(*parent.tree, {{"N", 16}, {"a", 1}}, other).dropped, "tile: the name of its parameter a is taken");
}

TEST(EditApplication, IsCompleteOrDropped) {
  const Parent parent{std::string(kEditedText)};
  Edit edit = Replacing(*parent.tree, "a[0] = 1;", "a[0] = 5;");
  edit.anchors.push_back(edit.anchors.front());
  edit.anchors.back().tokens = "0000000000000000";
  edit.source.push_back({1, Placement::kReplace, "x"});
  const AppliedEdit applied = ApplyEdit(*parent.tree, parent.genome.parameters, edit);
  EXPECT_EQ(applied.text, parent.tree->text());
  EXPECT_THAT(applied.dropped, HasSubstr("test: "));
}

TEST(EditApplication, OverlapsAndBadIndicesAreDropped) {
  const Parent parent{std::string(kEditedText)};
  const int outer = Statement(*parent.tree, "a[1] = 2;");
  const int inner = Statement(*parent.tree, "a[1]");
  const Edit overlap =
      MakeEdit(*parent.tree, "test", {{{outer, Placement::kReplace, "x;"}, {inner, Placement::kReplace, "y"}}, {}, {}});
  EXPECT_THAT(ApplyEdit(*parent.tree, parent.genome.parameters, overlap).dropped, HasSubstr("overlap"));
  Edit wrong = Replacing(*parent.tree, "a[0] = 1;", "");
  wrong.source[0].anchor = 7;
  EXPECT_THAT(ApplyEdit(*parent.tree, parent.genome.parameters, wrong).dropped, HasSubstr("anchor"));
}

TEST(EditApplication, DropsEditsThatNeedOtherParameters) {
  const Parent parent{std::string(kEditedText)};
  Edit edit = Replacing(*parent.tree, "a[0] = 1;", "a[0] = 5;");
  edit.parameters = {{"N", 32}};
  EXPECT_THAT(ApplyEdit(*parent.tree, {{"N", 16}}, edit).dropped, HasSubstr("needs N = 32"));
  EXPECT_THAT(ApplyEdit(*parent.tree, {{"N", 32}}, edit).dropped, IsEmpty());
}

TEST(EditApplication, LaunchLinesChangeWithTheCode) {
  const Parent parent{std::string(kEditedText)};
  Edit edit = Replacing(*parent.tree, "a[0] = 1;", "a[0] = 5;");
  edit.launch = {{"k", "grid", "2 * N"}};
  EXPECT_THAT(ApplyEdit(*parent.tree, parent.genome.parameters, edit).text, HasSubstr("grid(2 * N) block(N)"));
  edit.launch = {{"other", "grid", "2"}};
  EXPECT_THAT(ApplyEdit(*parent.tree, parent.genome.parameters, edit).dropped, HasSubstr("no launch line of other"));
  edit.launch = {{"k", "colour", "2"}};
  EXPECT_THAT(ApplyEdit(*parent.tree, parent.genome.parameters, edit).dropped, HasSubstr("colour"));
}

TEST(GenomeRenderer, AppliesEditsInOrder) {
  Parent parent{std::string(kEditedText)};
  parent.genome.edits.push_back(Replacing(*parent.tree, "a[0] = 1;", "a[0] = 5;"));
  parent.Render();
  parent.genome.edits.push_back(Replacing(*parent.tree, "a[0] = 5;", "a[0] = 6;"));
  parent.Render();
  EXPECT_THAT(parent.rendering.source, HasSubstr("a[0] = 6;"));
  EXPECT_EQ(parent.rendering.applied, parent.genome);
  EXPECT_THAT(parent.rendering.dropped, IsEmpty());
  // Without the first edit, the second one does not find its anchor.
  parent.genome.edits.erase(parent.genome.edits.begin());
  parent.Render();
  EXPECT_THAT(parent.rendering.source, HasSubstr("a[0] = 1;"));
  EXPECT_THAT(parent.rendering.applied.edits, IsEmpty());
  EXPECT_EQ(parent.rendering.dropped.size(), 1u);
}

// Operators that rewrite whole kernels parse sources of their own by a tree's parser. What they find may not depend on which
// other sources were looked at.
TEST(GenomeRenderer, ATreeHasItsParser) {
  GenomeRenderer renderer(TestPaths());
  const std::string text = "__global__ void k() {}\n";
  renderer.TreeOf(text);
  for (const char* header : {"stddef.h", "limits.h", "float.h", "stdint.h"})
    renderer.TreeOf(fmt::format("#include <{}>\n{}", header, text));
  EXPECT_NE(renderer.TreeOf(text)->Reparsed("\n" + text), nullptr);
}

TEST(GenomeRenderer, CodeThatParametersRemoveIsNotEdited) {
  Parent parent{std::string(kEditedText)};
  parent.genome.edits.push_back(Replacing(*parent.tree, "a[2] = 3;", "a[2] = 4;"));
  parent.Render();
  EXPECT_THAT(parent.rendering.source, HasSubstr("a[2] = 4;"));
  parent.genome.parameters["N"] = 32;
  parent.Render();
  EXPECT_THAT(parent.rendering.source, HasSubstr("a[2] = 3;"));
  EXPECT_EQ(parent.rendering.dropped.size(), 1u);
}

// Edits of two parents meet in a crossover. Each was made for a loop without a pragma.
struct Meeting {
  explicit Meeting(const std::string& body)
      : parent("// evo:launch k(A, B, S) grid(1) block(32)\n__global__ void k(const float* a, float* b, int n) {\n" + body +
               "}\n") {}

  Edit First(const std::string& mutator) const {
    const auto proposals = SourceMutatorNamed(mutator).Proposals(parent.Context());
    EXPECT_FALSE(proposals.empty()) << mutator;
    return SourceMutatorNamed(mutator).EditOf(parent.Context(), proposals.front());
  }
  Edit Pragma(const std::string& text) const {
    const int loop = NodesOfKindNamed("ForStmt");
    return MakeEdit(*parent.tree, "unroll_pragma", {{{loop, Placement::kBefore, text + "\n  "}}, {}, {}});
  }
  RenderedGenome With(std::vector<Edit> edits) const {
    Genome genome = parent.genome;
    genome.edits = std::move(edits);
    return SharedRenderer().Render(parent.kernel_template, genome);
  }
  int NodesOfKindNamed(const std::string& kind) const {
    for (std::size_t i = 0; i < parent.tree->nodes().size(); ++i) {
      if (parent.tree->nodes()[i].kind_name == kind) return static_cast<int>(i);
    }
    return -1;
  }
  Parent parent;
};

TEST(GenomeRenderer, ALoopGetsOnePragma) {
  const Meeting meeting("  for (int i = 0; i < n; ++i) b[i] = a[i];\n");
  const RenderedGenome both = meeting.With({meeting.Pragma("#pragma unroll 4"), meeting.Pragma("#pragma unroll 2")});
  EXPECT_THAT(both.source, HasSubstr("  #pragma unroll 4\n  for ("));
  EXPECT_EQ(both.source.find("unroll 2"), std::string::npos);
  EXPECT_THAT(both.dropped, testing::ElementsAre(HasSubstr("#pragma")));
}

TEST(GenomeRenderer, APragmaStaysInFrontOfItsLoop) {
  const Meeting hoisting("  for (int i = 0; i < n; ++i) b[i] = a[i] * sqrtf(static_cast<float>(n));\n");
  const RenderedGenome hoisted = hoisting.With({hoisting.Pragma("#pragma unroll 4"), hoisting.First("hoist_invariant")});
  EXPECT_THAT(hoisted.dropped, IsEmpty());
  EXPECT_THAT(hoisted.source, HasSubstr(";\n  #pragma unroll 4\n  for (")) << hoisted.source;

  const Meeting jamming(
      "  for (int i = 0; i < 32; ++i) {\n    float s = 0;\n"
      "    for (int j = 0; j < n; ++j) s += a[i * n + j];\n    b[i] = s;\n  }\n");
  const RenderedGenome jammed = jamming.With({jamming.Pragma("#pragma unroll 4"), jamming.First("unroll_and_jam")});
  EXPECT_THAT(jammed.source, HasSubstr("#pragma unroll 4\n  for (int i"));
  EXPECT_THAT(jammed.dropped, testing::ElementsAre(HasSubstr("#pragma")));
}

// With another value of N the kernel has a statement that the mutator has not seen.
TEST(GenomeRenderer, AnEditThatRestsOnAllCodeNeedsTheParametersThatDecideIt) {
  const auto edits = [](const std::string& name, const Parent& parent) {
    std::vector<Edit> made;
    for (const Proposal& proposal : SourceMutatorNamed(name).Proposals(parent.Context()))
      made.push_back(SourceMutatorNamed(name).EditOf(parent.Context(), proposal));
    return made;
  };
  const std::string head =
      "// evo:param N 16 32\n// evo:param M 1 2\n// evo:launch k(A, S) grid(ceil_div(S, 16)) block(16)\n"
      "#ifndef N\n#define N 16\n#endif\n#ifndef M\n#define M 1\n#endif\n";
  const std::string text = head + R"(
__device__ float F(float x) {
#if M == 2
  return x + 1;
#endif
  return x;
}

__global__ void k(float* a, int n) {
  const int i = blockIdx.x * 16 + threadIdx.x;
  if (i >= n) return;
#if N == 32
  const int end = i + 1;
#else
  const int end = 16;
#endif
  for (int j = 0; j < end; ++j) a[i] = F(j);
}
)";
  const Parent parent{text};
  for (const char* name : {"register_tile", "work_per_thread", "grid_stride"}) {
    const auto made = edits(name, parent);
    EXPECT_FALSE(made.empty()) << name;
    for (const Edit& edit : made) EXPECT_EQ(edit.parameters, (Parameters{{"N", 16}})) << name;
  }
  for (const Edit& edit : edits("unroll_pragma", parent)) EXPECT_THAT(edit.parameters, IsEmpty());
  Parent other{text};
  other.genome.parameters["N"] = 32;
  other.Render();
  EXPECT_THAT(edits("register_tile", other), IsEmpty());
  other.genome.edits = {edits("register_tile", parent).front()};
  other.Render();
  EXPECT_THAT(other.rendering.dropped, testing::ElementsAre(HasSubstr("it needs N = 16")));
}

TEST(GenomeRenderer, UndeclaredParametersAreErrors) {
  Parent parent{std::string(kEditedText)};
  parent.genome.parameters["M"] = 1;
  EXPECT_THROW(SharedRenderer().Render(parent.kernel_template, parent.genome), Error);
}

}  // namespace
}  // namespace evo
