#include "cli/print.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/describe.h"
#include "cli/record_output.h"
#include "cli/table.h"
#include "tests/cli/captured_output.h"
#include "tests/cli/pseudo_terminal.h"

namespace evo {
namespace {

// Sets the title of a terminal, clears it, overwrites the line, and turns the order of a line around.
const std::string kHostile =
    "a\x1b]0;title\x07\x1b[2J\rb\xc2\x9b"
    "1m\xe2\x80\xaeolleh";

TEST(Cleaned, ShowsWhatWouldControlATerminal) {
  EXPECT_EQ(Cleaned(kHostile), "a\\x1b]0;title\\x07\\x1b[2J\\x0db\\u009b1m\\u202eolleh");
  EXPECT_EQ(Cleaned(std::string("\0\x08\x7f", 3)), "\\x00\\x08\\x7f");
  EXPECT_EQ(Cleaned("\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x81\x81"), "\\u2066\\u200b\\ufeff\\ue0041");
}

TEST(Cleaned, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(Cleaned("a\xff\x9b\xc3"), "a\\xff\\x9b\\xc3");
  EXPECT_EQ(Cleaned("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80") << "overlong, and half a surrogate pair";
}

TEST(Cleaned, LeavesTextAsItIs) {
  EXPECT_EQ(Cleaned("int x;\n\tx = 1;  // \xc3\xa9, \xe6\xbc\xa2, \xf0\x9f\x9a\x80 \\x1b\n"),
            "int x;\n\tx = 1;  // \xc3\xa9, \xe6\xbc\xa2, \xf0\x9f\x9a\x80 \\x1b\n");
  EXPECT_EQ(Cleaned("a\r\nb\r"), "a\nb\\x0d") << "lines of a file from Windows";
  EXPECT_EQ(Cleaned(Cleaned(kHostile)), Cleaned(kHostile));
}

TEST(BrokenLines, GoOnBelowTheTextBehindTheirLabel) {
  EXPECT_EQ(BrokenLines("verdict     held-out ok on all cases\n", 24),
            (std::vector<std::string>{"verdict     held-out ok", "            on all cases", ""}));
  EXPECT_EQ(BrokenLines("evo: a message without any label\n\nx", 24),
            (std::vector<std::string>{"evo: a message without", "any label", "", "x"}));
  EXPECT_EQ(BrokenLines("            not checked: nothing ran", 24),
            (std::vector<std::string>{"            not checked:", "            nothing ran"}));
  EXPECT_EQ(BrokenLines("  --set TEXT  The answer to a question", 30),
            (std::vector<std::string>{"  --set TEXT  The answer to a", "              question"}));
  EXPECT_EQ(BrokenLines("short\n", 24), (std::vector<std::string>{"short", ""}));
}

TEST(CleanedLine, IsOneLine) { EXPECT_EQ(CleanedLine("a\nverdict\tverified\x1b"), "a\\nverdict\\tverified\\x1b"); }

TEST(Print, KeepsEveryTextOnItsLine) {
  testing::CapturedOutput printed;
  Print(printed.stream(), "message {:<4}|{}|{}|{}\n", std::string("a\nb"), "\x1b", 7,
        fmt::join(std::vector<std::string>{"\x07", "x"}, ","));
  EXPECT_EQ(printed.Text(), "message a\\nb|\\x1b|7|\\x07,x\n");
}

TEST(PrintLines, KeepsLines) {
  testing::CapturedOutput printed;
  PrintLines(printed.stream(), "a\n\tb\x1b\n");
  EXPECT_EQ(printed.Text(), "a\n\tb\\x1b\n");
}

TEST(Table, IsAsWideAsItsCleanedCells) {
  testing::CapturedOutput printed;
  Table table({"a\x1b", "b"});
  table.Add({"x\ny", "z"});
  table.Print(printed.stream());
  EXPECT_EQ(printed.Text(), "a\\x1b  b\nx\\ny   z\n");
}

TEST(Table, HeadingsGiveWayBeforeCells) {
  testing::PseudoTerminal terminal(60);
  if (terminal.stream() == nullptr) GTEST_SKIP() << "the system has no terminal left";
  Table table({"operator", ">children", ">faster than parent", ">best gain", ">valid"});
  table.Add({"thread_per_row_to_a_block", "2", "0", "0.040", "2"});
  table.Add({"thread_per_row_to_a_warp", "3", "1", "\xc3\xa9", "2"});
  table.Print(terminal.stream());
  const std::string printed = terminal.Text();
  EXPECT_THAT(printed, ::testing::StartsWith("operator                   children"));
  EXPECT_THAT(printed, ::testing::HasSubstr("thread_per_row_to_a_block         2"));
  EXPECT_THAT(printed, ::testing::HasSubstr("thread_per_row_to_a_warp          3"));
}

// 130 columns, since there is no terminal.
TEST(Table, WhoseNumbersDoNotFitIsPrintedInParts) {
  testing::CapturedOutput printed;
  std::vector<std::string> headings{"name"};
  std::vector<std::string> cells{"the first row"};
  for (int i = 0; i < 11; ++i) {
    headings.push_back(fmt::format(">n{}", i));
    cells.push_back("1234567890123456");
  }
  headings.push_back("what it does");
  cells.push_back("some words");
  Table table(headings);
  table.Add(cells);
  table.Print(printed.stream());
  std::istringstream text(printed.Text());
  int first_columns = 0;
  int numbers = 0;
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 130u) << line;
    first_columns += line.starts_with("the first");
    for (std::size_t at = 0; (at = line.find("1234567890123456", at)) != std::string::npos; ++at) ++numbers;
  }
  EXPECT_EQ(first_columns, 2);
  EXPECT_EQ(numbers, 11) << "none is broken or lost";
  EXPECT_NE(printed.Text().find("some words"), std::string::npos);
}

TEST(CsvText, IsCleanedAndKeepsLines) {
  EXPECT_EQ(CsvText("a\x1b[2J"), "a\\x1b[2J");
  EXPECT_EQ(CsvText("a\r\nb"), "\"a\nb\"");
}

TEST(Dump, EscapesEverythingButAscii) {
  EXPECT_EQ(Dump({{"text", kHostile + "\xff\x7f"}}),
            "{\n  \"text\": \"a\\u001b]0;title\\u0007\\u001b[2J\\rb\\u009b1m\\u202eolleh\\ufffd\\u007f\"\n}\n");
}

TEST(OneLine, CutsBetweenCharacters) {
  EXPECT_EQ(OneLine("abcdef\xc3\xa9ghijk", 10), "abcdef...");
  EXPECT_EQ(OneLine("a\x1b[2J\xc2\x9b", 100), "a [2J\\u009b");
}

}  // namespace
}  // namespace evo
