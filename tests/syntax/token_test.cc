#include "syntax/token.h"

#include <gmock/gmock.h>

#include <string>

namespace evo {
namespace {

std::vector<std::string> Spelled(const std::string& text) {
  std::vector<std::string> spelled;
  for (const SourceRange& token : Tokenize(text)) spelled.push_back(text.substr(token.begin, token.size()));
  return spelled;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Token, OperatorsAreAsLongAsPossible) {
  EXPECT_THAT(Spelled("a<<=b->c++ +d"), ElementsAre("a", "<<=", "b", "->", "c", "++", "+", "d"));
}

TEST(Token, NumbersKeepSuffixAndExponent) {
  EXPECT_THAT(Spelled("-3.0e-38f+.5f 0xffu 1'000"), ElementsAre("-", "3.0e-38f", "+", ".5f", "0xffu", "1'000"));
}

TEST(Token, CommentsAndPreprocessorLinesAreNoTokens) {
  EXPECT_THAT(Spelled("a // b\n/* c\n d */ e\n  #pragma unroll \\\n 4\nf"), ElementsAre("a", "e", "f"));
  EXPECT_THAT(Spelled("// only\n"), IsEmpty());
}

TEST(Token, LiteralsAreOneToken) {
  EXPECT_THAT(Spelled(R"(f("a \" // b", '"'))"), ElementsAre("f", "(", R"("a \" // b")", ",", "'\"'", ")"));
}

TEST(Token, BrokenTextEndsWithTheText) {
  EXPECT_THAT(Spelled("\"open"), ElementsAre("\"open"));
  EXPECT_THAT(Spelled("a /* open"), ElementsAre("a"));
  EXPECT_THAT(Spelled("\"\\"), ElementsAre("\"\\"));
  EXPECT_THAT(Spelled("#define A \\"), IsEmpty());
}

}  // namespace
}  // namespace evo
