#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignHistograms = ForeignKernelTest;

TEST_F(ForeignHistograms, PrivateCounts) {
  Check("private_counts", {{"01_bytes_per_thread"},
                           {"02_stride_loop"},
                           {"03_shared_already", "histo_shared: its threads wait for each other already"},
                           {"04_letters"},
                           {"05_floats_binned"},
                           {"06_image_channels"},
                           {"07_range_checks"},
                           {"08_contiguous_sections"},
                           {"09_warp_private", "perWarp: its threads wait for each other already"},
                           {"10_templates"},
                           {"11_helper_function"},
                           {"12_joint_histogram"}});
}

}  // namespace
}  // namespace evo
