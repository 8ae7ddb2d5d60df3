// Matrix products whose tiles come by tensor maps must compile for a GPU and be right on the cpu device.
#include "kernel_templates/renderer.h"
#include "tests/mutators/children_bench.h"

namespace evo {
namespace {

// With every access checked, in blocks of one tile and in one block that computes all tiles.
TEST_F(ChildrenTest, OfProductsByTensorMaps) {
  const auto tiles = [](std::int64_t m, std::int64_t n, std::int64_t stages) {
    return Parameters{{"TILE_M", m}, {"TILE_N", n}, {"STAGES", stages}};
  };
  const std::filesystem::path samples = EVO_SAMPLE_TASKS, shipped = ShareDirectory() / "kernel_templates";
  constexpr auto halves = "warp_group_contraction", bytes = "integer_warp_group_contraction";
  const std::vector<std::tuple<const char*, std::filesystem::path, const char*, Parameters>> places{
      {halves, samples / "sample_half_product", "flat", tiles(128, 128, 3)},
      {halves, samples / "sample_half_product", "columns", tiles(256, 128, 2)},
      {halves, shipped / "gemm_fp16", "naive", tiles(128, 256, 4)},
      {halves, shipped / "linear_gelu_bf16", "naive", tiles(128, 128, 5)},
      {bytes, samples / "sample_byte_layer", "flat", tiles(128, 128, 3)},
      {bytes, samples / "sample_byte_layer", "pointers", tiles(256, 128, 2)},
      {bytes, samples / "sample_byte_gram", "images", tiles(128, 128, 6)},
      {bytes, samples / "sample_mixed_layer", "activations", tiles(128, 256, 3)},
      {bytes, samples / "sample_word_product", "dp4a", tiles(256, 128, 3)},
      {bytes, shipped / "gemm_int8", "naive", tiles(128, 256, 4)}};
  for (const auto& [name, folder, kernel, setting] : places) {
    SCOPED_TRACE(fmt::format("{}/{}", folder.filename().string(), kernel));
    const auto children = ChildrenOf(name, LoadTemplate(folder / fmt::format("{}.cu", kernel)).text);
    ASSERT_EQ(children.size(), 4u);
    const std::string child = RenderParameters(children[2], setting);
    const CompileResult compiled = CompileWith(*nvrtc_, child);
    EXPECT_EQ(compiled.message, "") << child;
    EXPECT_EQ(compiled.facts.spill_bytes, 0) << compiled.log;
    EXPECT_EQ(compiled.log.find("serialized"), std::string::npos) << compiled.log;
    for (const char* blocks : {"RESIDENT", "1"}) {
      std::string text = child;
      for (int line = 0; line < 2; ++line) text = With(text, ", RESIDENT)) block", fmt::format(", {}))  block", blocks));
      const auto failure = Judge(LoadTask(folder), text, true);
      EXPECT_FALSE(failure) << blocks << ": " << failure->message << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace evo
