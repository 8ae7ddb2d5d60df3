#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before it was seen how any of them is taken. None was changed since.
using BlindHistograms = ForeignKernelTest;

TEST_F(BlindHistograms, PrivateCounts) {
  Check("private_counts",
        {{"01_rgba_pixels"},
         {"02_shared_bins_of_words"},
         {"03_cell_counts"},
         {"04_bincount_template"},
         {"05_degrees_of_edges"},
         {"06_energy_spectrum", "shell_sums: elements of `spectrum` are no integers of 32 or 64 bits that count"},
         // Written after private_sums was added.
         {"07_kmer_counts"}});
}

TEST_F(BlindHistograms, PrivateSums) {
  Check("private_sums", {{"01_rgba_pixels", "(silence)"},
                         {"02_shared_bins_of_words", "(silence)"},
                         {"03_cell_counts", "(silence)"},
                         {"04_bincount_template", "(silence)"},
                         {"05_degrees_of_edges", "(silence)"},
                         {"06_energy_spectrum"},
                         {"07_kmer_counts", "(silence)"}});
}

}  // namespace
}  // namespace evo
