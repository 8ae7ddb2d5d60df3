#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written without a look at the recognisers. None was changed since.
using BlindMovements = ForeignKernelTest;

TEST_F(BlindMovements, VectorLoad) {
  Check("vector_load", {{"01_split_heads", "(silence)"},
                        {"02_normalise_planes", "(silence)"},
                        {"03_flip_columns", "(silence)"},
                        {"04_momentum_loop"},
                        {"05_lattice_streaming", "(silence)"},
                        {"06_pixel_shuffle"}});
}

TEST_F(BlindMovements, CoalesceExchange) {
  Check("coalesce_exchange", {{"01_split_heads", "(silence)"},
                              {"02_normalise_planes", "(silence)"},
                              {"03_flip_columns"},
                              {"04_momentum_loop", "(silence)"},
                              {"05_lattice_streaming", "stream: it is not known to load along one axis"},
                              {"06_pixel_shuffle", "it loads at an address that is no sum of its indices times sizes"}});
}

}  // namespace
}  // namespace evo
