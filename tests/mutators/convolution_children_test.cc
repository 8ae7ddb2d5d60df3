// Children of convolutions must compile for a GPU and pass the gate on the cpu device.
#include "tests/mutators/children_bench.h"

namespace evo {
namespace {

using ConvolutionChildrenTest = ChildrenTest;

// Convolutions on tensor cores, with every access checked: flat indices, taps that are tested or skipped, more taps than bits of
// a word, a bias before the sum, both types, floats, one row and one tap, sizes that are no multiples of tiles.
TEST_F(ConvolutionChildrenTest, OnTensorCores) {
  const auto tiles = [](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t warps_m, std::int64_t warps_n) {
    return Parameters{{"TILE_M", m}, {"TILE_N", n}, {"TILE_K", k}, {"WARPS_M", warps_m}, {"WARPS_N", warps_n}};
  };
  const auto split_tiles = [](const std::array<std::int64_t, 7>& sizes) {
    const auto& [m, n, k, warps_m, warps_n, stages, blocks] = sizes;
    return Parameters{{"TILE_M", m},        {"TILE_N", n},      {"TILE_K", k},     {"WARPS_M", warps_m},
                      {"WARPS_N", warps_n}, {"STAGES", stages}, {"BLOCKS", blocks}};
  };
  const std::filesystem::path samples = EVO_SAMPLE_TASKS, shipped = ShareDirectory() / "kernel_templates";
  constexpr auto tiled = "convolution_tiles", split = "split_tensor_convolution";
  const std::vector<std::tuple<const char*, std::filesystem::path, const char*, Parameters>> places{
      {tiled, samples / "sample_convolution", "flat", tiles(32, 64, 16, 1, 2)},
      {tiled, samples / "sample_convolution", "tested", {}},
      {tiled, samples / "sample_convolution_layer", "relu", tiles(32, 64, 64, 2, 1)},
      {tiled, samples / "sample_convolution_stem", "stem", tiles(32, 128, 32, 1, 4)},
      {tiled, shipped / "conv2d_3x3_fp16", "naive", tiles(32, 64, 32, 1, 2)},
      {split, shipped / "conv2d_3x3", "naive", split_tiles({32, 64, 32, 1, 2, 2, 1})},
      {split, shipped / "conv1d", "naive", split_tiles({64, 64, 16, 2, 1, 3, 2})},
      {split, shipped / "conv2d_pointwise", "naive", split_tiles({32, 128, 16, 2, 2, 4, 3})}};
  for (const auto& [name, folder, kernel, setting] : places) {
    SCOPED_TRACE(fmt::format("{} of {}/{}", name, folder.filename().string(), kernel));
    const Task task = LoadTask(folder);
    Parent parent(LoadTemplate(folder / fmt::format("{}.cu", kernel)));
    const SourceMutator& mutator = SourceMutatorNamed(name);
    const auto proposals = mutator.Proposals(parent.Context());
    EXPECT_GE(proposals.size(), 2u);
    if (proposals.empty()) continue;
    parent.genome.edits = {mutator.EditOf(parent.Context(), proposals.front())};
    ExpectRight(task, parent, setting);
  }
}

}  // namespace
}  // namespace evo
