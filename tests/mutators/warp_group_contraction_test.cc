#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// With the larger tile to begin with; the other child has the smaller one.
std::string ByWarpGroups(const std::string& source) {
  const auto children = ChildrenOf("warp_group_contraction", source);
  EXPECT_EQ(children.size(), 2u) << source;
  return children.empty() ? "" : children.front();
}

TEST(WarpGroupContraction, BringsParametersAndBlocks) {
  const std::string child = ByWarpGroups(kHalves);
  if (std::getenv("EVO_DUMP")) std::ofstream(std::getenv("EVO_DUMP")) << child;
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param TILE_M 64 128 192 256\n"), HasSubstr("// evo:param TILE_N 128 256\n"),
                           HasSubstr("// evo:param STAGES 3 4 5 6\n"), HasSubstr("// evo:requires sm_90a\n"),
                           HasSubstr("// evo:constraint STAGES * (TILE_M + TILE_N) * 128 <= 232448\n")));
}

}  // namespace
}  // namespace evo
