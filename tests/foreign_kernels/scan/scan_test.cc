#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignScans = ForeignKernelTest;

TEST_F(ForeignScans, LookBackScan) {
  Check("look_back_scan",
        {{"01_three_kernels_hillis_steele"},
         {"02_blelloch_padded"},
         {"03_kogge_stone_double_buffer"},
         {"04_brent_kung"},
         {"05_coarsened_three_phases"},
         {"06_warp_shuffles"},
         {"07_same_kernel_on_two_levels"},
         {"08_one_block"},
         {"09_recursive_doubling_in_memory", "the launches: they are in a loop, such as one launch for each distance"},
         {"10_segmented", "the launches: data decides `heads[i]`"},
         {"11_exclusive_macros"},
         {"12_atomic_carry"},
         {"13_two_elements_a_thread"},
         {"14_tiles_of_a_warp"},
         {"15_one_block_goes_along"},
         {"16_reduce_then_scan"},
         {"17_functor_and_flags"},
         {"18_chained_by_tickets"}});
}

}  // namespace
}  // namespace evo
