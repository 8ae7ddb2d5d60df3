#include "report/page_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "report/markdown.h"
#include "report/svg_charts.h"
#include "tests/report/hostile_database.h"

namespace evo {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPage = "<meta content=\"connect-src EVO_REPORT_CONNECT\"><script>EVO_REPORT_DATA</script>";

TEST(EmbeddedJson, CannotEndItsElement) {
  for (const char* text :
       {"</script>", "<!--<script>", "]]>", "&lt;", "\xe2\x80\xa8\xe2\x80\xa9", "\xff\xfe", "\\u003c/script>"}) {
    const std::string embedded = EmbeddedJson({{"text", text}});
    for (const char c : {'<', '>', '&'}) EXPECT_EQ(embedded.find(c), std::string::npos) << text;
    EXPECT_THAT(embedded, Not(HasSubstr("\xe2\x80\xa8")));
    EXPECT_TRUE(json::accept(embedded)) << text;
  }
  const std::string text = "a<b>&c \xe2\x80\xa8 \\ \" \xe2\x82\xac";
  EXPECT_EQ(json::parse(EmbeddedJson({{"text", text}}))["text"], text);
}

TEST(ReportDocument, HasTheDataAndAsksNobody) {
  const std::string page = ReportDocument(kPage, {{"a", "EVO_REPORT_CONNECT EVO_REPORT_DATA $& </script>"}});
  EXPECT_EQ(page,
            "<meta content=\"connect-src 'none'\"><script>{\"a\":\"EVO_REPORT_CONNECT EVO_REPORT_DATA $\\u0026 "
            "\\u003c/script\\u003e\"}</script>");
  EXPECT_EQ(ServedDocument(kPage), "<meta content=\"connect-src 'self'\"><script>null</script>");
}

TEST(ReportDocument, RefusesAnotherPage) {
  for (const char* page : {"", "EVO_REPORT_DATA", "EVO_REPORT_CONNECT", "EVO_REPORT_CONNECT EVO_REPORT_DATA EVO_REPORT_DATA"})
    EXPECT_THROW(ReportDocument(page, {}), Error) << page;
}

TEST(MarkdownText, StaysInItsCell) {
  EXPECT_EQ(MarkdownText("a|b\n<b>"), "a\\|b &lt;b&gt;");
  EXPECT_EQ(MarkdownText("@team [x](y) `z` #1"), "\\@team \\[x\\]\\(y\\) \\`z\\` \\#1");
  EXPECT_EQ(MarkdownText("\x1b[31m"), " \\[31m");
}

json SmallReport(const std::string& text) {
  return {{"run",
           {{"run", 1},
            {"task", text},
            {"device_name", text},
            {"l2", "hot"},
            {"tool_version", "0.1.0"},
            {"evaluated", 2},
            {"valid", 2},
            {"generations", 1},
            {"seed", "1"},
            {"device", "cuda"}}},
          {"lines", {{"baseline_ns", 4000}, {"ceiling_ns", nullptr}, {"peers", json::array({{{"name", text}, {"ns", 2500}}})}}},
          {"generations", {{"seconds", {1, 2}}}},
          {"progress", {{"id", {1, 2}}, {"seconds", {0.5, 2}}, {"score_ns", {4000, 2000}}}},
          {"candidates", {{"total", 2}, {"id", {1, 2}}, {"generation", {0, 1}}, {"score_ns", {4000, 2000}}}},
          {"story", json::array({{{"id", 2},
                                  {"score_ns", 2000},
                                  {"gain", 2},
                                  {"operator", text},
                                  {"change", text},
                                  {"unproven", {"x"}},
                                  {"facts", {{"registers", 32}, {"spill_bytes", 0}, {"occupancy", 0.5}}}}})},
          {"check",
           {{"verdict", text},
            {"speedup", 2},
            {"candidate_ns", 2000},
            {"baseline_ns", 4000},
            {"evidence", json::array({{"sizes", text}})},
            {"tools", json::array({{{"tool", "memcheck"}, {"result", "clean"}, {"message", text}}})}}}};
}

TEST(StoryMarkdown, TellsTheStory) {
  const std::string text = StoryMarkdown(SmallReport("softmax"), "--- a\n+++ b\n-x\n+y\n");
  EXPECT_THAT(text, HasSubstr("## softmax: evolved by evo 0.1.0\n"));
  EXPECT_THAT(text, HasSubstr("**2.000 times as fast as the baseline** (2.000 us against 4.000 us"));
  EXPECT_THAT(text, HasSubstr("| 0 | 2 | 2.000 | 2.000 | softmax | softmax (**unproven**) | 32 | 0 | 0.50 |\n"));
  EXPECT_THAT(text, HasSubstr("- memcheck: clean, softmax\n"));
  EXPECT_THAT(text, HasSubstr("```diff\n--- a\n+++ b\n-x\n+y\n```\n"));
}

TEST(StoryMarkdown, CannotBeBrokenOutOf) {
  const std::string text = StoryMarkdown(SmallReport(testing::kScript), "+````\n+</details>\n");
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, HasSubstr("`````diff\n+````\n"));
}

TEST(SvgCharts, DrawAndEscape) {
  const std::string svg = SvgCharts(SmallReport(testing::kScript));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  EXPECT_THAT(svg, HasSubstr("class=\"curve\""));
  EXPECT_THAT(svg, HasSubstr("baseline 4 \xc2\xb5s"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  json empty = SmallReport("x");
  empty["progress"] = {{"id", json::array()}, {"seconds", json::array()}, {"score_ns", json::array()}};
  empty["candidates"] = {{"total", 0}, {"id", json::array()}, {"generation", json::array()}, {"score_ns", json::array()}};
  empty["lines"] = {{"baseline_ns", nullptr}, {"ceiling_ns", nullptr}, {"peers", json::array()}};
  EXPECT_THAT(SvgCharts(empty), HasSubstr("no candidate is right yet"));
}

}  // namespace
}  // namespace evo
