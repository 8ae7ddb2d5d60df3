#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written without a look at the recognisers. None was changed since. Those behind
// the comments are of another kind.
using BlindStencils = ForeignKernelTest;

TEST_F(BlindStencils, StencilRows) {
  forms_ = 2;
  Check("stencil_rows", {{"01_nine_constants"},
                         {"02_chip_temperature"},
                         {"03_fields_staggered"},
                         {"04_erode"},
                         {"05_laplacian_ghost"},
                         {"06_gradient_tensor"},
                         {"07_jacobi_shared"},
                         // Written together with what they need.
                         {"08_view_operator"},
                         {"09_interior_cells"}});
}

TEST_F(BlindStencils, StencilSums) {
  Check("stencil_sums", {{"01_nine_constants", "`REAL` is no sum of neighbours"},
                         {"02_chip_temperature", "it reads `power[idx]`, which is no neighbour"},
                         {"03_fields_staggered", "fdtd_step3: it reads `hz[i * ny + j]`, which is no neighbour"},
                         {"04_erode", "src_data_2 has no elements of float"},
                         {"05_laplacian_ghost"},
                         {"06_gradient_tensor", "it reads neighbours of several buffers, or stores to several"},
                         {"07_jacobi_shared"},
                         // Written together with what they need.
                         {"08_view_operator"},
                         {"09_interior_cells"}});
}

}  // namespace
}  // namespace evo
