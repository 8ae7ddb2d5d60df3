#include <gmock/gmock.h>

#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(WorkPerThread, DividesTheGridAndRepeatsTheBody) {
  const auto children = ChildrenOf("work_per_thread", Rows("  out[row] = in[row];\n"));
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_NE(children[0].find("grid(ceil_div(N, B * 2))"), std::string::npos);
  EXPECT_NE(children[0].find(
                "  for (int item = 0; item < 2; ++item) {\n    const int row = (blockIdx.x * 2 + item) * B + threadIdx.x;\n"
                "    if (row >= n) continue;\n    out[row] = in[row];\n  }\n}"),
            std::string::npos)
      << children[0];
  EXPECT_NE(children[3].find("const int row = (blockIdx.x * B + threadIdx.x) * 4 + item;"), std::string::npos) << children[3];
}

TEST(WorkPerThread, LeavesWhatCannotBeRepeated) {
  const std::string rows = Rows("  out[row] = in[row];\n");
  for (const std::string& text :
       {With(rows, "  if (row >= n) return;\n", ""),                 // nothing keeps out elements past the end
        With(rows, "  out[row]", "  __syncthreads();\n  out[row]"),  // threads that skip an item would be waited for
        With(rows, "  out[row]", "  for (int i = 0; i < m; ++i) if (in[i] < 0.0f) return;\n  out[row]"),
        With(rows, "  out[row]", "  in += m;\n  out[row]"),  // the second item would start from there
        With(rows, "in[row]", "in[row + blockIdx.x]"), With(rows, "in[row]", "in[row + gridDim.x]")}) {
    EXPECT_THAT(ChildrenOf("work_per_thread", text), IsEmpty()) << text;
  }
}

// The second item would find what the first one left there.
TEST(WorkPerThread, LeavesVariablesOfTheThreadThatTheItemsWouldShare) {
  const std::string rows = Rows("  out[row] = in[row];\n");
  const auto before = [&](const std::string& declared, const std::string& change) {
    return With(With(rows, "  const int row", declared + "  const int row"), "  out[row]", change + "  out[row]");
  };
  EXPECT_THAT(ChildrenOf("work_per_thread", before("  float s[2];\n", "")), SizeIs(4));
  for (const std::string& text :
       {before("  float s = 0.0f;\n", "  s += in[row];\n"), before("  float s[2] = {0.0f, 0.0f};\n", "  s[1] += in[row];\n"),
        before("  float2 s = make_float2(0.0f, 0.0f);\n", "  s.x += in[row];\n"),
        before("  float s[2][2] = {};\n", "  for (int i = 0; i < 2; ++i) s[i][1] += in[row];\n"),
        before("  float s = 0.0f;\n  float* p = &s;\n", "  *p += in[row];\n"),
        before("  float s = 0.0f;\n  float& p = s;\n", "  p += in[row];\n"),
        before("  float s[2] = {0.0f, 0.0f};\n  float* p = s;\n", "  p[1] += in[row];\n")}) {
    EXPECT_THAT(ChildrenOf("work_per_thread", text), IsEmpty()) << text;
  }
}

TEST(RegisterTile, RepeatsWhatDependsOnTheIndex) {
  const auto children =
      ChildrenOf("register_tile", Rows("  const float* x = in + row * m;\n  const float scale = in[0];\n  float sum = 0.0f;\n"
                                       "  for (int c = 0; c < m; ++c) {\n    const float w = in[c];\n    sum += w * x[c];\n  }\n"
                                       "  out[row] = sum * scale;\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("grid(ceil_div(N, B * 2))"), std::string::npos);
  EXPECT_NE(children[0].find(R"(  const int row = (blockIdx.x * 2) * B + threadIdx.x;
  if (row >= n) return;
  const bool inside_row_1 = row + B < n;
  const int row_1 = inside_row_1 ? row + B : row;
  const float* x = in + row * m;
  const float* x_1 = in + row_1 * m;
  const float scale = in[0];
  float sum[2] = {0.0f, 0.0f};
  for (int c = 0; c < m; ++c) {
    const float w = in[c];
    sum[0] += w * x[c];
    sum[1] += w * x_1[c];
  }
  out[row] = sum[0] * scale;
  if (inside_row_1) { out[row_1] = sum[1] * scale; }
)"),
            std::string::npos)
      << children[0];
}

TEST(RegisterTile, HandlesAConditionAroundTheBodyAndPragmas) {
  const std::string text = With(Rows("  if (row < n && m > 0) {\n    float sum = 0.0f;\n#pragma unroll 2\n    for (int c = 0; c "
                                     "< m; ++c) sum += in[row + c];\n"
                                     "    out[row] = sum;\n  }\n"),
                                "  if (row >= n) return;\n", "");
  const auto children = ChildrenOf("register_tile", text);
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("  if (row < n && m > 0) {\n    const bool inside_row_1 = row + B < n;\n"), std::string::npos)
      << children[0];
  EXPECT_NE(children[0].find("#pragma unroll 2\n    for (int c = 0; c < m; ++c) {\n      sum[0] += in[row + c];\n      sum[1] += "
                             "in[row_1 + c];\n    }\n"),
            std::string::npos)
      << children[0];
}

TEST(RegisterTile, KeepsCommentsAndWhatTheMacrosLeaveOut) {
  const auto children = ChildrenOf("register_tile", Rows("  float sum = 0.0f;   // of the row\n"
                                                         "  for (int c = 0; c < m; ++c) {\n"
                                                         "    // One column.\n"
                                                         "    const float x = in[row * m + c];   // coalesced\n"
                                                         "#if SQUARES\n    sum += x * x;\n#else\n    sum += x;\n#endif\n"
                                                         "\n    /* done */\n  }\n"
                                                         "  out[row] = sum;\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("    // One column.\n"
                             "    const float x = in[row * m + c];\n    const float x_1 = in[row_1 * m + c];   // coalesced\n"
                             "#if SQUARES\n    sum += x * x;\n#else\n    sum[0] += x;\n    sum[1] += x_1;\n#endif\n"
                             "\n    /* done */\n  }\n"),
            std::string::npos)
      << children[0];
}

TEST(RegisterTile, TwoTilesMakeOneArrayOfTwoDimensions) {
  Parent parent(LoadTemplate(ShareDirectory() / "kernel_templates/gemm/naive.cu"));
  const SourceMutator& tile = SourceMutatorNamed("register_tile");
  for (int dimension = 0; dimension < 2; ++dimension) {
    for (const Proposal& proposal : tile.Proposals(parent.Context())) {
      const bool fresh = proposal.launch.front().text.find(dimension == 0 ? "BLOCK_N * 4" : "BLOCK_M * 4") != std::string::npos;
      if (!fresh) continue;
      parent.genome.edits.push_back(tile.EditOf(parent.Context(), proposal));
      break;
    }
    ASSERT_EQ(parent.genome.edits.size(), static_cast<std::size_t>(dimension + 1));
    parent.Render();
  }
  EXPECT_TRUE(parent.tree->errors().empty()) << parent.rendering.source;
  EXPECT_NE(parent.rendering.source.find("  float sum[4][4] = {{0.0f, 0.0f, 0.0f, 0.0f}, {0.0f,"), std::string::npos);
  EXPECT_NE(parent.rendering.source.find("    sum[3][2] += a_3[k] * b_2[(long long)k * columns];\n"), std::string::npos)
      << parent.rendering.source;
  EXPECT_NE(parent.rendering.source.find("  if (inside_row_1 && inside_column_2) { C["), std::string::npos);
}

TEST(RegisterTile, KeepsVariablesThatNoBracesTake) {
  const auto children =
      ChildrenOf("register_tile", Rows("  float sum = m;\n  const float* p = in + row;\n  float a = 0, b = in[row];\n"
                                       "  float part[2] = {0.0f, 1.0f};\n  float last;\n"
                                       "  for (int c = 0; c < m; ++c) {\n    sum += p[c];\n    a += p[c] * b;\n"
                                       "    part[1] += p[c];\n    p += m;\n    last = p[0];\n  }\n"
                                       "  out[row] = sum + a + part[1] + last;\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(
      children[0].find("  float sum = m;\n  float sum_1 = m;\n  const float* p = in + row;\n  const float* p_1 = in + row_1;\n"),
      std::string::npos);
  EXPECT_NE(children[0].find("  float part[2][2] = {{0.0f, 1.0f}, {0.0f, 1.0f}};\n  float last[2];\n"), std::string::npos);
  EXPECT_NE(children[0].find("    last[0] = p[0];\n    last[1] = p_1[0];\n"), std::string::npos) << children[0];
}

// Each row of causal attention has its own number of keys. Without the mask, the declaration of that number is left out by the
// preprocessor and stays as it is.
TEST(RegisterTile, TakesRowsOfAttentionTogetherOnlyWithoutTheCausalMask) {
  const auto children = [](const std::string& name) {
    return ChildrenOf("register_tile", LoadTemplate(ShareDirectory() / "kernel_templates" / name).text);
  };
  EXPECT_THAT(children("attention_causal/naive.cu"), IsEmpty());
  const auto tiled = children("attention/naive.cu");
  ASSERT_THAT(tiled, SizeIs(2));
  for (const std::string& child : tiled) {
    EXPECT_NE(child.find("#if CAUSAL\n  const int end = row + 1;\n#else\n  const int end = length;\n#endif\n"),
              std::string::npos);
    EXPECT_NE(child.find("    largest[1] = fmaxf(largest[1], Score(query_1, K + keys + key * HEAD_DIM, scale));\n"),
              std::string::npos)
        << child;
  }
}

TEST(RegisterTile, LeavesElementsThatCannotBeComputedTogether) {
  for (const char* body :
       {"  for (int c = 0; c < row; ++c) out[row] = in[c];\n",  // the number of iterations depends on the index
        "  for (int c = 0; c < m; ++c) { if (in[row] < c) break; out[row] = c; }\n",  // the end of the loop depends on the
                                                                                      // element
        "  float s = out[row + 1];\n  out[row] = s;\n",                               // reads what other threads store
        "  out[0] = in[0];\n",                                                        // one element for all threads
        "  if (in[row] < 0.0f) return;\n  out[row] = in[row];\n",                     // returns for some elements
        "  in += row;\n  out[row] = in[0];\n",                                        // changes an earlier variable
        "  __syncthreads();\n  out[row] = in[row];\n", "  out[row] = __shfl_xor_sync(~0u, in[row], 1);\n",
        "  float s[4];\n  float* p = s;\n  s[0] = in[row];\n  out[row] = p[0];\n"}) {
    EXPECT_THAT(ChildrenOf("register_tile", Rows(body)), IsEmpty()) << body;
  }
  const std::string rows = Rows("  out[row] = in[row];\n");
  EXPECT_THAT(ChildrenOf("register_tile", rows), SizeIs(2));
  for (const std::string& text : {With(rows, "  if (row >= n) return;\n", ""), With(rows, "row >= n", "row > n"),
                                  With(rows, "row >= n", "row >= n && m > 0"), With(rows, "k(A, O,", "k(A, A,")}) {
    EXPECT_THAT(ChildrenOf("register_tile", text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace evo
