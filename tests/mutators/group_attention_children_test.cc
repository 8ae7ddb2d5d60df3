// Attentions by products of warp groups must compile for a GPU and be right on the cpu device.
#include "tests/mutators/children_bench.h"

namespace evo {
namespace {

Parameters GroupsOf(std::int64_t keys, std::int64_t groups, std::int64_t stages, std::int64_t blocks) {
  return {{"TILE_KEYS", keys}, {"GROUPS", groups}, {"STAGES", stages}, {"BLOCKS", blocks}};
}

class GroupAttentionTest : public ChildrenTest {
 protected:
  void ExpectRightByGroups(const Task& task, const std::string& text, const Parameters& setting) {
    const SourceMutator& mutator = SourceMutatorNamed("warp_group_attention");
    for (const std::size_t start : {0u, 1u}) {
      Parent parent(ParseTemplate("naive", text));
      const auto proposals = mutator.Proposals(parent.Context());
      ASSERT_EQ(proposals.size(), 2u) << text;
      parent.genome.edits = {mutator.EditOf(parent.Context(), proposals[start])};
      ExpectRight(task, parent, setting);
    }
  }
  const std::filesystem::path shipped_ = ShareDirectory() / "kernel_templates";
};

// With every access checked: lengths that are no multiples of tiles, and rings of each length.
TEST_F(GroupAttentionTest, IsRightAtAllSizes) {
  const Task task = LoadTask(shipped_ / "attention");
  const std::string text = LoadTemplate(shipped_ / "attention" / "naive.cu").text;
  ExpectRightByGroups(task, text, {});
  for (const Parameters& setting : {GroupsOf(64, 1, 2, 1), GroupsOf(128, 2, 3, 1), GroupsOf(64, 3, 4, 1)})
    ExpectRightByGroups(task, text, setting);
}

TEST_F(GroupAttentionTest, IsRightForAKernelOfAnotherStyle) {
  const auto folder = std::filesystem::path(EVO_SAMPLE_TASKS) / "sample_cross_attention";
  ExpectRightByGroups(LoadTask(folder), LoadTemplate(folder / "context.cu").text, GroupsOf(128, 1, 2, 1));
}

TEST_F(GroupAttentionTest, IsRightForCausalRows) {
  const Task task = LoadTask(shipped_ / "attention_causal");
  ExpectRightByGroups(task, LoadTemplate(shipped_ / "attention_causal" / "naive.cu").text, GroupsOf(64, 2, 2, 1));
}

// A factor's sign goes to the queries, and with a factor of zero all keys that are seen weigh the same.
TEST_F(GroupAttentionTest, IsRightForAnyFactor) {
  const std::string text = LoadTemplate(shipped_ / "attention_causal" / "naive.cu").text;
  for (const char* factor : {"-1", "0"}) {
    Task task = LoadTask(shipped_ / "attention_causal");
    for (Argument& argument : task.arguments) {
      if (argument.name == "scale") argument.value = Expression::Parse(factor);
    }
    ExpectRightByGroups(task, text, GroupsOf(64, 1, 2, 1));
  }
}

// Rows of 128 elements of bfloat16, heads that share keys, and an output of floats.
TEST_F(GroupAttentionTest, IsRightForLongRowsAndOtherTypes) {
  ExpectRightByGroups(LoadTask(shipped_ / "attention_gqa"), LoadTemplate(shipped_ / "attention_gqa" / "naive.cu").text,
                      GroupsOf(64, 1, 2, 1));
  Task task = LoadTask(shipped_ / "attention");
  task.name += "_bf16";
  task.reference = With(task.reference, "#define BF16 0", "#define BF16 1");
  for (Argument& argument : task.arguments) {
    if (argument.dtype == Dtype::kF16) argument.dtype = argument.name == "O" ? Dtype::kF32 : Dtype::kBF16;
  }
  task.small.sizes["D"] = 128;
  for (Case& held_out : task.held_out_cpu) held_out.sizes["D"] = 128;
  std::string text = LoadTemplate(shipped_ / "attention" / "naive.cu").text;
  text = With(With(text, "#define BF16 0", "#define BF16 1"), "#define HEAD_DIM 64", "#define HEAD_DIM 128");
  ExpectRightByGroups(task, With(With(text, "Element* O", "float* O"), "FromFloat(sums[c])", "sums[c]"), GroupsOf(64, 1, 2, 1));
}

}  // namespace
}  // namespace evo
