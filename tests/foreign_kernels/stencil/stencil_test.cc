#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignStencils = ForeignKernelTest;

TEST_F(ForeignStencils, StencilRows) {
  Check("stencil_rows",
        {{"01_jacobi_index_macro", "jacobi: what the macro `IDX(i, j)` does in it is not understood"},
         {"02_heat_index_function", "evolve_kernel: `DX2`, which is not understood"},
         {"03_seven_point_macro", "stencil7: what the macro `Index3D(nx, ny, i, j, k)` does in it is not understood"},
         {"04_wave_two_levels"},
         {"05_box_blur_of_bytes"},
         {"06_gaussian_clamp_function"},
         {"07_sobel"},
         {"08_variable_coefficients", "diffuse: it is a function template"},
         {"09_twenty_seven_point"},
         {"10_loop_over_planes", "heat3d: a thread stores more than one element"},
         {"11_planes_in_registers", "register_pipeline: a thread stores more than one element"},
         {"12_periodic", "advect: which neighbour `q[j * nx + w]` is does not follow from its loops"},
         {"13_line_in_shared_memory",
          "stencil_1d: its threads work together already: barriers, shuffles, atomics or shared memory"}});
}

}  // namespace
}  // namespace evo
