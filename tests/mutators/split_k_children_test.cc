// Matrix products whose sums are divided among blocks must compile for a GPU and be right on the cpu device.
#include "tests/mutators/children_bench.h"

namespace evo {
namespace {

// With every access checked, and results of two launches compared bit by bit, at sizes of one part, of parts of one element, of
// more parts than blocks and of more blocks than parts.
TEST_F(ChildrenTest, OfDividedSums) {
  const std::filesystem::path samples = EVO_SAMPLE_TASKS, shipped = ShareDirectory() / "kernel_templates";
  const auto with = [](Parameters setting, std::int64_t blocks) {
    setting["SPLIT_BLOCKS"] = blocks;
    return setting;
  };
  const auto warps = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Parameters{{"TILE_M", m}, {"TILE_N", n}, {"TILE_K", k}, {"WARPS_M", 1}, {"WARPS_N", 1}, {"STAGES", 2}};
  };
  constexpr auto tile = "split_k_tile", floats = "split_k_split_tensor", halves = "split_k_tensor", groups = "split_k_warp_group";
  const std::vector<std::tuple<const char*, std::filesystem::path, const char*, Parameters>> places{
      {tile, samples / "sample_product", "flat", with(kRingSettings[1], 66)},
      {tile, samples / "sample_product", "columns", with(kRingSettings[2], 2112)},
      {tile, shipped / "linear_gelu", "naive", with(kRingSettings[1], 264)},
      {tile, shipped / "gemm_int8", "naive", with(kTileSettings[1], 264)},
      {tile, shipped / "gemm_large_k", "naive", with(kRingSettings[2], 66)},
      {floats, samples / "sample_product", "flat", with(warps(32, 32, 16), 132)},
      {floats, samples / "sample_product", "pointers", with(warps(16, 32, 16), 264)},
      {floats, shipped / "linear_gelu", "naive", with(warps(32, 64, 32), 528)},
      {floats, shipped / "gemm_tall_skinny", "naive", with(warps(64, 32, 16), 264)},
      {halves, samples / "sample_half_product", "columns", with(warps(16, 32, 16), 264)},
      {halves, samples / "sample_half_layer", "relu", with(warps(32, 32, 32), 66)},
      {groups,
       samples / "sample_half_product",
       "columns",
       {{"TILE_M", 64}, {"GROUP_ROWS", 64}, {"SPLIT_BLOCKS", 132}, {"STAGES", 3}}}};
  const Case many{"many", {{"M", 33}, {"N", 20}, {"K", 700}}};
  for (const auto& [name, folder, kernel, setting] : places) {
    SCOPED_TRACE(fmt::format("{} of {}/{}", name, folder.filename().string(), kernel));
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const SourceMutator& mutator = SourceMutatorNamed(name);
    const auto proposals = mutator.Proposals(parent.Context());
    ASSERT_FALSE(proposals.empty());
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposals.front())};
    Task task = LoadTask(folder);
    if (folder == samples / "sample_product") task.held_out_cpu.push_back(many);
    ExpectRight(task, parent, setting);
  }
}

// Tiles of an output of few columns, as a search begins with them.
TEST_F(ChildrenTest, OfNarrowProducts) {
  const std::filesystem::path folder = ShareDirectory() / "kernel_templates" / "gemm_tall_skinny";
  for (const char* name : {"tile_contraction", "split_tensor_contraction"}) {
    SCOPED_TRACE(name);
    Parent parent(LoadTemplate(folder / "naive.cu"));
    const SourceMutator& mutator = SourceMutatorNamed(name);
    parent.genome.edits = {mutator.EditOf(parent.Context(), mutator.Proposals(parent.Context()).at(2))};
    ExpectRight(LoadTask(folder), parent, {});
    EXPECT_THAT(parent.rendering.source, testing::HasSubstr("#define TILE_N 32\n"));
  }
}

}  // namespace
}  // namespace evo
