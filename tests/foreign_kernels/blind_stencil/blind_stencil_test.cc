#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written without a look at the recognisers. None was changed since.
using BlindStencils = ForeignKernelTest;

TEST_F(BlindStencils, StencilRows) {
  forms_ = 2;
  Check("stencil_rows", {{"01_nine_constants"},
                         {"02_chip_temperature"},
                         {"03_fields_staggered"},
                         {"04_erode"},
                         {"05_laplacian_ghost"},
                         {"06_gradient_tensor"},
                         {"07_jacobi_shared"}});
}

TEST_F(BlindStencils, StencilSums) {
  Check("stencil_sums", {{"01_nine_constants"},
                         {"02_chip_temperature"},
                         {"03_fields_staggered"},
                         {"04_erode"},
                         {"05_laplacian_ghost"},
                         {"06_gradient_tensor"},
                         {"07_jacobi_shared"}});
}

}  // namespace
}  // namespace evo
