#include "import/host_expression.h"

#include <gtest/gtest.h>

#include "import/source_program.h"

namespace evo {
namespace {

HostExpression Parse(const char* text) { return Simplified(ParseHostExpression(SpelledTokens(text))); }

TEST(HostExpression, BecomesAnExpressionOfDirectives) {
  const std::pair<const char*, const char*> cases[] = {
      {"(n + 255) / 256", "ceil_div(n, 256)"},
      {"(n + BLOCK - 1) / BLOCK", "ceil_div(n, BLOCK)"},
      {"((n) + ((BLOCK) - 1)) / (BLOCK)", "ceil_div(n, BLOCK)"},
      {"(n - 1) / BLOCK + 1", "ceil_div(n, BLOCK)"},
      {"(int)ceil((float)n / 32.0f)", "ceil_div(n, 32)"},
      {"ceil(double(n) / double(BLOCK))", "ceil_div(n, BLOCK)"},
      {"n / BLOCK", "n / BLOCK"},
      {"2 * (a + b) * sizeof(float)", "2 * (a + b) * 4"},
      {"static_cast<int>(std::min(a, 64u))", "min(a, 64)"},
      {"1 << 20", "1048576"},
      {"a - (b - c)", "a - (b - c)"},
      {"1.0f / sqrtf(C)", "1.0 / sqrt(C)"},
      {"(BN % WN == 0) and (not (BM < 8) or BK == 4)", "BN % WN == 0 && (!(BM < 8) || BK == 4)"},
  };
  for (const auto& [host, directive] : cases) {
    const HostExpression expression = Parse(host);
    EXPECT_TRUE(expression.IsKnown()) << host;
    EXPECT_EQ(expression.Text(), directive) << host;
  }
}

TEST(HostExpression, IsUnknownWhereADirectiveCannotSayIt) {
  for (const char* host : {"atoi(argv[1])", "props.maxThreads", "[&] { return 1; }()", "a ? b", "(", "f(a, b)", ""})
    EXPECT_FALSE(Parse(host).IsKnown()) << host;
}

TEST(HostExpression, SurvivesDeepNesting) {
  EXPECT_FALSE(ParseHostExpression(std::vector<std::string_view>(100000, "(")).IsKnown());
  EXPECT_FALSE(ParseHostExpression(std::vector<std::string_view>(100000, "-")).IsKnown());
}

TEST(HostExpression, RoundsUpByChoiceOrByLimit) {
  EXPECT_EQ(Simplified(ParseHostExpression(SpelledTokens("n / b + ((n % b == 0) ? 0 : 1)"))).Text(), "ceil_div(n, b)");
  EXPECT_EQ(Simplified(ParseHostExpression(SpelledTokens("n / b + (n % b ? 1 : 0)"))).Text(), "ceil_div(n, b)");
  EXPECT_EQ(Simplified(ParseHostExpression(SpelledTokens("n / b + (n % b == 0 ? 1 : 0)"))).Text(),
            "n / b + (n % b == 0 ? 1 : 0)");
  EXPECT_EQ(Simplified(ParseHostExpression(SpelledTokens("(n + m - 1) / m"))).Text(), "ceil_div(n, m)");
  EXPECT_NEAR(ValueOf(ParseHostExpression(SpelledTokens("1 - powf(beta, 2)")), {{"beta", Number::Real(0.9)}})->AsReal(), 0.19,
              1e-9);
}

}  // namespace
}  // namespace evo
