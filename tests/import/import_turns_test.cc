// What the host does between launches: it chooses between two orders of buffers, copies one to another, and sets one element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kReach = R"(
__global__ void reach(const double* from, double* to, int distance, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] + (i >= distance ? from[i - distance] : 0.0);
}
)";

// A program with these lines between the allocations and the end.
std::string Reaching(const std::string& lines) {
  return std::string(kReach) +
         "int main(int argc, char** argv) {\n  int n = atoi(argv[1]);\n  double *p, *q, *h = new double[n];\n"
         "  cudaMalloc(&p, n * sizeof(double));\n  cudaMalloc(&q, n * sizeof(double));\n"
         "  cudaMemcpy(p, h, n * sizeof(double), cudaMemcpyHostToDevice);\n" +
         lines + "  cudaFree(p);\n  cudaFree(q);\n}\n";
}

const std::string kOneWay = "reach<<<(n + 127) / 128, 128>>>(p, q, d, n);";
const std::string kOtherWay = "reach<<<(n + 127) / 128, 128>>>(q, p, d, n);";
const std::string kCopyP = "cudaMemcpy(h, p, n * sizeof(double), cudaMemcpyDeviceToHost);";
const std::string kCopyQ = "cudaMemcpy(h, q, n * sizeof(double), cudaMemcpyDeviceToHost);";
constexpr const char* kExchanged =
    "// evo:repeat d_step < ceil_log(n, 2)\n"
    "// evo:launch reach(from, to, power(2, d_step), n) grid(ceil_div(n, 128)) block(128)\n"
    "// evo:swap from to\n// evo:end\n";

TEST(ImportTurns, AFlagThatTurnsIsAnExchange) {
  for (const std::string& loop :
       {"  bool there = true;\n  for (int d = 1; d < n; d *= 2) {\n    if (there) {\n      " + kOneWay +
            "\n      there = false;\n    } else {\n      " + kOtherWay + "\n      there = true;\n    }\n  }\n  if (there) " +
            kCopyP + " else " + kCopyQ + "\n",
        "  int there = 0;\n  for (int d = 1; d < n; d *= 2) {\n    if (there == 0) " + kOneWay + " else " + kOtherWay +
            "\n    there = !there;\n  }\n  double* last = there == 1 ? q : p;\n"
            "  cudaMemcpy(h, last, n * sizeof(double), cudaMemcpyDeviceToHost);\n"}) {
    const ImportReply reply = Read(Reaching(loop));
    EXPECT_THAT(Kernel(reply), HasSubstr(kExchanged)) << loop;
    EXPECT_EQ(ArgumentOf(TaskOf(reply), "from").at("role"), "inout") << loop;
  }
}

TEST(ImportTurns, StepsThatAreEvenOrOdd) {
  const auto program = [&](const std::string& condition, const std::string& result) {
    return Reaching("  int d = 3, steps = atoi(argv[2]);\n  for (int s = 0; s < steps; ++s) {\n    if (" + condition + ") " +
                    kOneWay + "\n    else " + kOtherWay + "\n  }\n  if (" + result + ") " + kCopyP + "\n  else " + kCopyQ + "\n");
  };
  for (const char* condition : {"s % 2 == 0", "!(s & 1)", "(s & 1) == 0"})
    EXPECT_THAT(Kernel(Read(program(condition, "steps % 2 == 0"))), HasSubstr("// evo:swap from to\n")) << condition;
  // The other launch comes first, and the other buffer is the result.
  EXPECT_THAT(Kernel(Read(program("s % 2", "steps % 2"))),
              AllOf(HasSubstr("// evo:launch reach(from, to"), HasSubstr("evo:swap")));
  // Not every condition takes turns.
  for (const auto& [condition, result] : {std::pair("s % 2 == 0", "steps > 4"), std::pair("s % 2 == 0", "steps % 3 == 0"),
                                          std::pair("s % 3 == 0", "steps % 2 == 0"), std::pair("s < 2", "steps % 2 == 0")})
    EXPECT_THAT(Read(program(condition, result)).files, Not(testing::Contains(testing::Pair(testing::_, HasSubstr("evo:swap")))))
        << condition << ", " << result;
}

TEST(ImportTurns, OtherFlagsAreNoTurns) {
  const auto program = [&](const std::string& yes, const std::string& no, const std::string& behind) {
    return Reaching("  int there = 1;\n  for (int d = 1; d < n; d *= 2) {\n    if (there) {\n      " + kOneWay + yes +
                    "\n    } else {\n      " + kOtherWay + no + "\n    }\n  }\n" + behind);
  };
  const std::string turns = " there = 0;", back = " there = 1;", either = "  if (there) " + kCopyP + " else " + kCopyQ + "\n";
  EXPECT_THAT(Kernel(Read(program(turns, back, either))), HasSubstr("evo:swap"));
  for (const auto& text : {program(turns, turns, either), program("", back, either), program(turns, back, "  " + kCopyP + "\n"),
                           program(turns, back, "  there = 0;\n" + either), program(turns + kCopyQ, back, either)}) {
    const ImportReply reply = Read(text);
    EXPECT_THAT(reply.files, Not(testing::Contains(testing::Pair(testing::_, HasSubstr("evo:swap"))))) << text;
  }
}

TEST(ImportTurns, ArraysOfTwoPointers) {
  const std::string launch = "reach<<<(n + 127) / 128, 128>>>", copy = ", n * sizeof(double), cudaMemcpyDeviceToHost);\n";
  const std::string distances = "  for (int d = 1; d < n; d *= 2) {\n    ";
  const std::string pair = "  double* b[2] = {p, q};\n";
  for (const std::string& text :
       {pair + "  int now = 0;\n" + distances + launch +
            "(b[now], b[1 - now], d, n);\n    now = 1 - now;\n  }\n  cudaMemcpy(h, b[now]" + copy,
        pair + "  int s = 0;\n" + distances + launch +
            "(b[s % 2], b[(s + 1) % 2], d, n);\n    s++;\n  }\n  cudaMemcpy(h, b[s % 2]" + copy,
        pair + distances + launch + "(b[0], b[1], d, n);\n    std::swap(b[0], b[1]);\n  }\n  cudaMemcpy(h, b[0]" + copy,
        "  double* b[2];\n  for (int i = 0; i < 2; i++) cudaMalloc(&b[i], n * sizeof(double));\n  cudaMemcpy(b[0], h, n * "
        "sizeof(double), cudaMemcpyHostToDevice);\n  int now = 0;\n" +
            distances + launch + "(b[now], b[now ^ 1], d, n);\n    now ^= 1;\n  }\n  cudaMemcpy(h, b[now]" + copy,
        "  bool odd = false;\n" + distances + launch +
            "(odd ? q : p, odd ? p : q, d, n);\n    odd = !odd;\n  }\n  cudaMemcpy(h, odd ? q : p" + copy}) {
    const ImportReply reply = Read(Reaching(text));
    EXPECT_THAT(Kernel(reply), HasSubstr(kExchanged)) << text;
  }
  // In place, and with another period.
  for (const std::string& text : {pair + "  int now = 0;\n" + distances + launch +
                                      "(b[now], b[now], d, n);\n    now = 1 - now;\n  }\n  cudaMemcpy(h, b[now]" + copy,
                                  pair + "  int s = 0;\n" + distances + launch +
                                      "(b[s / 2 % 2], b[1 - s / 2 % 2], d, n);\n    s++;\n  }\n  cudaMemcpy(h, b[0]" + copy}) {
    EXPECT_THAT(Read(Reaching(text)).files, Not(testing::Contains(testing::Pair(testing::_, HasSubstr("evo:swap"))))) << text;
  }
}

TEST(ImportTurns, StepsThatALoopHasCounted) {
  const std::string launch = "reach<<<(n + 127) / 128, 128>>>(a, b, 1 << s, n);\n    std::swap(a, b);\n  }\n";
  const auto program = [&](const std::string& counted) {
    return Reaching("  double *a = p, *b = q;\n  int steps = 0;\n  " + counted + "\n  for (int s = 0; s < steps; ++s) {\n    " +
                    launch + "  cudaMemcpy(h, a, n * sizeof(double), cudaMemcpyDeviceToHost);\n");
  };
  for (const char* counted : {"while ((1 << steps) < n) ++steps;", "for (int m = 1; m < n; m *= 2) steps++;"})
    EXPECT_THAT(Kernel(Read(program(counted))), HasSubstr("// evo:repeat s < ceil_log(n, 2)\n")) << counted;
  // Under a condition, and by more than one.
  for (const char* counted : {"for (int m = 1; m < n; m *= 2) if (m > 8) steps++;", "while ((1 << steps) < n) steps += 2;"})
    EXPECT_THAT(Kernel(Read(program(counted))), Not(HasSubstr("ceil_log"))) << counted;
}

TEST(ImportTurns, CopiesBetweenStepsAreLaunches) {
  const ImportReply reply =
      Read(Reaching("  for (int d = 1; d < n; d *= 2) {\n    " + kOneWay +
                    "\n    cudaMemcpy(p, q, n * sizeof(double), cudaMemcpyDeviceToDevice);\n  }\n  " + kCopyQ + "\n"));
  EXPECT_THAT(Kernel(reply),
              AllOf(HasSubstr("// evo:launch copy_elements(to, from, i64(n)) grid(ceil_div(n, 256)) block(256)\n// evo:end"),
                    HasSubstr("__global__ void copy_elements(const double* from, double* to, long long count)")));
  EXPECT_EQ(ArgumentOf(TaskOf(reply), "from").at("role"), "inout");
  // Loops that measure have no steps, and a part is no copy of a buffer.
  const ImportReply measured = Read(Reaching("  int d = 3;\n  for (int run = 0; run < 9; ++run) {\n    " + kOneWay +
                                             "\n    cudaMemcpy(p, q, n * sizeof(double), cudaMemcpyDeviceToDevice);\n  }\n"));
  EXPECT_THAT(Kernel(measured), Not(HasSubstr("copy_elements")));
  EXPECT_THAT(Read(Reaching("  for (int d = 1; d < n; d *= 2) {\n    " + kOneWay +
                            "\n    cudaMemcpy(p + d, q + d, (n - d) * sizeof(double), cudaMemcpyDeviceToDevice);\n  }\n"))
                  .failure,
              HasSubstr("a copy from q + d to p + d in the loop around the launches is not understood"));
}

TEST(ImportTurns, ACopyBetweenTwoLaunchesIsOne) {
  const std::string copy = "  cudaMemcpy(p, q, n * sizeof(double), cudaMemcpyDeviceToDevice);\n",
                    one = "  int d = 3;\n  " + kOneWay + "\n";
  EXPECT_THAT(Kernel(Read(Reaching(one + copy + "  reach<<<(n + 127) / 128, 128>>>(p, q, 5, n);\n  " + kCopyQ + "\n"))),
              HasSubstr("// evo:launch copy_elements(to, from, i64(n)) grid(ceil_div(n, 256)) block(256)\n// evo:launch reach("));
  // Nothing of the host's code is left on its line.
  EXPECT_THAT(Kernel(Read(Reaching(one + copy + "  reach<<<(n + 127) / 128, 128>>>(p, q, 5, n);\n  " + kCopyQ + "\n"))),
              Not(HasSubstr("main")));
  // Before all launches, and behind them.
  EXPECT_THAT(Kernel(Read(Reaching(copy + one + "  " + kCopyQ + "\n"))), Not(HasSubstr("copy_elements")));
  EXPECT_THAT(Kernel(Read(Reaching(one + copy + "  " + kCopyP + "\n"))), Not(HasSubstr("copy_elements")));
}

constexpr const char* kSweeps = R"(
__global__ void gather_up(int* tree, int n, int step) {
  int k = (blockIdx.x * blockDim.x + threadIdx.x + 1) * step * 2 - 1;
  if (k < n) tree[k] += tree[k - step];
}
__global__ void hand_down(int* tree, int n, int step) {
  int k = (blockIdx.x * blockDim.x + threadIdx.x + 1) * step * 2 - 1;
  if (k < n) { int left = tree[k - step]; tree[k - step] = tree[k]; tree[k] += left; }
}
int main() {
  const int n = 1 << 18;
  int nothing = 0, *h = new int[n], *tree;
  cudaMalloc(&tree, n * sizeof(int));
  cudaMemcpy(tree, h, n * sizeof(int), cudaMemcpyHostToDevice);
  for (int s = 1; s < n; s *= 2) gather_up<<<(n / 2 / s + 255) / 256, 256>>>(tree, n, s);
  @SET
  for (int s = n / 2; s > 0; s /= 2) hand_down<<<(n / 2 / s + 255) / 256, 256>>>(tree, n, s);
  cudaMemcpy(h, tree, n * sizeof(int), cudaMemcpyDeviceToHost);
}
)";

std::string Sweeps(const std::string& set) {
  std::string text = kSweeps;
  return text.replace(text.find("@SET"), 4, set);
}

TEST(ImportTurns, OneElementIsSetToZero) {
  for (const char* set :
       {"cudaMemset(&tree[n - 1], 0, sizeof(int));", "cudaMemset(tree + n - 1, 0, sizeof(int));",
        "cudaMemset(tree + n - 1, 0, 4);", "cudaMemcpy(&tree[n - 1], &nothing, sizeof(int), cudaMemcpyHostToDevice);"}) {
    EXPECT_THAT(Kernel(Read(Sweeps(set))),
                AllOf(HasSubstr("// evo:end\n// evo:launch set_to_zero(tree, i64(n - 1)) grid(1) block(1)\n// evo:repeat"),
                      HasSubstr("hand_down(tree, n, ")))
        << set;
  }
  for (const char* set : {"cudaMemset(&tree[n - 1], 1, sizeof(int));", "cudaMemset(&tree[n - 2], 0, 2 * sizeof(int));",
                          "nothing = 3; cudaMemcpy(&tree[n - 1], &nothing, sizeof(int), cudaMemcpyHostToDevice);"}) {
    EXPECT_THAT(Read(Sweeps(set)).files, Not(testing::Contains(testing::Pair(testing::_, HasSubstr("set_to_zero"))))) << set;
  }
}

// Two kernels that both store only inside of the edges, with these lines between them.
std::string Steps(const std::string& between) {
  std::string kernels;
  for (const char* name : {"plain", "tiled"})
    kernels += std::string("__global__ void ") + name +
               "(const float* a, float* b, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];\n}\n";
  const std::string arguments = "<<<(n + 255) / 256, 256>>>(a, b, n);\n";
  return kernels +
         "int main() {\n  int n = 100000;\n  float *a, *b, *h = new float[n];\n  cudaMalloc(&a, n * 4);\n"
         "  cudaMalloc(&b, n * 4);\n  cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);\n  plain" +
         arguments + between + "  tiled" + arguments + "  cudaMemcpy(h, b, n * 4, cudaMemcpyDeviceToHost);\n}\n";
}

// What the host has copied back was the result, so that a kernel behind it is another version.
TEST(ImportTurns, VersionsAreApartWhereTheHostReadsBetweenThem) {
  EXPECT_THAT(Kernel(Read(Steps("  cudaMemcpy(h, b, n * 4, cudaMemcpyDeviceToHost);\n"))),
              AllOf(HasSubstr("evo:launch plain"), Not(HasSubstr("evo:launch tiled"))));
  EXPECT_THAT(Kernel(Read(Steps(""))), AllOf(HasSubstr("evo:launch plain"), HasSubstr("evo:launch tiled")));
  EXPECT_THAT(Kernel(Read(Steps("  cudaMemcpy(h, a, n * 4, cudaMemcpyDeviceToHost);\n"))), HasSubstr("evo:launch tiled"));
}

// The width of a filter that the host is given leaves elements of the output.
TEST(ImportTurns, WindowsOfAnyWidthAreNarrow) {
  const ImportReply reply = Read(R"(
__global__ void filter(const float* in, const float* taps, float* out, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - k + 1) return;
  float sum = 0;
  for (int j = 0; j < k; ++j) sum += in[i + j] * taps[j];
  out[i] = sum;
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]), k = atoi(argv[2]);
  float *in, *taps, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&taps, k * sizeof(float));
  cudaMalloc(&out, (n - k + 1) * sizeof(float));
  filter<<<(n - k + 256) / 256, 256>>>(in, taps, out, n, k);
}
)");
  const nlohmann::json cases = TaskOf(reply).at("cases");
  EXPECT_EQ(cases.at("small").at("sizes").at("k"), 5);
  EXPECT_EQ(cases.at("search").at(0).at("sizes").at("k"), 5);
}

// Fields that are set one by one, or computed of numbers, are sizes wherever they are named.
TEST(ImportTurns, FieldsThatAreSetAreSizes) {
  const auto program = [](const std::string& set) {
    return "typedef struct { int nx, ny; } Grid;\n"
           "__global__ void copy(const float* a, float* b, Grid g) {\n  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
           "  if (x < g.nx && y < g.ny) b[y * g.nx + x] = a[y * g.nx + x];\n}\n"
           "int main() {\n  Grid g" +
           set +
           "  float *a, *b;\n  cudaMalloc(&a, g.nx * g.ny * 4);\n  cudaMalloc(&b, g.nx * g.ny * 4);\n"
           "  dim3 block(16, 16), grid((g.nx + 15) / 16, (g.ny + 15) / 16);\n  copy<<<grid, block>>>(a, b, g);\n}\n";
  };
  const char* const launch = "evo:launch copy(a, b, {nx, ny}) grid(ceil_div(nx, 16), ceil_div(ny, 16)) block(16, 16)";
  for (const char* set : {";\n  g.nx = 512;\n  g.ny = 384;\n", " = {512, 384};\n", " = {500 + 2 * 6, 384};\n"})
    EXPECT_THAT(Kernel(Read(program(set))), HasSubstr(launch)) << set;
}

}  // namespace
}  // namespace evo
