#include "syntax/moving_pointers.h"

#include <gmock/gmock.h>

#include "syntax/byte_pointers.h"
#include "syntax/plain_loops.h"
#include "syntax/plain_text.h"
#include "syntax/wide_variables.h"
#include "tests/syntax/parsing.h"

namespace evo {
namespace {

using testing::HasSubstr;

std::string Kernel(const std::string& body) {
  return "__global__ void k(const float* x, float* y, unsigned char* z, int n, int s) {\n" + body + "\n}\n";
}

std::string Steady(const std::string& body) { return WithoutMovingPointers(ParseSource(Kernel(body))).value_or("(the same)"); }
std::string Counting(const std::string& body) { return WithPlainLoops(ParseSource(Kernel(body))).value_or("(the same)"); }
std::string Wide(const std::string& body) { return WithWideVariables(ParseSource(Kernel(body))).value_or("(the same)"); }

std::string OfElements(const std::string& body) { return WithoutBytePointers(ParseSource(Kernel(body))).value_or("(the same)"); }

TEST(MovingPointers, StayWhereTheyAre) {
  EXPECT_THAT(Steady("for (int i = 0; i < n; i++) y[i] = *x++;"), HasSubstr("y[i] = x[i];"));
  EXPECT_THAT(Steady("for (int i = 1; i < n; i++) { y[i] = x[2]; x++; y[0] = *x; }"), HasSubstr("y[i] = x[i - 1 + (2)];"));
  EXPECT_THAT(Steady("for (int i = 1; i < n; i++) { x += s; y[i] = *x; }"), HasSubstr("y[i] = x[(long long)i * s];"));
  EXPECT_THAT(Steady("for (int i = 0; i < n; i++, x += s + 1) y[i] = *x;"),
              HasSubstr("for (int i = 0; i < n; i++) y[i] = x[(long long)i * (s + 1)];"));
  EXPECT_THAT(Steady("const float* p = x; p = x + n; y[0] = *p;"), HasSubstr("const float * p_2 = x + n; y[0] = *p_2;"));
}

TEST(BytePointers, PointToElements) {
  EXPECT_THAT(OfElements("y[0] = ((const float*)((const char*)x + n * s))[2];"), HasSubstr("y[0] = ((x + (n * s) / 4))[2];"));
  EXPECT_THAT(OfElements("float* row = (float*)((char*)y + n * s); row[1] = 0;"), HasSubstr("float* row = (y + (n * s) / 4);"));
  // Of another type, and not behind a pointer.
  for (const char* body : {"y[0] = ((const int*)((const char*)x + n * s))[2];", "y[0] = ((const float*)(x + n * s))[2];",
                           "y[0] = *(float*)((char*)&s + n);", "y[0] = ((float*)((char*)x + n * s))[2];"})
    EXPECT_EQ(OfElements(body), "(the same)") << body;
}

TEST(MovingPointers, MoveWhereTheirPlaceIsNotTheTurn) {
  for (const char* body :
       {"for (int i = 0; i < n; i++) y[i] = *x++; y[0] = *x;",
        "for (int i = 0; i < n; i++) { if (i > s) continue; y[i] = *x++; }",
        "for (int i = 0; i < n; i++) { if (i > s) x++; y[i] = *x; }", "for (int i = 0; i < n; i += 2) y[i] = *x++;",
        "for (int k = 0; k < s; k++) for (int i = 0; i < n; i++) y[i] = *x++;", "for (int i = s; i < n; i++) y[i] = *x++;",
        "for (int i = 0; i < n; i++) { x += s; s++; y[i] = *x; }", "for (int i = 0; i < n; i++) y[i] = i > 2 && *x++ > 0;",
        "for (int i = 0; i < n; i++) { const float*& p = x; p++; y[i] = *x++; }", "for (int i = 0; i < n; i++) y[i] = *++x;",
        "for (int i = 0; i < n; i++) { y[i] = *x++; x++; }"})
    EXPECT_EQ(Steady(body), "(the same)") << body;
}

TEST(PlainLoops, DeclareTheirCounters) {
  EXPECT_THAT(Counting("int i; for (i = 0; i < n; i++) y[i] = 1; for (i = 1; i < s; i++) y[i] = 2;"),
              HasSubstr("int i; for (int i = 0; i < n; i++) y[i] = 1; for (int i = 1; i < s; i++)"));
  EXPECT_THAT(Counting("int i, row = blockIdx.x * 2; y[row] = 1;"), HasSubstr("int i; int row = blockIdx.x * 2; y[row] = 1;"));
  for (const char* body : {"int i; for (i = 0; i < n; i++) y[i] = 1; y[i] = 2;", "int i = 2; y[i] = 0; for (i = 0; i < n; i++) ;",
                           "int i; for (i = 0; i < n; i++) for (i = i + 1; i < s; i++) y[i] = 1;",
                           "int i; for (i = 0; i < n; i++) for (i = 0; i < s; i++) y[i] = 1;"})
    EXPECT_EQ(Counting(body), "(the same)") << body;
}

TEST(PlainLoops, AreForLoops) {
  EXPECT_THAT(Counting("int i = threadIdx.x; while (i < n) { y[i] = 1; i += blockDim.x; } y[0] = 2;"),
              HasSubstr("for (int i = threadIdx.x; i < n; i += blockDim.x) { y[i] = 1; } y[0] = 2;"));
  EXPECT_THAT(Counting("int i = threadIdx.x; int d = blockDim.x; y[0] = 3; while (i < n) { y[i] = 1; i += d; }"),
              HasSubstr("int d = blockDim.x; y[0] = 3; for (int i = threadIdx.x; i < n; i += d) { y[i] = 1; }"));
  for (const char* body :
       {"int i = s; s = 2; while (i < n) { y[i] = 1; i += 2; }", "int i = x[0]; y[0] = 3; while (i < n) { y[i] = 1; i += 2; }",
        "int i = 0; y[0] = 3; while (i < n) { y[i] = 1; i += 2; } y[i] = 4;",
        "int i = 0; while (i < n) { if (x[i] > 0) continue; i += 2; }",
        "int i = 0; while (i < n) { int d = s; y[i] = 1; i += d; }", "int i = 0; while (i < n) { y[i] = 1; i += i; }",
        "int i = 0; y[i] = 3; while (i < n) { i += 2; }", "int i = 0; while (i < n) { i += 2; y[i] = 1; }"})
    EXPECT_EQ(Counting(body), "(the same)") << body;
}

TEST(WideVariables, AreStoredAsTheShortOnesWere) {
  EXPECT_THAT(Wide("unsigned char best = 0; for (int i = 0; i < n; i++) if (x[i] > 0) best = (unsigned char)i; z[0] = best;"),
              HasSubstr("int best = 0; for (int i = 0; i < n; i++) if (x[i] > 0) best = i; z[0] = best;"));
  for (const char* body : {"unsigned char best = 0; best = (unsigned char)n; y[0] = best;",
                           "unsigned char best = 0; best = (unsigned char)n; if (best > 3) z[0] = best;",
                           "unsigned char best = 0; best += n; z[0] = best;", "unsigned char best = n; best = n; z[0] = best;"})
    EXPECT_EQ(Wide(body), "(the same)") << body;
}

TEST(PlainText, CastsToTypesOfSeveralWords) {
  const auto plain = PlainText(
      "// evo:launch k<long long>(X) grid(1) block(32)\ntemplate <typename T>\n__global__ void k(T* x) "
      "{ T a = T{}; x[0] = a + T(x[1]); }\n");
  EXPECT_THAT(plain.value_or(""), HasSubstr("long long a = (long long)0; x[0] = a + (long long)(x[1]); }"));
}

}  // namespace
}  // namespace evo
