#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignReductions = ForeignKernelTest;

TEST_F(ForeignReductions, ReduceGrid) {
  Check(
      "reduce_grid",
      {{"01_interleaved_modulo"},
       {"02_strided_index"},
       {"03_sequential_twice", "shmem_reduce_kernel: it is not launched by exactly one launch line"},
       {"04_first_add_at_load",
        "reduce3: `mySum = mySum + sdata[tid + s]` is neither an element nor a combination of partial results"},
       {"05_unrolled_last_warp", "reduce4: `warpReduce(s, t);` is not understood"},
       {"06_template_block_size", "reduce6: it is a function template"},
       {"07_warp_shuffles",
        "deviceReduceKernel: `blockReduceSum(sum)` is neither an element nor a combination of partial results"},
       {"08_dot_product"},
       {"09_maximum", "find_max: it is a function template; max_of_blocks: nothing that it loads from global memory is combined"},
       {"10_cooperative_groups", "sum_kernel_block: nothing that it loads from global memory is combined"},
       {"11_mean_of_image", "meanIntensity: its blocks have more than one dimension"},
       {"12_argmax", "argmax: its work depends on `x[i]`"},
       {"13_float4_loads", "sumVec4: `v.x` is neither an element nor a combination of partial results"},
       {"15_warp_without_barriers", "race"},
       {"14_squared_error", "mse_kernel: its __launch_bounds__ rule out other blocks"}});
}

}  // namespace
}  // namespace evo
