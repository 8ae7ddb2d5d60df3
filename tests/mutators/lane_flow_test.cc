#include "mutators/analysis/block_runs/lane_flow.h"

#include <gmock/gmock.h>

#include "mutators/analysis/source/source_query.h"
#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;

// Four lanes: `even` is true for two of them, `first` for one, `turns` for all and three times.
class Recorded : public LaneStatements {
 public:
  explicit Recorded(const std::string& body, std::int64_t most_steps = 1000)
      : parent_(PlainKernel(body, "int a, bool even, bool first, bool turns")),
        flow_(*parent_.tree, *this, refusal_, most_steps) {
    for (const int function : Functions(*parent_.tree)) flow_.RunKernel(parent_.tree->node(function).children.back(), 4);
  }
  // What was computed, with the lanes that did.
  std::vector<std::string> computed;
  const std::string& refusal() const { return refusal_.why(); }
  // Whether each time all lanes computed that had not returned.
  bool whole = true;

 private:
  bool Enter(int, const LaneMask&) override { return true; }
  void Declare(int, const LaneMask&) override {}
  void Compute(int expression, const LaneMask& mask) override {
    std::string lanes;
    for (std::size_t lane = 0; lane < mask.size(); ++lane) lanes += mask[lane] ? std::to_string(lane) : "";
    computed.push_back(std::string(parent_.tree->Text(expression)) + " " + lanes);
    whole = whole && flow_.IsWholeBlock(mask);
  }
  LaneMask Where(int condition, const LaneMask& mask) override {
    const std::string_view text = parent_.tree->Text(condition);
    LaneMask result = mask;
    if (text == "even") result[1] = result[3] = 0;
    if (text == "first") result[1] = result[2] = result[3] = 0;
    if (text == "turns" && ++turns_ > 3) result = LaneMask(mask.size(), 0);
    return result;
  }

  Parent parent_;
  Refusal refusal_;
  int turns_ = 0;
  LaneFlow flow_;
};

TEST(LaneFlow, TakesBothBranches) {
  EXPECT_THAT(Recorded("if (even) a = 1; else a = 2;\na = 3;\n").computed, ElementsAre("a = 1; 02", "a = 2; 13", "a = 3; 0123"));
}

TEST(LaneFlow, LanesLeaveLoopsAndComeBack) {
  EXPECT_THAT(Recorded("while (turns) {\n  if (even) continue;\n  a = 1;\n  break;\n}\na = 2;\n").computed,
              ElementsAre("a = 1; 13", "a = 2; 0123"));
  EXPECT_THAT(Recorded("for (a = 0; turns; ++a) {\n  if (first) break;\n}\n").computed,
              ElementsAre("a = 0 0123", "++a 123", "++a 123", "++a 123"));
  EXPECT_THAT(Recorded("do a = 1; while (first && turns);\na = 2;\n", 6).refusal(), "its loops do not end, or not soon");
}

TEST(LaneFlow, KnowsWhoHasReturned) {
  const Recorded returned("if (even) return;\na = 1;\n");
  EXPECT_THAT(returned.computed, ElementsAre("a = 1; 13"));
  EXPECT_TRUE(returned.whole);
  EXPECT_FALSE(Recorded("if (even) a = 1;\n").whole);
  EXPECT_FALSE(Recorded("while (turns) {\n  if (even) break;\n  a = 1;\n}\n").whole);
}

TEST(LaneFlow, RefusesOtherStatements) {
  EXPECT_EQ(Recorded("switch (a) {\n  case 1: a = 2;\n}\n").refusal(), "`switch (a) {` is not understood");
}

}  // namespace
}  // namespace evo
