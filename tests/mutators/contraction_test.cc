#include "mutators/analysis/products/contraction.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

// What is found in the first kernel of a source, in one line; or why nothing is.
std::string Found(const std::string& source) {
  const Parent parent(source);
  EXPECT_TRUE(parent.tree->errors().empty()) << parent.tree->errors().front();
  const SyntaxTree& tree = *parent.tree;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel)) continue;
    const auto found = AsContraction(parent.Context(), kernel);
    if (const auto* why = std::get_if<std::string>(&found)) return *why;
    const auto& one = std::get<Contraction>(found);
    const auto factor = [&](const ContractionFactor& of) {
      constexpr const char* kInner[] = {"by output", "by k", "neither"};
      return fmt::format("{} {}", tree.Text(of.expression), kInner[static_cast<int>(of.inner)]);
    };
    const auto index = [&](const ElementGrid::Index& of) {
      return fmt::format("{} < {}", tree.node(of.declaration).name, tree.Text(of.bound));
    };
    return fmt::format("m {}; n {}; k {} < {}; {} += ({}) ({})", index(one.m), index(one.n), tree.node(one.k.counter).name,
                       tree.Text(one.k.bound), tree.node(one.accumulator).name, factor(one.a), factor(one.b));
  }
  return "no kernel";
}

TEST(Contraction, IsFoundInKernelsOfManyStyles) {
  EXPECT_EQ(Found(kColumnMajor), "m j < n; n i < m; k l < k; acc += (y[l + j * ldy] by k) (x[i + l * ldx] by output)")
      << "the output's neighbouring elements are n";
  EXPECT_EQ(Found(kTransposedB), "m i < I; n o < O; k d < D; s += (xi[d] by k) (wo[d] by k)");
  EXPECT_EQ(Found(kAlphaBeta), "m r < M; n c < N; k t < K; total += (A[r * lda + t] by k) (B[t * ldb + c] by output)");
  EXPECT_EQ(Found(kBiasGelu), "m token < tokens; n feature < features; k i < inputs; sum += (left by k) (right by k)");
  EXPECT_EQ(Found(kBatched), "m row < 48; n col < 40; k e < depth; acc += (p[row * depth + e] by k) (q[e * 40 + col] by output)");
  EXPECT_EQ(Found(kBytes),
            "m y < h; n x < w; k c < channels; dot += ((int)a[y * channels + c] by k) ((int)b[c * w + x] by output)");
  EXPECT_EQ(Found(kHalves),
            "m m < M; n n < N; k k < K; sum += (__half2float(A[m * K + k]) by k) "
            "(__half2float(B[k * N + n]) by output)");
  EXPECT_EQ(Found(kFlat), "m r < rows; n c < cols; k i < inner; v += (A[r * inner + i] by k) (B[i * cols + c] by output)");
  EXPECT_EQ(Found(kScaled), "m row < M; n col < N; k k < K; acc += (A[row * K + k] * scale[k] by k) (B[k * N + col] by output)");
  EXPECT_EQ(Found(kTransposedA),
            "m p < P; n q < Q; k s < S; acc += (__ldg(&u[s * P + p]) by output) (__ldg(&v[s * Q + q]) by output)");
}

TEST(Contraction, IsRefusedWithTheReason) {
  for (const auto& [source, why] : kRefused) EXPECT_THAT(Found(source), testing::HasSubstr(why)) << source;
  EXPECT_THAT(Found(kWithoutABound), testing::HasSubstr("no bound is known for row"));
}

TEST(NeededDeclarations, FollowsVariablesInOrder) {
  const Parent parent(kBiasGelu);
  const SyntaxTree& tree = *parent.tree;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel)) continue;
    const auto found = AsContraction(parent.Context(), kernel);
    const auto& one = std::get<Contraction>(found);
    std::vector<std::string_view> needed;
    for (const int node : NeededDeclarations(tree, one.epilogue, one.before)) needed.push_back(tree.Text(node));
    EXPECT_THAT(needed, testing::ElementsAre("const float offset = bias[feature];"));
  }
}

}  // namespace
}  // namespace evo
