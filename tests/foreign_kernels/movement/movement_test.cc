#include <set>

#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Which operators must apply to a kernel. Of each proven operator that applies, named or not, the first children are checked.
struct MovementKernel {
  std::string name;
  std::vector<std::string> operators;
};

class ForeignMovements : public ForeignKernelTest {
 protected:
  static std::string TextOf(const std::string& name) {
    return LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (name + ".cu")).text;
  }

  // How many children of an operator are checked. With EVO_ALL_CHILDREN all are, which takes an hour.
  static std::size_t Checked(std::string_view name, std::size_t proposals) {
    return std::getenv("EVO_ALL_CHILDREN") != nullptr ? proposals
                                                      : std::min<std::size_t>(proposals, name == "coalesce_exchange" ? 3 : 1);
  }

  void CheckKernel(const MovementKernel& kernel) {
    const std::string text = TextOf(kernel.name);
    const Parent parent(ParseTemplate("kernel", text));
    for (const std::string& error : parent.tree->errors()) EXPECT_THAT(error, testing::StartsWith("/")) << "not in a header";
    const MutatorSet set;
    std::set<std::string> applies;
    std::string table;
    for (const auto& [name, weight] : set.DefaultOperators()) {
      const auto* const mutator = dynamic_cast<const SourceMutator*>(set.Find(name));
      if (mutator == nullptr || mutator->promise() == Promise::kUnproven) continue;
      const auto proposals = mutator->Proposals(parent.Context());
      if (proposals.empty()) continue;
      applies.insert(name);
      table += fmt::format(" {}:{}", name, proposals.size());
      SCOPED_TRACE(name);
      for (std::size_t i = 0; i < Checked(name, proposals.size()); ++i) CheckChild(*mutator, text, proposals[i], text);
    }
    if (std::getenv("EVO_SHOW_TABLE") != nullptr) std::cout << fmt::format("{:<28}{}", kernel.name, table) << std::endl;
    for (const std::string& name : kernel.operators) EXPECT_TRUE(applies.contains(name)) << name;
  }
};

TEST_F(ForeignMovements, ProvenOperators) {
  const std::vector<MovementKernel> kernels{
      {"01_transpose_swapped",
       {"block_order", "cache_hint_store", "coalesce_exchange", "grid_stride", "read_only_load", "register_tile", "vector_load",
        "work_per_thread"}},
      {"02_transpose_tile", {"block_order", "coalesce_exchange", "grid_stride"}},
      {"03_particles_to_arrays", {"cache_hint_store", "grid_stride", "register_tile", "vector_load", "work_per_thread"}},
      {"04_grey_of_rgb",
       {"block_order", "cache_hint_store", "coalesce_exchange", "grid_stride", "register_tile", "vector_load",
        "work_per_thread"}},
      {"05_gather_rows", {"grid_stride", "register_tile", "vector_load", "work_per_thread"}},
      {"06_max_pool",
       {"cache_hint_store", "grid_stride", "read_only_load", "strip_mine", "thread_per_row_to_warp", "work_per_thread"}},
      {"07_bilinear_upsample",
       {"block_order", "cache_hint_store", "coalesce_exchange", "grid_stride", "read_only_load", "register_tile", "vector_load",
        "work_per_thread"}},
      {"08_im2col", {"cache_hint_store", "grid_stride", "index_strength", "read_only_load", "strip_mine"}},
      {"09_rotary", {"block_order", "cache_hint_store", "grid_stride", "read_only_load"}},
      {"10_saxpy_stride",
       {"cache_hint_store", "grid_stride", "index_strength", "prefetch_next", "read_only_load", "register_tile", "strip_mine",
        "vector_load", "work_per_thread"}},
      {"11_adam", {"grid_stride", "register_tile", "vector_load", "work_per_thread"}},
      {"12_gelu_pairs", {"cache_hint_store", "grid_stride", "register_tile", "vector_load", "work_per_thread"}},
      {"13_concatenate",
       {"block_order", "cache_hint_store", "coalesce_exchange", "grid_stride", "register_tile", "vector_load",
        "work_per_thread"}},
      {"14_nchw_to_nhwc",
       {"cache_hint_store", "coalesce_exchange", "grid_stride", "read_only_load", "register_tile", "vector_load",
        "work_per_thread"}},
      {"15_pad_bytes",
       {"block_order", "cache_hint_store", "coalesce_exchange", "grid_stride", "read_only_load", "register_tile", "vector_load",
        "work_per_thread"}},
      {"16_csr_scalar",
       {"accumulator_split", "cache_hint_store", "grid_stride", "index_strength", "prefetch_next", "read_only_load", "strip_mine",
        "thread_per_row_to_warp", "vector_load", "work_per_thread"}},
      {"17_bodies",
       {"cache_hint_store", "grid_stride", "index_strength", "prefetch_next", "read_only_load", "strip_mine", "work_per_thread"}},
      {"18_silu_and_mul", {"grid_stride", "strip_mine"}},
      {"19_invert_bytes",
       {"cache_hint_store", "grid_stride", "read_only_load", "register_tile", "vector_load", "work_per_thread"}},
  };
  std::vector<std::string> listed, present;
  for (const MovementKernel& kernel : kernels) {
    SCOPED_TRACE(kernel.name);
    listed.push_back(kernel.name);
    CheckKernel(kernel);
  }
  for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
    if (entry.path().extension() == ".cu") present.push_back(entry.path().stem().string());
  }
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(present));
}

}  // namespace
}  // namespace evo
