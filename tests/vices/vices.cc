#include "tests/vices/vices.h"

namespace evo {
namespace {

// A kernel of the task with the given body; `launch` replaces the launch line's clauses.
std::string Kernel(const std::string& body, const std::string& launch = "grid(ceil_div(N, 128)) block(128)", const std::string& before = "") {
  return "// evo:launch k(x, y, N) " + launch + "\n" + before + "\n__global__ void k(const float* x, float* y, int n) {\n" +
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body + "\n}\n";
}

}  // namespace

std::vector<Vice> AllVices() {
  using enum Outcome;
  const std::string honest = "  if (i < n) y[i] = x[i] + x[n - 1 - i];";
  std::vector<Vice> vices;
  const auto add = [&](const std::string& name, const std::string& source, std::vector<Outcome> cuda, std::vector<Outcome> cpu) {
    vices.push_back({name, source, std::move(cuda), std::move(cpu)});
  };
  add("honest", Kernel(honest), {kOk}, {kOk});
  add("crashes", Kernel(honest + "\n  *reinterpret_cast<volatile float*>(16) = 1.0f;"), {kCrash}, {kCrash});
  add("traps", Kernel(honest + "\n  if (i == n - 1) __trap();"), {kCrash}, {kCrash});
  add("never ends", Kernel(honest + "\n  while (*static_cast<const volatile float*>(x) < 1e30f) {}"), {kTimeout}, {kTimeout});
  add("writes behind its output", Kernel(honest + "\n  if (i == 0) y[n] = 1.0f;"), {kCheating}, {kCheating});
  add("writes before its output", Kernel(honest + "\n  if (i == 0) y[-3] = 1.0f;"), {kCheating}, {kCheating});
  add("changes its input", Kernel(honest + "\n  if (i == 5) const_cast<float*>(x)[5] = 0.0f;"), {kCheating, kNondeterministic, kWrongResult},
      {kCheating, kNondeterministic, kWrongResult});
  add("writes NaN", Kernel("  if (i < n) y[i] = x[i] + x[n - 1 - i] + (i == 7 ? 0.0f / 0.0f : 0.0f);"), {kWrongResult}, {kWrongResult});
  add("forgets the tail", Kernel("  if (i < n / 128 * 128) y[i] = x[i] + x[n - 1 - i];"), {kWrongResult}, {kWrongResult});
  add("writes nothing", Kernel("  if (i < 0) y[i] = x[i];"), {kWrongResult}, {kWrongResult});
  add("writes zeros", Kernel("  if (i < n) y[i] = 0.0f;"), {kWrongResult}, {kWrongResult});
  add("copies its input", Kernel("  if (i < n) y[i] = x[i];"), {kWrongResult}, {kWrongResult});
  add("races", Kernel("  __shared__ float tile[128];\n  tile[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
                      "  if (i < n) y[i] = tile[127 - threadIdx.x] * 0.0f + x[i] + x[n - 1 - i] + (tile[threadIdx.x ^ 64] - x[min(i ^ 64, n - 1)]);"),
      {kWrongResult, kNondeterministic}, {kWrongResult, kNondeterministic});
  add("adds in any order", Kernel("  if (i < n) y[i] = x[i] + x[n - 1 - i];\n  if (i < n) atomicExch(&last, i);\n"
                                  "  __threadfence();\n  if (i < n) y[i] += 1e-7f * last;",
                                  "grid(ceil_div(N, 128)) block(128)", "__device__ int last;"),
      {kNondeterministic, kWrongResult}, {kNondeterministic, kWrongResult});
  add("wants too much dynamic shared memory", Kernel(honest, "grid(ceil_div(N, 128)) block(128) shared(400000)"), {kResourceLimit}, {kResourceLimit});
  add("wants too much static shared memory", Kernel("  __shared__ float s[70000];\n  s[threadIdx.x] = i;\n  __syncthreads();\n  if (i < n) y[i] = s[0];"),
      {kResourceLimit}, {kResourceLimit});
  add("wants too many threads", Kernel(honest, "grid(1) block(2048)"), {kResourceLimit, kLaunchError}, {kResourceLimit, kLaunchError});
  add("does not parse", Kernel("  y[i] = x[i] +;"), {kCompileError}, {kCompileError});
  add("uses what is not there", Kernel("  y[i] = nothing[i];"), {kCompileError}, {kCompileError});
  add("uses inline PTX", Kernel("  asm volatile(\"membar.gl;\");\n" + honest), {kOk}, {kUnsupported});
  add("reads the clock", Kernel("  const long long now = clock64();\n  if (i < n) y[i] = now < 0 ? 0.0f : x[i] + x[n - 1 - i];"), {kCheating}, {kCheating});
  add("takes other arguments", "// evo:launch k(x, y) grid(1) block(32)\n__global__ void k(const float* x, float* y, int n) { y[0] = n; }\n", {kLaunchError},
      {kLaunchError});
  return vices;
}

}  // namespace evo
