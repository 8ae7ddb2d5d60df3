#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <tuple>

#include "core/error.h"
#include "platform/installation.h"
#include "tests/syntax/parsing.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr char kHalves[] = R"(#include <cuda_fp16.h>
#include <mma.h>
template <int N>
__device__ float Sum(const half* values) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < N; ++i) sum += __half2float(values[i]);
  return sum;
}
__global__ void k(const half* X, float* Y, int n) {
  __shared__ float all[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  all[threadIdx.x % 32] = i < n ? Sum<4>(X + 4 * i) : 0.0f;
  __syncthreads();
  if (i < n) Y[i] = fmaxf(all[0], __ldg(Y + i)) + warpSize;
}
)";
constexpr char kWrong[] = "__global__ void k(float* Y) { Y[0] = nothing; int x = \"text\"; }\n";
constexpr char kNoSuchHeader[] = "#include <no_such_header.h>\n__global__ void k(float* Y) { Y[0] = 1; }\n";

class KeptPreamblesTest : public testing::Test {
 protected:
  KeptPreamblesTest() : folder_(fs::temp_directory_path() / ("kept_preambles_" + std::to_string(::getpid()))) {}
  ~KeptPreamblesTest() override { fs::remove_all(folder_); }

  SyntaxTree Parsed(const std::string& text) const {
    return SyntaxParser({CudaRoot().value(), ShareDirectory() / "clang", ShareDirectory() / "syntax", folder_}).Parse(text);
  }
  std::vector<fs::path> Kept() const {
    std::vector<fs::path> files;
    std::error_code missing;
    for (const auto& file : fs::directory_iterator(folder_, missing)) files.push_back(file.path());
    return files;
  }

  fs::path folder_;
};

void ExpectSameTree(const SyntaxTree& one, const SyntaxTree& other) {
  EXPECT_EQ(one.errors(), other.errors());
  ASSERT_EQ(one.nodes().size(), other.nodes().size());
  for (std::size_t i = 0; i < one.nodes().size(); ++i) {
    const SyntaxNode &a = one.nodes()[i], &b = other.nodes()[i];
    EXPECT_EQ(std::tie(a.kind, a.kind_name, a.name, a.type, a.range.begin, a.range.end, a.parent, a.children, a.function,
                       a.refers_to, a.hidden, a.opaque, a.converted),
              std::tie(b.kind, b.kind_name, b.name, b.type, b.range.begin, b.range.end, b.parent, b.children, b.function,
                       b.refers_to, b.hidden, b.opaque, b.converted))
        << one.Text(static_cast<int>(i));
  }
}

// The first parse makes the file, the second reads it, and both see what a parser without a cache sees.
TEST_F(KeptPreamblesTest, TreesAreTheSame) {
  for (const char* text : {kHalves, kWrong}) {
    const SyntaxTree plain = ParseSource(text);
    ExpectSameTree(plain, Parsed(text));
    ExpectSameTree(plain, Parsed(text));
  }
  EXPECT_EQ(Kept().size(), 2u);
}

TEST_F(KeptPreamblesTest, ADamagedFileIsMadeAgain) {
  Parsed(kWrong);
  ASSERT_EQ(Kept().size(), 1u);
  const auto size = fs::file_size(Kept().front());
  std::ofstream(Kept().front()) << "not what it was";
  ExpectSameTree(ParseSource(kWrong), Parsed(kWrong));
  ExpectSameTree(ParseSource(kWrong), Parsed(kWrong));
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_GT(fs::file_size(Kept().front()), size / 2);
}

TEST_F(KeptPreamblesTest, HeadersWithErrorsAreNotKept) {
  ExpectSameTree(ParseSource(kNoSuchHeader), Parsed(kNoSuchHeader));
  EXPECT_TRUE(Kept().empty());
}

// A header that a source names by its own folder may be another one for another source.
TEST_F(KeptPreamblesTest, HeadersOfASourcesFolderAreNotKept) {
  Parsed("#include \"cuda_fp16.h\"\n__global__ void k(half* Y) { Y[0] = Y[1]; }\n");
  EXPECT_TRUE(Kept().empty());
}

TEST_F(KeptPreamblesTest, WithoutAFolderNothingIsKept) {
  folder_ = "/proc/nowhere";
  ExpectSameTree(ParseSource(kWrong), Parsed(kWrong));
}

}  // namespace
}  // namespace evo
