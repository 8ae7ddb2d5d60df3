#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/breeding/breeding_station.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

// The number of steps of the random walk from each template: enough to draw many mutators, few enough for a test.
constexpr std::uint64_t kSteps = 16;

// Whether the parameters have the values that an edit names.
bool Holds(const Edit& edit, const Parameters& parameters) {
  return std::all_of(edit.parameters.begin(), edit.parameters.end(),
                     [&](const auto& needed) { return parameters.at(needed.first) == needed.second; });
}

class TemplateProperties : public testing::TestWithParam<const char*> {};

TEST_P(TemplateProperties, AWalkOfMutationsStaysSound) {
  const KernelTemplate kernel_template = LoadTemplate(ShareDirectory() / "kernel_templates" / GetParam());
  BreedingStation station({kernel_template}, TestPaths());
  const auto operators = MutatorSet().DefaultOperators();
  Genome parent = DefaultGenome(kernel_template);
  GenomeRenderer forgetful(TestPaths(), {.texts = 0});
  std::string parent_source = station.Breed({{parent}, {}, {}, 0, 0, 0}).source;
  std::map<std::string, int> drawn;
  int kept_edits = 0;
  int edits = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const Genome before = parent;
    const BreedRequest request{{parent}, {parent_source}, operators, 7, 1, step};
    const BredChild child = station.Breed(request);
    ASSERT_TRUE(child.genome) << child.failure;
    ++drawn[child.op];
    EXPECT_EQ(request.parents[0], before);
    const BredChild twin = station.Breed(request);
    EXPECT_EQ(twin.source, child.source);
    EXPECT_EQ(twin.genome, child.genome);
    const RenderedGenome again = forgetful.Render(kernel_template, *child.genome);
    EXPECT_EQ(again.source, child.source) << "a child's genome alone must give the child's source";
    EXPECT_THAT(again.dropped, testing::IsEmpty());
    EXPECT_NE(child.source, parent_source);
    EXPECT_NO_THROW(ParseTemplate("child", child.source));
    // An edit may rest on the text of an earlier one, and goes with it.
    const auto holds = [&](const Edit& edit) { return Holds(edit, child.genome->parameters); };
    if (child.op.starts_with("parameter_") && std::all_of(parent.edits.begin(), parent.edits.end(), holds)) {
      edits += static_cast<int>(parent.edits.size());
      kept_edits += static_cast<int>(child.genome->edits.size());
    }
    // Restarts from time to time, so that genomes do not only grow.
    parent = step % 8 == 7 ? DefaultGenome(kernel_template) : *child.genome;
    parent_source = station.Breed({{parent}, {}, {}, 0, 0, 0}).source;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds_per_step", static_cast<int>(1000 * seconds / kSteps));
  EXPECT_GE(drawn.size(), 5u);
  EXPECT_EQ(kept_edits, edits) << "edits re-apply after a change of parameters that they do not name";
}

INSTANTIATE_TEST_SUITE_P(All, TemplateProperties,
                         testing::Values("attention/naive.cu", "attention/tiled.cu", "attention/warp.cu", "attention/wmma.cu",
                                         "attention/mma.cu", "attention/mma_split.cu", "attention/wgmma.cu",
                                         "attention/wgmma_split.cu", "attention/wgmma_short.cu", "attention_causal_d128/mma.cu",
                                         "softmax/naive.cu", "softmax/block.cu", "softmax/warp.cu", "gemm/naive.cu",
                                         "gemm/tiled.cu", "layer_norm/naive.cu", "layer_norm/block.cu", "row_sum/naive.cu",
                                         "row_sum/block.cu", "transpose/naive.cu", "transpose/tiled.cu"));

// What a question finds is kept for all who ask, so that it must not depend on what was asked before; and none goes on for ever.
TEST(TemplateProposals, SpendNothingOfABudgetAroundThem) {
  const MutatorSet set;
  for (const char* file : {"attention/naive.cu", "softmax/block.cu", "gemm/tiled.cu", "conv2d_3x3_fp16/naive.cu",
                           "stencil_27_point/naive.cu", "histogram/naive.cu"}) {
    const Parent parent(LoadTemplate(ShareDirectory() / "kernel_templates" / file));
    for (const auto& mutator : set.all()) {
      const auto* source = dynamic_cast<const SourceMutator*>(mutator.get());
      if (source == nullptr) continue;
      const StepBudget around;
      const std::int64_t left = StepBudget::Left();
      source->Proposals(parent.Context());
      source->Refusals(parent.Context());
      EXPECT_EQ(StepBudget::Left(), left) << mutator->name() << " of " << file;
    }
  }
}

// Proposals of every mutator, not only those that a walk draws, make sources that parse.
TEST(TemplateProposals, AllParse) {
  const MutatorSet set;
  for (const char* file : {"attention/tiled.cu", "softmax/block.cu", "gemm/tiled.cu"}) {
    const Parent parent(LoadTemplate(ShareDirectory() / "kernel_templates" / file));
    for (const auto& mutator : set.all()) {
      const auto* source = dynamic_cast<const SourceMutator*>(mutator.get());
      if (!source) continue;
      const auto proposals = source->Proposals(parent.Context());
      // A few proposals are enough if there are many similar ones.
      for (std::size_t i = 0; i < proposals.size(); i += 1 + proposals.size() / 6) {
        const AppliedEdit applied =
            ApplyEdit(*parent.tree, parent.genome.parameters, MakeEdit(*parent.tree, source->name(), proposals[i]));
        EXPECT_EQ(applied.dropped, "");
        const auto tree = SharedRenderer().TreeOf(applied.text);
        EXPECT_TRUE(tree->errors().empty()) << source->name() << ": " << tree->errors().front();
      }
    }
  }
}

}  // namespace
}  // namespace evo
