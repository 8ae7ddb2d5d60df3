// Numbers that the host computes in helpers, in loops of its own, anew in each iteration, or as logarithms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A program that computes the block, the grid and the number that its kernel gets in these lines.
std::string Computing(const std::string& helpers, const std::string& lines, const std::string& value = "1000") {
  return R"(
__global__ void spread(const float* x, float* y, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * width;
}
)" + helpers +
         "\nint main(int argc, char** argv) {\n  int n = " + value +
         ";\n  float *x, *y;\n  cudaMalloc(&x, n * sizeof(float));\n  cudaMalloc(&y, n * sizeof(float));\n" + lines + "}\n";
}

TEST(ImportComputed, HelpersThatRoundUp) {
  for (const char* helper :
       {"int blocks_for(int a, int b) { int c = a / b; if (c * b < a) c++; return c; }",
        "int blocks_for(int a, int b) { if (a % b != 0) return a / b + 1; return a / b; }",
        "int blocks_for(int a, int b) {\n  int blocks = a / b;\n  if (a % b > 0) {\n    blocks += 1;\n  }\n  return blocks;\n}",
        "static int blocks_for(const int a, const int b) { const int more = b - 1; return (a + more) / b; }",
        "int blocks_for(int a, int b) { int blocks; if (a % b == 0) blocks = a / b; else blocks = 1 + a / b; return blocks; }"}) {
    EXPECT_THAT(Kernel(Read(Computing(helper, "  spread<<<blocks_for(n, 256), 256>>>(x, y, n, 7);\n"))),
                HasSubstr("grid(ceil_div(n, 256)) block(256)"))
        << helper;
  }
  EXPECT_THAT(Kernel(Read(Computing("int most(int a, int b) { if (a > b) return b; return a; }",
                                    "  spread<<<(n + 255) / 256, 256>>>(x, y, n, most(n, 512));\n"))),
              HasSubstr("spread(x, y, n, min(512, n))"));
  // What is not understood is not guessed.
  for (const char* helper : {"int blocks_for(int a, int b) { int c = a / b; if (c * b < a) c = other(c); return c; }",
                             "int calls = 0; int blocks_for(int a, int b) { calls++; return a / b + calls; }",
                             "int blocks_for(int a, int b) { for (int i = 0; i < b; i++) a -= i; return a; }"})
    EXPECT_THAT(Read(Computing(helper, "  spread<<<blocks_for(n, 256), 256>>>(x, y, n, 7);\n")).questions,
                testing::Contains(testing::Field(&ImportQuestion::unknown, true)))
        << helper;
}

TEST(ImportComputed, PowersOfTwoAreFoundInManyWays) {
  const std::string launch = "  spread<<<(n + 255) / 256, 256>>>(x, y, n, width);\n";
  for (const auto& [helper, line] :
       {std::pair("", "  int width = 1;\n  while (width < n) width *= 2;\n"),
        std::pair("", "  int width;\n  for (width = 1; width < n; width <<= 1);\n"),
        std::pair("int above(int v) { int p = 1; while (p < v) { p = p * 2; } return p; }", "  int width = above(n);\n"),
        std::pair("unsigned above(unsigned v) {\n  v--; v |= v >> 1; v |= v >> 2; v |= v >> 4; v |= v >> 8; v |= v >> 16; v++;\n"
                  "  return v;\n}",
                  "  int width = above(n);\n"),
        std::pair(
            "unsigned above(unsigned v) { --v; v |= v >> 1; v |= v >> 2; v |= v >> 4; v |= v >> 8; v |= v >> 16; return ++v; }",
            "  int width = above(n);\n")}) {
    EXPECT_THAT(Kernel(Read(Computing(helper, line + launch))), HasSubstr("spread(x, y, n, power(2, ceil_log(n, 2)))"))
        << helper << line;
  }
  EXPECT_THAT(Kernel(Read(Computing("", "  int width = 512;\n  while (width > n) width /= 2;\n" + launch))),
              HasSubstr("spread(x, y, n, 512 / power(2, ceil_log(512 / (n + 1) + 1, 2)))"));
  // A loop that may end otherwise leaves a number that is not known, and is not its first.
  const ImportReply ends =
      Read(Computing("", "  int width = 1;\n  while (width < n) { width *= 2; if (x == y) break; }\n" + launch));
  EXPECT_THAT(Kernel(ends), AllOf(Not(HasSubstr("spread(x, y, n, 1)")), Not(HasSubstr("power(2"))));
}

TEST(ImportComputed, LogarithmsAreRoundedAsTheHostDoes) {
  const auto width = [&](const std::string& lines, const std::string& value = "1000") {
    const std::string text = Kernel(Read(Computing("", lines + "  spread<<<(n + 255) / 256, 256>>>(x, y, n, width);\n", value)));
    const std::size_t at = text.find("spread(x, y, n, ") + 16;
    return text.substr(at, text.find(") grid") - at);
  };
  EXPECT_EQ(width("  int width = (int)log2(n);\n"), "ceil_log(n + 1, 2) - 1");
  EXPECT_EQ(width("  int width = log2(double(n));\n"), "ceil_log(n + 1, 2) - 1");
  EXPECT_EQ(width("  int width = static_cast<int>(floor(std::log2((double)n))) + 1;\n"), "ceil_log(n + 1, 2)");
  EXPECT_EQ(width("  int width = 1 << int(log2(n));\n"), "1 << ceil_log(n + 1, 2) - 1");
  EXPECT_EQ(width("  int width = ceil(log2((float)n));\n"), "ceil_log(n, 2)");
  EXPECT_EQ(width("  float bits = log2(n);\n  int width = ceil(bits);\n"), "ceil_log(n, 2)");
  EXPECT_EQ(width("  int width = log2(n);\n", "1 << 12"), "ceil_log(n, 2)") << "of a power of two all are the same";
  // Then all cases have powers of two.
  const nlohmann::json cases =
      TaskOf(Read(Computing("", "  spread<<<(n + 255) / 256, 256>>>(x, y, n, (int)log2(n));\n", "1 << 12"))).at("cases");
  const int small = cases.at("small").at("sizes").at("n");
  EXPECT_EQ(small & (small - 1), 0);
}

TEST(ImportComputed, WhatEachIterationComputesAnew) {
  const std::string loop =
      "  int blocks, width = 7;\n  while (scanf(\"%d\", &width) == 1) {\n    blocks = (n + 255) / 256;\n    @\n"
      "    spread<<<blocks, 256>>>(x, y, n, width);\n  }\n";
  const auto with = [&](const std::string& line) {
    std::string text = loop;
    return Computing("", text.replace(text.find('@'), 1, line));
  };
  EXPECT_THAT(Kernel(Read(with(""))), HasSubstr("grid(ceil_div(n, 256)) block(256)"));
  EXPECT_THAT(Kernel(Read(with(""))), Not(HasSubstr("evo:repeat")));
  EXPECT_THAT(Read(with("if (width > 3) blocks = 3;")).failure, HasSubstr("a launch gets blocks"));
  EXPECT_THAT(Read(with("blocks = blocks + width;")).failure, HasSubstr("blocks"));
}

TEST(ImportComputed, ValuesThatBranchesSet) {
  const auto launch =
      [](const std::string& condition, const std::string& then, const std::string& otherwise) {
        return Kernel(Read(R"(
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
int main() {
  bool padded = false;
  int n = 100000, width = 3;
  int out = 0, blocks = 0;
  if (padded == false) {
    out = n - width + 1;
  } else {
    out = n;
  }
  if ()" + condition + R"()
    blocks = )" + then + R"(;
  else
    blocks = )" + otherwise +
                           R"(;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, out * sizeof(float));
  scale<<<blocks, 256>>>(x, y, out);
}
)"));
      };
  constexpr const char* kRoundedUp = "// evo:launch scale(x, y, n - width + 1) grid(ceil_div(n - width + 1, 256)) block(256)";
  EXPECT_THAT(launch("out % 256 == 0", "out / 256", "out / 256 + 1"), HasSubstr(kRoundedUp));
  EXPECT_THAT(launch("out % 256 != 0", "out / 256 + 1", "out / 256"), HasSubstr(kRoundedUp));
}

// Blocks that compare nothing take all of their elements.
TEST(ImportComputed, KernelsWithoutABoundGetWholeBlocks) {
  const auto sizes = [](const std::string& bound) {
    const json task = TaskOf(Read(R"(
__global__ void fold(float* data, float* sums, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  for (int s = 1; s <= blockDim.x; s *= 2) {
    if (threadIdx.x % s == 0)" + bound +
                                  R"( ) data[i] += data[i + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = data[i];
}
int main() {
  int n = 1 << 20, blocks = (n + 511) / 512;
  float *data, *sums, *h = new float[n];
  cudaMalloc(&data, n * sizeof(float));
  cudaMalloc(&sums, blocks * sizeof(float));
  cudaMemcpy(data, h, n * sizeof(float), cudaMemcpyHostToDevice);
  fold<<<blocks, 256>>>(data, sums, n);
  cudaMemcpy(h, sums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
}
)"));
    std::vector<std::int64_t> all{task.at("cases").at("small").at("sizes").at("n")};
    for (const char* kind : {"search", "search_cpu", "held_out", "held_out_cpu"}) {
      for (const json& one : task.at("cases").at(kind)) all.push_back(one.at("sizes").at("n"));
    }
    return all;
  };
  const auto is_whole = [](std::int64_t n) { return n % 512 == 0; };
  const auto unbounded = sizes(""), bounded = sizes(" && i + s < n");
  EXPECT_TRUE(std::all_of(unbounded.begin(), unbounded.end(), is_whole)) << testing::PrintToString(unbounded);
  EXPECT_FALSE(std::all_of(bounded.begin(), bounded.end(), is_whole)) << "else a missing bound is not seen";
}

// A grid that the host has as a number is as large as its sizes need.
TEST(ImportComputed, GridsThatAreNumbers) {
  const auto launch = [](const std::string& sizes, const std::string& index) {
    return Kernel(Read("__global__ void scale(float* y, int n, int m) {\n  int i = " + index + R"(;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  y[j * n + i] = 2;
}
int main() {
  int )" + sizes + R"(;
  float* y;
  cudaMalloc(&y, n * m * sizeof(float));
  dim3 block(16, 8), grid(64, 32);
  scale<<<grid, block>>>(y, n, m);
}
)"));
  };
  const std::string index = "blockIdx.x * blockDim.x + threadIdx.x";
  EXPECT_THAT(launch("n = 1024, m = 256", index), HasSubstr("grid(ceil_div(n, 16), ceil_div(m, 8))"));
  // It is not clear which size an axis has, or the kernel goes on by the grid.
  EXPECT_THAT(launch("n = 1024, m = 1024", index), HasSubstr("grid(64, 32)"));
  EXPECT_THAT(launch("n = 1000, m = 256", index), HasSubstr("grid(64, ceil_div(m, 8))"));
  EXPECT_THAT(launch("n = 1024, m = 256", index + " + 0 * gridDim.x"), HasSubstr("grid(64, 32)"));
  EXPECT_THAT(launch("n = 1024, m = 1024", index + ";\n  if (i >= n) return"), HasSubstr("grid(ceil_div(n, 16), 32)"));
}

// An integer gets a real number without its fraction.
TEST(ImportComputed, RealNumbersThatIntegersGet) {
  const json task = TaskOf(Read(R"(
__global__ void count(const float* x, int* bins, int n, float width, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[min((int)(x[i] / width), most - 1)], 1);
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]), width = atoi(argv[2]);
  int most = (int)(1000.0 / width) + 1;
  int half = most * 0.5;
  float* x;
  int *bins, *others;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&bins, (most + half) * sizeof(int));
  count<<<(n + 255) / 256, 256>>>(x, bins, n, width, most);
}
)"));
  EXPECT_EQ(ArgumentOf(task, "bins").at("shape"),
            json::array({"trunc(1000.0 / width) + 1 + trunc((trunc(1000.0 / width) + 1) * 0.5)"}));
}

}  // namespace
}  // namespace evo
