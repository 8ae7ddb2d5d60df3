#include <gmock/gmock.h>

#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"
#include "mutators/parallelism/stencils/stencil_statements.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

// A stencil that leaves the edges alone. It has names that the child would like to use.
constexpr char kRelax[] = R"(// evo:launch relax(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
#define results 4
__global__ void relax(const float* u, float* v, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int j = blockIdx.y * 8 + threadIdx.y;
  const float around = 0.25f;
  if (x < 1 || x >= width - 1 || j < 1 || j >= height - 1) return;
  const int at = j * width + x;
  const float sum = u[at - width] + u[at + width] + u[at - 1] + u[at + 1];
  v[at] = around * sum;
}
)";

// The parts of which the text of a walking stencil is made.
class StencilWriterTest : public testing::Test {
 protected:
  StencilWriterTest()
      : parent(kRelax),
        found(std::get<Stencil>(AsStencil(parent.Context(), Functions(*parent.tree).front()))),
        names(*parent.tree, found) {}

  std::vector<std::string> Texts(const std::vector<int>& statements) const {
    std::vector<std::string> texts;
    for (const int statement : statements) texts.emplace_back(parent.tree->Text(statement));
    return texts;
  }

  const Parent parent;
  const Stencil found;
  const StencilNames names;
  const StencilParameters parameters{"THREADS_X", "THREADS_Y", "ELEMENTS", "ROWS", "STEPS", "AHEAD"};
};

TEST_F(StencilWriterTest, CoordinatesKeepTheirNames) {
  EXPECT_EQ(names.Coordinate(0), "x");
  EXPECT_EQ(names.Coordinate(1), "j");
  EXPECT_THAT(Texts(names.declarations()), ElementsAre(StartsWith("const int x ="), StartsWith("const int j =")));
}

TEST_F(StencilWriterTest, NamesThatAreTakenAreNotUsed) {
  EXPECT_EQ(names.Window(found.buffers[0]), "around_2");
  EXPECT_EQ(names.Results(found.stored[0]), "results_2");
  EXPECT_EQ(names.Counter("i"), "i");
  EXPECT_EQ(names.Counter("j"), "j_2");  // a coordinate
}

TEST_F(StencilWriterTest, KeepsWhatIsComputedOfNeighbours) {
  const StencilStatements kept(*parent.tree, found, names, true);
  EXPECT_THAT(Texts(kept.common()), ElementsAre("const float around = 0.25f;"));
  EXPECT_THAT(Texts(kept.in_loop()), ElementsAre(StartsWith("const float sum ="), StartsWith("v[at] =")));
}

TEST_F(StencilWriterTest, ElementsAlignTheGrid) {
  const StencilLayout one(found, names, parameters, false, false), several(found, names, parameters, true, false);
  EXPECT_EQ(one.Grid(), "ceil_div(max(W - 2, 1), THREADS_X), ceil_div(max(H - 2, 1), STEPS)");
  EXPECT_EQ(several.Grid(), "ceil_div(max(W - 1, 1), THREADS_X * ELEMENTS), ceil_div(max(H - 2, 1), STEPS)");
  EXPECT_EQ(one.Registers(), "(AHEAD + 3) * 3");
  EXPECT_EQ(several.Registers(), "(AHEAD + 3) * (ELEMENTS + 2)");
}

TEST_F(StencilWriterTest, PastAnEdgeIsTheNearestElement) {
  const StencilLayout layout(found, names, parameters, true, false);
  EXPECT_EQ(layout.Existing("j - 1", 1), "min(max(j - 1, 0), height - 1)");
  EXPECT_EQ(layout.Element("x"), "j * width + x");
}

}  // namespace
}  // namespace evo
