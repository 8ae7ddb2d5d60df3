#include "syntax/local_objects.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/syntax/parsing.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

// A kernel with these statements, written out completely.
std::string KernelOf(const std::string& types, const std::string& statements) {
  const SyntaxTree tree = ParseSource(types + "__global__ void k(float* x, int n) {\n" + statements + "\n}\n");
  for (const std::string& error : tree.errors()) EXPECT_THAT(error, testing::StartsWith("/")) << "not in a header";
  const SyntaxTree* last = &tree;
  while (last->plain() != nullptr) last = last->plain();
  return last->text();
}

TEST(Lambdas, AreWrittenOutWhereTheyAreCalled) {
  const std::string text = KernelOf("", "auto twice = [&](int i) { return x[i] * 2; };\nx[0] = twice(1) + twice(n);");
  EXPECT_THAT(text, HasSubstr("x[0] = (x[1] * 2) + (x[n] * 2);"));
  EXPECT_THAT(text, Not(HasSubstr("auto"))) << "nobody names it any more";
  EXPECT_THAT(KernelOf("", "const auto set = [=](int i, float v) {\n  const float w = v + n;\n  x[i] = w;\n};\nset(3, 1.0f);"),
              HasSubstr("const float w_2 = 1.0f + n;\n"));
}

TEST(Lambdas, StayWhereNamesWouldMeanOtherVariables) {
  EXPECT_THAT(KernelOf("", "int i = 3;\nauto at = [&](int j) { return x[i] + j; };\nfor (int i = 0; i < n; ++i) x[i] = at(i);"),
              HasSubstr("x[i] = at(i);"));
  EXPECT_THAT(KernelOf("", "int i = 3;\nauto at = [=](int j) { return x[i] + j; };\ni = 5;\nx[1] = at(2);"),
              HasSubstr("x[1] = at(2);"))
      << "a copy of 3";
  EXPECT_THAT(KernelOf("", "auto same = [&](auto v) { return v; };\nx[1] = same(2);"), HasSubstr("same(2)"));
}

constexpr const char* kView =
    "template <class T> class View {\n public:\n  __device__ View(T* data, int cols) : data_(data), cols_{cols} {}\n"
    "  __device__ int at(int i, int j) const { return i * cols_ + j; }\n"
    "  __device__ T& operator()(int i, int j) const { return data_[at(i, j)]; }\n"
    "  __device__ int next() { return cols_++; }\n private:\n  T* data_;\n  int cols_;\n};\n";

TEST(LocalObjects, BecomeVariables) {
  const std::string text = KernelOf(kView, "View<float> v(x, n + 1);\nv(1, n) = v(n, 2) + v.at(0, 3);");
  EXPECT_THAT(text, HasSubstr("auto v_data = x; int v_cols = (n + 1);")) << text;
  EXPECT_THAT(text, HasSubstr("v_data[((1) * v_cols + (n))] = v_data[((n) * v_cols + (2))] + (0 * v_cols + 3);")) << text;
  EXPECT_THAT(KernelOf("struct Scale {\n  float by;\n  __device__ float operator()(float v) const { return v * by; }\n};\n",
                       "const Scale scale{0.5f};\nx[0] = scale(x[1]);"),
              HasSubstr("float scale_by = 0.5f;\nx[0] = ((x[1]) * scale_by);"));
}

// The kernel, written out completely, of types and a whole source.
std::string WrittenOut(const std::string& source) {
  const SyntaxTree tree = ParseSource(source);
  const SyntaxTree* last = &tree;
  while (last->plain() != nullptr) last = last->plain();
  return last->text();
}

constexpr const char* kImage =
    "template <class T> struct Image {\n  T* data;\n  int pitch;\n"
    "  __device__ T& at(int x, int y) const { return data[y * pitch + x]; }\n};\n";

TEST(LocalObjects, ParametersOfKernelsBecomeVariablesToo) {
  const std::string kernel = std::string(kImage) + "__global__ void k(Image<float> to, Image<const float> of, int n) {\n";
  const std::string text = WrittenOut(kernel + "  to.at(n, 1) = of.at(1, n);\n}\n");
  EXPECT_THAT(text, HasSubstr("auto to_data = to.data;\n  int to_pitch = to.pitch;")) << text;
  EXPECT_THAT(text, HasSubstr("to_data[1 * to_pitch + n] = of_data[n * of_pitch + 1];")) << text;
  EXPECT_THAT(WrittenOut(kernel + "  to.data[n] = of.data[1];\n}\n"), HasSubstr("to.data[n] = of.data[1];")) << "fields only";
  std::string closed = kernel + "  to.at(n, 1) = of.at(1, n);\n}\n";
  closed.insert(closed.find("  T* data"), " private:\n");
  closed.insert(closed.find("  __device__"), " public:\n");
  EXPECT_THAT(WrittenOut(closed), HasSubstr("to.at(n, 1) = of.at(1, n);")) << "no kernel may name the fields";
}

TEST(LocalObjects, StayIfMoreIsDoneWithThem) {
  for (const char* statements :
       {"View<float> v(x, n);\nx[0] = v.next();", "View<float> v(x, n);\nView<float>* p = &v;\nx[0] = (*p)(1, 2);",
        "View<float> v(x, n);\nv(n++, 2) = 1;", "View<float> v(x, n);\nView<float> w = v;\nx[0] = v(1, 2) + w(1, 2);"}) {
    const std::string text = KernelOf(kView, statements);
    EXPECT_THAT(text, HasSubstr(std::string("\n") + statements + "\n"));
  }
  EXPECT_THAT(
      KernelOf("struct Counted {\n  int n;\n  __device__ Counted(int m) : n(m) { ++n; }\n};\n", "Counted c(n);\nx[0] = c.n;"),
      HasSubstr("x[0] = c.n;"))
      << "its constructor does more";
}

TEST(IndexVectors, AreVariables) {
  const std::string text = KernelOf("",
                                    "const dim3 step(blockDim.x, n + 1);\nint2 at = make_int2(n, 3);\nat.x += 1;\n"
                                    "x[at.x + at.y] = step.x * step.z;");
  EXPECT_THAT(text, HasSubstr("const unsigned int step_x = blockDim.x; const unsigned int step_y = n + 1; "
                              "const unsigned int step_z = 1;\nint at_x = n; int at_y = 3;\nat_x += 1;\n"
                              "x[at_x + at_y] = step_x * step_z;"))
      << text;
  EXPECT_THAT(KernelOf("", "int2 at = make_int2(n, 3);\nint2 other = at;\nx[other.x] = at.y;"), HasSubstr("x[other.x] = at.y;"));
  EXPECT_THAT(KernelOf("", "int2 at = make_int2(n++, 3);\nx[at.x] = at.y;"), HasSubstr("make_int2(n++, 3)"));
}

}  // namespace
}  // namespace evo
