// Functions of the host that call themselves around their launches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKernels = R"(
#define BLOCK 256
__global__ void scan(const int* x, int* y, int* sums, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = x[i];
  if (sums && threadIdx.x == 0) sums[blockIdx.x] = x[i];
}
__global__ void add(int* y, const int* sums, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] += sums[blockIdx.x];
}
)";

std::string Program(const std::string& function, const std::string& size = "100000") {
  return kKernels + function + "int main(int argc, char** argv) {\n  int n = " + size + R"(;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, x, n * sizeof(int), cudaMemcpyHostToDevice);
  levels(x, y, n);
  int* h = new int[n];
  cudaMemcpy(h, y, n * sizeof(int), cudaMemcpyDeviceToHost);
}
)";
}

constexpr const char* kReturning = R"(
void levels(const int* x, int* y, int n, bool log = false) {
  int blocks = (n + BLOCK - 1) / BLOCK;  // of this level
  if (blocks == 1) {
    scan<<<1, BLOCK>>>(x, y, nullptr, n);
    return;
  }
  int *sums, *scanned;
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&scanned, blocks * sizeof(int));
  scan<<<blocks, BLOCK>>>(x, y, sums, n);
  levels(sums, scanned, blocks, log);
  add<<<blocks, BLOCK>>>(y, scanned, n);
}
)";

TEST(ImportLevels, LaunchesOfAllLevelsStandOneAfterAnother) {
  const ImportReply reply = Read(Program(kReturning));
  EXPECT_THAT(Kernel(reply),
              HasSubstr("// evo:launch scan(x, y, sums, n) grid(ceil_div(n, BLOCK)) block(BLOCK)\n"
                        "// evo:launch scan(sums, y_, sums_, ceil_div(n, BLOCK)) grid(ceil_div(ceil_div(n, BLOCK), BLOCK)) "
                        "block(BLOCK)\n"
                        "// evo:launch scan(sums_, y__, sums__, ceil_div(ceil_div(n, BLOCK), BLOCK)) grid(1) block(BLOCK)\n"
                        "// evo:launch add(y_, y__, ceil_div(n, BLOCK)) grid(ceil_div(ceil_div(n, BLOCK), BLOCK)) block(BLOCK)\n"
                        "// evo:launch add(y, y_, n) grid(ceil_div(n, BLOCK)) block(BLOCK)\n"));
  EXPECT_THAT(reply.notes, testing::Contains(HasSubstr("levels calls itself: with the host's sizes there are 3 levels")));
  // What a null pointer is passed for is written nowhere that counts.
  EXPECT_THAT(Kernel(reply), HasSubstr("// evo:workspace sums__ i32 [1]"));
  for (const json& argument : TaskOf(reply).at("arguments")) EXPECT_THAT(argument.at("name"), testing::AnyOf("x", "y"));
}

// Sizes and parameters with which there would be fewer levels, or more, are no case.
TEST(ImportLevels, AllCasesHaveTheLevelsOfTheHost) {
  const ImportReply reply = Read(Program(kReturning));
  const json cases = TaskOf(reply).at("cases");
  const auto check = [](const json& one) {
    const int n = one.at("sizes").at("n").get<int>();
    EXPECT_GT(n, 256 * 256);
    EXPECT_LE(n, 256 * 256 * 256);
  };
  check(cases.at("small"));
  for (const char* list : {"search", "search_cpu", "held_out", "held_out_cpu"}) {
    if (cases.at(list).is_object()) check(cases.at(list));
    for (const json& one : cases.at(list)) {
      if (one.is_object()) check(one);
    }
  }
  EXPECT_THAT(Kernel(reply), Not(HasSubstr("evo:param BLOCK 64")));
}

TEST(ImportLevels, AConditionAroundTheCallDecidesAsWell) {
  const ImportReply reply = Read(Program(R"(
void levels(const int* x, int* y, int n) {
  int blocks = (n + BLOCK - 1) / BLOCK;
  int* sums;
  cudaMalloc(&sums, blocks * sizeof(int));
  scan<<<blocks, BLOCK>>>(x, y, sums, n);
  if (blocks > 1) {
    levels(sums, sums, blocks);
    add<<<blocks, BLOCK>>>(y, sums, n);
  }
}
)",
                                         "60000"));
  EXPECT_THAT(Kernel(reply), AllOf(HasSubstr("// evo:launch scan(sums, sums, sums_, ceil_div(n, BLOCK))"),
                                   HasSubstr("// evo:launch add(y, sums, n)"), Not(HasSubstr("add(y_"))));
}

TEST(ImportLevels, WhereTheDepthIsNotKnownItIsRefused) {
  EXPECT_THAT(Read(Program(kReturning, "atoi(argv[1])")).failure, HasSubstr("levels calls itself (line "));
  // By way of another function.
  EXPECT_THAT(Read(Program(R"(
void levels(const int* x, int* y, int n);
void inner(const int* x, int* y, int n) { if (n > 1) levels(x, y, n); }
void levels(const int* x, int* y, int n) {
  scan<<<n, BLOCK>>>(x, y, y, n);
  add<<<n, BLOCK>>>(y, x, n);
  inner(y, y, n / 256);
}
)"))
                  .failure,
              HasSubstr("calls itself (line "));
  EXPECT_THAT(Kernel(Read(Program(kReturning), {"add"})), HasSubstr("evo:launch add(y, "));
}

// The lines that messages name are those of the file.
TEST(ImportLevels, LinesStayWhereTheyAre) {
  EXPECT_THAT(Read(Program(kReturning)).notes,
              testing::Contains(HasSubstr("scan (line 3), scan (line 3), scan (line 3), add (line 8)")));
}

}  // namespace
}  // namespace evo
