#include "syntax/plain_text.h"

#include <gmock/gmock.h>

#include "tests/syntax/parsing.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Plain(const std::string& text) { return PlainText(text).value_or("(the same)"); }

TEST(PlainText, WritesMacroCallsOut) {
  EXPECT_THAT(Plain("#define IDX(i, j) ((i) * n + (j))\nint f(int n, int a) { return p[IDX(a - 1, 2)] + IDX(a, a); }\n"),
              HasSubstr("return p[(a - 1) * n + 2] + (a * n + a); }"));
  EXPECT_THAT(Plain("#define A(x) B(x, x)\n#define B(x, y) (x - \\\n  y)\nint f() { return A(-1); }\n"),
              HasSubstr("(-1 -    -1)"));
  EXPECT_THAT(Plain("#define NEG(x) -x\nint f() { return -NEG(-1); }\n"), HasSubstr("return - - -1;")) << "no `--`";
  EXPECT_THAT(Plain("#define F(x) F(x + 1)\nint f() { return F(2); }\n"), HasSubstr("F(2 + 1)")) << "once";
  EXPECT_THAT(Plain("#define ID (blockIdx.x * 4)\nint f() { return ID; }  // ID\n"),
              HasSubstr("return (blockIdx.x * 4); }  // ID"));
}

TEST(PlainText, LeavesWhatStandsForAConstantAndWhatIsNotCertain) {
  for (const char* same :
       {"#define B 256\n#define T (B * 4)\nint f() { return T; }\n",
        "#if 1\n#define F(x) (x)\n#endif\nint f() { return F(1); }\n",
        "#define F(x) (x)\n#undef F\n#define F(x) (-x)\nint f() { return F(1); }\n",
        "#define F(x) #x\nchar f() { return F(1); }\n", "#define F(...) f(__VA_ARGS__)\nint g() { return F(1); }\n",
        "#define F(x) (x)\nint f() { return F; }\n", "int f() { return 1; }\n"})
    EXPECT_EQ(Plain(same), "(the same)") << same;
}

TEST(PlainText, MakesFunctionsOfTemplatesWithOneListOfArguments) {
  const std::string plain = Plain(
      "// evo:launch k<float, B * 2>(X) grid(1) block(32)\ntemplate <typename T, int N>\n__global__ void k(T* x) { x[N] = "
      "g<N>(x[0]); }\n"
      "template <int M> __device__ float g(float v) { return v + M; }\n");
  EXPECT_THAT(plain, HasSubstr("// evo:launch k(X) grid(1) block(32)\n__global__ void k(float* x) { x[(B * 2)] = g(x[0]); }\n"));
  EXPECT_THAT(plain, HasSubstr("__device__ float g(float v) { return v + ((B * 2)); }\n"));
  EXPECT_THAT(plain, HasSubstr("// Names that are written out: ")) << "nobody takes them for a new name";
}

TEST(PlainText, LeavesOtherTemplates) {
  const std::string two = "// evo:launch k<1>(X) grid(1) block(32)\n// evo:launch k<2>(X) grid(1) block(32)\n";
  EXPECT_EQ(Plain(two + "template <int N> __global__ void k(int* x) { x[0] = N; }\n"), "(the same)");
  EXPECT_EQ(Plain("template <typename T> T f(T x) { return x; }\nint g() { return f(1); }\n"), "(the same)") << "deduced";
  EXPECT_EQ(Plain("template <int N> struct S { int at[N]; };\nint f() { S<1> s; return 0; }\n"), "(the same)");
}

// The tree of a source, written out completely.
std::string Inlined(const std::string& text) {
  const SyntaxTree tree = ParseSource(text);
  EXPECT_TRUE(tree.errors().empty()) << tree.errors().front();
  const SyntaxTree* last = &tree;
  while (last->plain() != nullptr) last = last->plain();
  return last->text();
}

TEST(Inlining, WritesExpressionsOut) {
  EXPECT_THAT(Inlined("__device__ int at(int i, int n) { return i * n; }\n"
                      "__global__ void k(int* x, int m) { x[at(m + 1, 2)] = at(m, m); }\n"),
              HasSubstr("x[((m + 1) * 2)] = (m * m);"));
  EXPECT_THAT(Inlined("__device__ int twice(float v) { return 2 * v; }\n__global__ void k(int* x, int m) { x[0] = twice(m); }\n"),
              HasSubstr("x[0] = (int)(2 * ((float)(m)));"))
      << "types stay";
  EXPECT_THAT(Inlined("__device__ int twice(int v) { return v + v; }\n__global__ void k(int* x) { x[0] = twice(x[1]++); }\n"),
              HasSubstr("x[0] = twice(x[1]++);"))
      << "an argument that does something";
}

TEST(Inlining, WritesStatementsOutWithNamesOfTheirOwn) {
  const std::string text = Inlined(
      "__device__ float sum(float v) {\n  int i = 3;\n  v += i;\n  return v;\n}\n"
      "__global__ void k(float* x, int i) {\n  float v = x[i];\n  v = sum(v);\n  const float w = sum(v * 2);\n  x[i] = w;\n}\n");
  EXPECT_THAT(text, HasSubstr("  {\nfloat v_2 = v;\nint i_2 = 3;\nv_2 += i_2;\nv = v_2;\n}\n"));
  EXPECT_THAT(text, HasSubstr("  float w;\n{\nfloat v_2 = v * 2;\nint i_2 = 3;\nv_2 += i_2;\nw = v_2;\n}\n"));
}

// What is passed by value is read once, before anything of the function is done.
TEST(Inlining, CopiesWhatMayChangeMeanwhile) {
  EXPECT_THAT(Inlined("__device__ void add(float& to, float v) {\n  to += 1;\n  to += v;\n}\n"
                      "__global__ void k(float* x) {\n  float a = x[0];\n  add(a, a);\n  x[0] = a;\n}\n"),
              HasSubstr("{\nfloat v_2 = a;\na += 1;\na += v_2;\n}"));
  EXPECT_THAT(Inlined("__device__ int wait(int v) {\n  __syncthreads();\n  return v;\n}\n"
                      "__global__ void k(int* x) {\n  __shared__ int s;\n  s = 1;\n  int a;\n  a = wait(s);\n  x[0] = a;\n}\n"),
              HasSubstr("{\nint v_2 = s;\n__syncthreads();\na = v_2;\n}"));
  EXPECT_THAT(Inlined("__device__ int count(int* h, int v) { return atomicAdd(&h[v], v); }\n"
                      "__global__ void k(int* h) { h[0] = 2 * count(h, h[1]); }\n"),
              HasSubstr("2 * count(h, h[1])"));
}

TEST(Inlining, LeavesFunctionsThatReturnEarlyOrCallThemselves) {
  const std::string early =
      "__device__ void f(int* x) {\n  if (x[0]) return;\n  x[0] = 1;\n}\n__global__ void k(int* x) {\n  f(x);\n}\n";
  EXPECT_EQ(Inlined(early), early);
  const std::string conditional =
      "#define B 32\n__device__ void f(int* x) {\n#if B > 32\n  x[0] = 2;\n#endif\n  x[0] += 1;\n}\n"
      "__global__ void k(int* x) {\n  f(x);\n}\n";
  EXPECT_EQ(Inlined(conditional), conditional) << "with another B it does something else";
  const std::string recursive =
      "__device__ int f(int n) { return n < 1 ? 0 : f(n - 1); }\n__global__ void k(int* x) { x[0] = f(9); }\n";
  EXPECT_THAT(Inlined(recursive), HasSubstr("f("));
}

}  // namespace
}  // namespace evo
