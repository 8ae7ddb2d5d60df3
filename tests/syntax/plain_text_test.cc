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

TEST(PlainText, WritesProductsOf24BitsAsProducts) {
  EXPECT_EQ(Plain("int i = __mul24(a, __umul24(b, 2 + c));\n"),
            "int i = ((int)(a) * (int)( ((unsigned int)(b) * (unsigned int)( 2 + c))));\n"
            "// Names that are written out: __mul24 __umul24\n");
  EXPECT_EQ(Plain("#define IMUL(a, b) __mul24(a, b)\nint i = IMUL(x, y);\n"),
            "int i = ((int)(x) * (int)( y));\n// Names that are written out: IMUL\n");
  EXPECT_EQ(Plain("int i = __mul24(hash[j], 3);  // elements are large\n"), "(the same)");
}

TEST(PlainText, WritesSizesOfTypesAsNumbers) {
  EXPECT_EQ(Plain("int i = 16 / sizeof(float) + sizeof(Mine) + sizeof(x);\n"),
            "int i = 16 / 4ul + sizeof(Mine) + sizeof(x);\n// Names that are written out: float\n");
}

TEST(PlainText, WritesStoresThatSayHowTheyAreCachedAsStores) {
  EXPECT_EQ(Plain("void f() { __stcs(y + i, max(a, x[i])); }\n"),
            "void f() { (*(y + i) = ( max(a, x[i]))); }\n// Names that are written out: __stcs\n");
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

TEST(PlainText, DividesATemplateWithSeveralListsOfArguments) {
  const std::string plain = Plain(
      "// evo:launch k<1>(X) grid(1) block(32)\n// evo:launch k<2>(X) grid(1) block(32)\n"
      "template <int N, typename T = float> __global__ void k(T* x) { x[0] = f<N>(x[1]); }\n"
      "template <int M> __device__ float f(float v) { return v * M; }\n");
  EXPECT_THAT(plain, HasSubstr("// evo:launch k_1_float(X) grid(1) block(32)\n// evo:launch k_2_float(X) grid(1) block(32)\n"));
  EXPECT_THAT(plain, HasSubstr("template <int N, typename T = float> __global__ void k(T* x) ;\n"));
  EXPECT_THAT(plain, HasSubstr("__global__ void k_1_float(float* x) { x[0] = f_1(x[1]); }\n"));
  EXPECT_THAT(plain, HasSubstr("__global__ void k_2_float(float* x) { x[0] = f_2(x[1]); }\n"));
  EXPECT_THAT(plain, HasSubstr("__device__ float f_2(float v) { return v * 2; }\n"));
}

// Without brackets, all parameters have their defaults.
TEST(PlainText, MakesFunctionsOfTemplatesThatAreUsedWithTheirDefaults) {
  EXPECT_THAT(Plain("// evo:launch k(x) grid(1) block(1)\ntemplate <const int N = 4>\n"
                    "__global__ void k(float* x) { x[0] = N; }\n"),
              HasSubstr("// evo:launch k(x) grid(1) block(1)\n__global__ void k(float* x) { x[0] = 4; }\n"));
  // Another declaration, and a type that is deduced.
  EXPECT_FALSE(PlainText("template <int N = 4> void f(float* x) { x[0] = N; }\ntemplate <int N> void f(float* x);\n"));
  EXPECT_FALSE(PlainText("template <typename T = float> void f(T* x) { *x = 1; }\nvoid g(int* x) { f(x); }\n"));
}

TEST(PlainText, MakesFunctionsOfTemplatesInNamespaces) {
  const std::string plain = Plain(
      "// evo:launch a::b::k<float>(X) grid(1) block(32)\nnamespace a::b {\nnamespace {\nextern \"C\" {\n"
      "template <typename T> __device__ T f(T v) { return v + 1; }\n}\n}\n"
      "template <typename T> __global__ void k(T* x) { x[0] = f<T>(x[1]); }\n}\n"
      "struct S { template <typename T> __device__ T g(T v) { return v; } };\n");
  EXPECT_THAT(plain, HasSubstr("// evo:launch a::b::k(X) grid(1) block(32)\nnamespace a::b {\n"));
  EXPECT_THAT(plain, HasSubstr("__device__ float f(float v) { return v + 1; }"));
  EXPECT_THAT(plain, HasSubstr("__global__ void k(float* x) { x[0] = f(x[1]); }"));
  EXPECT_THAT(plain, HasSubstr("struct S { template <typename T> __device__ T g(T v) { return v; } };"));
}

TEST(PlainText, LeavesOtherTemplates) {
  EXPECT_EQ(Plain("template <typename T> T f(T x) { return x; }\nint g() { return f(1); }\n"), "(the same)") << "deduced";
  EXPECT_EQ(Plain("template <int N> struct S { int at[N]; };\nint f() { S<1> s; return 0; }\n"), "(the same)");
}

// The tree of a source, written out completely.
std::string Inlined(const std::string& text) {
  const SyntaxTree tree = ParseSource(text);
  for (const std::string& error : tree.errors()) EXPECT_THAT(error, testing::StartsWith("/")) << "not in a header";
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

TEST(Inlining, WritesStatementsOutForElements) {
  EXPECT_THAT(Inlined("__device__ int round(int v, int n) {\n  v = v % n;\n  return v + 1;\n}\n"
                      "__global__ void k(int* x, int i) {\n  x[i + 1] = round(i, 8);\n}\n"),
              HasSubstr("{\nint v_2 = i;\nv_2 = v_2 % 8;\nx[i + 1] = v_2 + 1;\n}"));
  EXPECT_THAT(Inlined("__global__ void k(int* x, int n) {\n  auto round = [&](int v) {\n    v = v % n;\n    return v;\n  };\n"
                      "  if (n > 2) x[n] = round(9);\n}\n"),
              HasSubstr("if (n > 2) {\nint v_2 = 9;\nv_2 = v_2 % n;\nx[n] = v_2;\n}"));
  // Which element it is may change, and so may what is passed.
  for (const char* body :
       {"  auto next = [&](int v) {\n    i += v;\n    return v;\n  };\n  x[i] = next(2);\n",
        "  auto next = [&](int v) {\n    int* p = &i;\n    *p = v;\n    return v;\n  };\n  x[i] = next(2);\n"}) {
    const std::string text = std::string("__global__ void k(int* x, int i) {\n") + body + "}\n";
    EXPECT_THAT(Inlined(text), HasSubstr("x[i] = next(2);"));
  }
  EXPECT_THAT(Inlined("__device__ int twice(int v) {\n  v *= 2;\n  return v;\n}\n"
                      "__global__ void k(int* x, int i) {\n  x[i++] = twice(i);\n}\n"),
              HasSubstr("x[i++] = twice(i);"));
}

TEST(Inlining, PassesArraysByReference) {
  EXPECT_THAT(
      Inlined(
          "using Row = float[8];\n__device__ void put(Row& row, int i) {\n  row[i] = 1;\n}\n"
          "__global__ void k(float* x, int i) {\n  __shared__ Row rows[2];\n  put(rows[i % 2], i);\n  x[i] = rows[1][i];\n}\n"),
      HasSubstr("(rows[i % 2])[i] = 1;"));
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

TEST(PlainLoops, AreLoopsThatCountUp) {
  EXPECT_THAT(
      Inlined("__global__ void k(float* x, int n) {\n  float s = 0;\n  int i = 0;\n  while (i < n) {\n    s += x[i];\n    "
              "i++;\n  }\n  x[0] = s;\n}\n"),
      HasSubstr("for (int i = 0; i < n; i++) {\n    s += x[i];\n    }\n  x[0] = s;"));
  EXPECT_THAT(Inlined("__global__ void k(float* x, unsigned n) {\n  for (unsigned i = 0; i != n; ++i) x[i] = 1;\n}\n"),
              HasSubstr("for (unsigned i = 0; i < n; ++i)"));
}

TEST(PlainLoops, AreNotThoseThatDoMore) {
  for (const char* body :
       {"int i = 0; while (i < n) { x[i] = 1; i++; } x[0] = i;", "int i = 0; while (i < n) { if (x[i] > 0) continue; i++; }",
        "int i = 0; x[0] = 2; while (i < n) { x[i] = 1; i++; }", "int i = 0; while (i < n) { i += x[i] > 0; i++; }",
        "for (int i = 0; i != n; ++i) { n = n - 1; }", "for (int i = 0; i != n; ++i) { i += x[i] > 0; }",
        "for (int i = 0; i != n; i += 2) { x[i] = 1; }", "for (int i = 1; i != n; ++i) { x[i] = 1; }"}) {
    const std::string text = std::string("__global__ void k(float* x, int n) {\n") + body + "\n}\n";
    EXPECT_EQ(Inlined(text), text);
  }
}

TEST(ConditionalSums, TakeAtomicsOfOneNumber) {
  EXPECT_THAT(
      Inlined(
          "__global__ void k(float* x, int* c, int n) {\n  int i = threadIdx.x;\n  if (i < n && x[i] > 1) atomicOr(c, 1);\n}\n"),
      HasSubstr("if (i < n) atomicOr(c, x[i] > 1 ? 1 : 0);"));
  const std::string counts =
      "__global__ void k(int* x, int* c, int n) {\n  int i = threadIdx.x;\n  if (x[i] < n) atomicAdd(&c[x[i]], 1);\n}\n";
  EXPECT_EQ(Inlined(counts), counts) << "its place is only right under the condition";
}

TEST(Inlining, FindsTheArgumentsOfTemplatesByWhatTheyGet) {
  const std::string text = Inlined(
      "template <typename T> __device__ T twice(T v) { return v + v; }\n"
      "template <int N, typename T> __device__ void put(T* to, const T v) {\n  to[N] = v;\n  to[0] = v;\n}\n"
      "__global__ void k(float* x, int* y) {\n  x[0] = twice(x[1]);\n  y[0] = twice(y[1]);\n  put<3>(x, x[2]);\n}\n");
  EXPECT_THAT(text, HasSubstr("x[0] = ((x[1]) + (x[1]));"));
  EXPECT_THAT(text, HasSubstr("__device__ int twice_int(int v)"));
  EXPECT_THAT(text, HasSubstr("x[3] = v_2;"));
}

TEST(Inlining, WritesMethodsOfStructsWithoutFieldsOut) {
  const std::string text = Inlined(
      "template <typename T> struct Larger {\n  __device__ T operator()(const T& a, const T& b) const { return a < b ? b : a; "
      "}\n};\n"
      "struct Scale {\n  float by;\n  __device__ float operator()(float v) const { return v * by; }\n};\n"
      "__global__ void k(float* x, int* y) {\n  Larger<float> larger;\n  Scale scale{2};\n  x[0] = larger(x[1], x[2] + 1);\n"
      "  x[3] = scale(x[4]);\n  x[5] = larger(y[0], x[6]);\n  y[1] = Larger<int>()(y[2]++, y[3]);\n}\n");
  EXPECT_THAT(text, HasSubstr("x[0] = ((x[1]) < (x[2] + 1) ? (x[2] + 1) : (x[1]));"));
  EXPECT_THAT(text, HasSubstr("x[3] = ((x[4]) * scale_by);")) << "a field";
  EXPECT_THAT(text, HasSubstr("x[5] = larger(y[0], x[6]);")) << "a conversion";
  EXPECT_THAT(text, HasSubstr("Larger<int>()(y[2]++, y[3]);")) << "an argument that does something";
}

TEST(Inlining, WritesStaticMethodsOut) {
  const std::string text = Inlined(
      "template <typename T> struct Sum {\n  static __device__ T none() { return T(0); }\n"
      "  static __device__ T of(T a, T b) { return a + b; }\n  static __device__ int bytes() { return sizeof(T); }\n};\n"
      "struct Count {\n  int all;\n  static __device__ int next(int n) { return n + 1; }\n"
      "  static __device__ int last(int n) { n += 1; return n; }\n};\n"
      "__global__ void k(float* x, int* y) {\n  x[0] = Sum<float>::of(x[1], x[2]);\n  x[3] = Sum<float>::none();\n"
      "  y[0] = Sum<double>::bytes();\n  y[1] = Count::next(y[2]);\n  y[3] = Count::last(y[4]);\n}\n");
  EXPECT_THAT(text, HasSubstr("x[0] = ((x[1]) + (x[2]));"));
  EXPECT_THAT(text, HasSubstr("x[3] = (float(0));"));
  EXPECT_THAT(text, HasSubstr("y[0] = Sum<double>::bytes();")) << "another type than that which it returns";
  EXPECT_THAT(text, HasSubstr("y[1] = ((y[2]) + 1);"));
  EXPECT_THAT(text, HasSubstr("y[3] = Count::last(y[4]);")) << "it does more than return an expression";
}

TEST(Inlining, MakesPointersToSharedMemoryArrays) {
  const std::string text = Inlined(
      "template <typename T> struct Shared {\n  __device__ operator T*() { extern __shared__ int words[]; return (T*)words; "
      "}\n};\n"
      "__global__ void k(float* x) {\n  float* s = Shared<float>();\n  volatile float* v = s;\n  v[threadIdx.x] = x[0];\n}\n"
      "__global__ void l(float* x) {\n  extern __shared__ char raw[];\n  int* t = reinterpret_cast<int*>(raw);\n  t[0] = 1;\n}\n"
      "__global__ void m(float* x) {\n  __shared__ float u[4];\n  float* p = u;\n  p += 1;\n  *p = x[0];\n}\n");
  EXPECT_THAT(text, HasSubstr("  extern __shared__ float s[];\n  \n  s[threadIdx.x] = x[0];\n"));
  EXPECT_THAT(text, HasSubstr("  extern __shared__ int t[];\n  \n  t[0] = 1;\n"));
  EXPECT_THAT(text, HasSubstr("float* p = u;\n  p += 1;")) << "it moves";
}

TEST(Inlining, WritesConditionsOnDataIntoSums) {
  const std::string text = Inlined(
      "__global__ void k(const float* x, int* y, int n, int t) {\n  int a = 0, b = 0, c = 0;\n  int i = threadIdx.x;\n"
      "  const float v = x[i];\n  if (i < n && x[i] > 1) ++a;\n  if (v > 2 || v < 1) b += y[i];\n  if (i < t) b += 2;\n"
      "  if (v > 3) c = 1;\n  if (v > 4) y[i] += 1;\n  y[0] = a + b + c;\n}\n");
  EXPECT_THAT(text, HasSubstr("if (i < n) a += x[i] > 1 ? 1 : 0;"));
  EXPECT_THAT(text, HasSubstr("b += (v > 2 || v < 1) ? y[i] : 0;"));
  EXPECT_THAT(text, HasSubstr("if (i < t) b += 2;")) << "no data";
  EXPECT_THAT(text, HasSubstr("c += v > 3 ? 1 : 0;"));
  EXPECT_THAT(text, HasSubstr("if (v > 4) y[i] += 1;")) << "a store";
}

constexpr const char* kGroups =
    "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n";

TEST(Inlining, WritesGroupsOfThreadsOut) {
  const std::string launch = "// evo:launch k(X) grid(1) block(64)\n",
                    body =
                        "__device__ int rank(cg::thread_group g) { return g.thread_rank(); }\n"
                        "__global__ void k(float* x) {\n  auto block = cg::this_thread_block();\n  auto tile = "
                        "cg::tiled_partition<32>(block);\n"
                        "  float v = x[rank(block)];\n  v += tile.shfl_down(v, 1);\n  block.sync();\n  cg::sync(tile);\n"
                        "  v = cg::reduce(tile, v * 2, cg::plus<float>());\n  x[tile.meta_group_rank()] = v;\n}\n";
  const std::string text = Inlined(kGroups + launch + body);
  EXPECT_THAT(text, HasSubstr("v += __shfl_down_sync(0xffffffffu, v, 1);\n  __syncthreads();\n  __syncwarp();\n"));
  EXPECT_THAT(text, HasSubstr("float v = x[(int)(threadIdx.x)];"));
  EXPECT_THAT(text, HasSubstr("{ v = v * 2;\nfor (int offset = 16; offset > 0; offset /= 2) v += "
                              "__shfl_xor_sync(0xffffffffu, v, offset); }"));
  EXPECT_THAT(text, HasSubstr("x[(threadIdx.x / 32u)] = v;"));
  EXPECT_THAT(text, Not(HasSubstr("auto")));
  const std::string plane = Inlined(std::string(kGroups) + "// evo:launch k(X) grid(1) block(8, 8)\n" + body);
  const std::string rank = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))";
  EXPECT_THAT(plane, HasSubstr("float v = x[(int)(" + rank + ")];")) << "blocks of two dimensions";
  EXPECT_THAT(plane, HasSubstr("x[(" + rank + " / 32u)] = v;"));
}

// Of a function whose value nobody wants, what it does must stay.
TEST(PlainText, KeepsWhatACalledFunctionDoesBesidesItsValue) {
  const std::string text = Inlined(R"(
__device__ float largest(float* a, float v) { return __int_as_float(atomicMax((int*)a, __float_as_int(v))); }
__device__ float twice(float v) { v = v + v; return v; }
__global__ void k(float* x, float* y) {
  largest(x, y[threadIdx.x]);
  twice(y[threadIdx.x]);
}
)");
  EXPECT_THAT(text.substr(text.find("__global__")), testing::HasSubstr("atomicMax(")) << text;
}

}  // namespace
}  // namespace evo
