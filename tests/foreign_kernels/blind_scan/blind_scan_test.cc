#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before it was seen how any of them is taken. None was changed since.
using BlindScans = ForeignKernelTest;

TEST_F(BlindScans, LookBackScan) {
  Check("look_back_scan", {{"01_course_three_kernels"},
                           {"02_row_offsets_one_block"},
                           {"03_running_maximum", "the launches: it calls fmaxf, which is not known here"},
                           {"04_exclusive_items_template", "the launches: Y has elements of long long, and X of int"},
                           {"05_compaction_with_offsets"},  // the one launch that scans flags of a block
                           // Written after the recognisers had been extended for those above.
                           {"06_bucket_starts"}});
}

}  // namespace
}  // namespace evo
