#include "cli/describe.h"

#include <gtest/gtest.h>

#include "cli/edit_promises.h"
#include "cli/table.h"
#include "cli/unified_diff.h"
#include "tests/cli/captured_output.h"

namespace evo {
namespace {

TEST(OneLine, FoldsWhiteSpaceAndCuts) {
  EXPECT_EQ(OneLine("  a\n\t b\x01 c ", 100), "a b c");
  EXPECT_EQ(OneLine("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(OneLine("abcdefghijk", 10), "abcdefg...");
  EXPECT_EQ(OneLine("", 10), "");
}

TEST(Describe, SaysWhereAnEditPutsWhat) {
  Edit edit;
  edit.op = "hoist";
  edit.anchors = {{"k", "ForStmt", "", 0, "", "", "", {}}, {"", "VarDecl", "", 0, "", "", "", {}}};
  edit.source = {{0, Placement::kReplace, ""}, {1, Placement::kBefore, "int x;\nint y;"}, {0, Placement::kAfter, "f();"}};
  edit.launch = {{"k", "grid", "N, 1"}};
  edit.parameters = {{"B", 2}};
  EXPECT_EQ(Describe(edit),
            "hoist: delete a loop in k; put `int x; int y;` before a variable; put `f();` after a loop in k; "
            "launch of k: grid(N, 1); B=2");
}

TEST(Describe, SumsUpAnEditOfManyChanges) {
  Edit edit;
  edit.op = "tile";
  edit.anchors = {{"k", "ForStmt", "", 0, "", "", "", {}}, {"", "FunctionDecl", "", 0, "", "", "", {}}};
  edit.source = {
      {0, Placement::kReplace, "a"}, {1, Placement::kBefore, "b"}, {0, Placement::kAfter, "c"}, {0, Placement::kAfter, "d"}};
  edit.launch = {{"k", "grid", "N"}, {"k", "block", "T"}, {"l", "block", "U"}};
  edit.brings = {{"T", {32, 64}, 32}, {"U", {1, 2}, 1}};
  EXPECT_EQ(Describe(edit),
            "tile: 4 changes in k; launch of k: grid(N), block(T); launch of l: block(U); brings the parameters T, U");
}

TEST(DescribeGain, CountsSmallOnesInPercent) {
  EXPECT_EQ(DescribeGain(std::nan("")), "");
  EXPECT_EQ(DescribeGain(1.054), ", +5.4%");
  EXPECT_EQ(DescribeGain(0.717), ", -28.3%");
  EXPECT_EQ(DescribeGain(0.99996), ", 0.0%");
  EXPECT_EQ(DescribeGain(47.752), ", 47.75 times the step before");
}

TEST(Describe, GivesRatesAUnitThatFits) {
  EfficiencyRow row;
  row.bytes_per_s = 3.03e12;
  row.memory_share = 1.07;
  row.operations_per_s = 7.58e11;
  row.arithmetic_share = 0.012;
  EXPECT_EQ(Describe(row),
            "3.03 TB/s (107% of what this machine was seen to do), 758 GFLOP/s (1.2% of what this machine was seen to do)");
}

TEST(DescribePromises, NamesTheUnprovenEdits) {
  const auto edit = [](const std::string& op, const std::string& function) {
    Edit made;
    made.op = op;
    made.anchors = {{function, "ForStmt", "", 0, "", "", "", {}}};
    return made;
  };
  Genome genome;
  EXPECT_EQ(DescribePromises(genome), "no edits");
  genome.edits = {edit("fast_math", "k"), edit("unroll_pragma", "k")};
  EXPECT_EQ(DescribePromises(genome), "all edits are proven: exact, reassociating");
  EXPECT_EQ(CountUnproven(genome), 0);
  EXPECT_EQ(UnprovenJson(genome).dump(), "[]");
  genome.edits.push_back(edit("statement_delete", "k"));
  genome.edits.push_back(edit("of_a_later_version", ""));
  EXPECT_EQ(DescribePromises(genome), "unproven edits: statement_delete in k, of_a_later_version");
  EXPECT_EQ(CountUnproven(genome), 2);
  EXPECT_EQ(UnprovenJson(genome)[0].dump(), R"({"position":2,"operator":"statement_delete","function":"k"})");
  EXPECT_EQ(UnprovenJson(genome)[1].dump(), R"({"position":3,"operator":"of_a_later_version","function":""})");
}

TEST(DescribeStep, NamesOnlyWhatChanged) {
  Edit edit;
  edit.op = "unroll";
  Candidate parent;
  parent.genome = {"t", "", {{"A", 1}, {"B", 2}}, {edit}};
  Candidate child = parent;
  child.genome.parameters["B"] = 4;
  child.genome.edits.clear();
  EXPECT_EQ(DescribeStep(child, &parent), "B=4; without unroll: ");
  EXPECT_EQ(DescribeStep(parent, nullptr), "template t, A=1 B=2");
  EXPECT_EQ(DescribeStep(parent, &parent), "nothing");
}

TEST(DescribeStep, DoesNotRepeatTheOperatorThatIsShownBesideIt) {
  Edit edit;
  edit.op = "unroll";
  edit.parameters["U"] = 4;
  Candidate parent;
  Candidate child;
  child.op = "unroll";
  child.genome.edits = {edit};
  EXPECT_EQ(DescribeStep(child, &parent), "U=4");
  child.op = "crossover";
  EXPECT_EQ(DescribeStep(child, &parent), "unroll: U=4");
}

TEST(SpeedupOver, PrefersTheInterleavedCheck) {
  CandidateRecord baseline;
  baseline.evaluation.score_ns = 300;
  CandidateRecord record;
  record.evaluation.score_ns = 100;
  EXPECT_EQ(SpeedupOver(baseline, record).value, 3);
  EXPECT_FALSE(SpeedupOver(baseline, record).from_check);
  record.check.emplace().speedup = 2.5;
  EXPECT_EQ(SpeedupOver(baseline, record).value, 2.5);
  EXPECT_TRUE(SpeedupOver(baseline, record).from_check);
  EXPECT_EQ(Describe(SpeedupOver(std::nullopt, CandidateRecord{})), "not known");
}

// The times that stand next to a speed-up are those that it was computed from.
TEST(SpeedupOver, HasTheTimesOfItsMeasurement) {
  CandidateRecord baseline;
  baseline.candidate.id = 1;
  baseline.candidate.genome.template_name = "naive";
  baseline.evaluation.score_ns = 1'263'800;
  CandidateRecord best;
  best.candidate.id = 57;
  best.candidate.genome.template_name = "naive";
  best.evaluation.score_ns = 688'000;
  best.evaluation.outcome = Outcome::kOk;
  const auto printed = [&] {
    testing::CapturedOutput out;
    PrintResult(out.stream(), baseline, best);
    return out.Text();
  };
  EXPECT_EQ(printed(),
            "kernel          candidate  latency us  speed-up  verdict\n"
            "baseline naive          1    1263.800     1.000\n"
            "best naive             57     688.000     1.837  not checked\n");
  EXPECT_EQ(Describe(SpeedupOver(baseline, best)),
            "1.837: 688.000 us, the baseline 1263.800 us (from the medians of two separate measurements)");
  best.check.emplace();
  best.check->outcome = Outcome::kOk;
  best.check->held_out_cases = {"ragged"};
  best.check->candidate_ns = 700'000;
  best.check->baseline_ns = 891'100;
  best.check->speedup = 1.273;
  EXPECT_EQ(printed(),
            "kernel          candidate  latency us  speed-up  verdict\n"
            "baseline naive          1     891.100     1.000\n"
            "best naive             57     700.000     1.273  held-out ok (ragged)\n"
            "re-timed, alternating with the baseline; in the search the best took 688.000 us and the baseline 1263.800 us\n");
  EXPECT_EQ(Describe(SpeedupOver(baseline, best)),
            "1.273: 700.000 us, the baseline 891.100 us (re-timed, alternating with the baseline)");
}

TEST(PrintResult, SaysThatNothingIsFasterThanTheBaseline) {
  CandidateRecord baseline;
  baseline.candidate.id = 1;
  baseline.candidate.genome.template_name = "naive";
  baseline.evaluation.outcome = Outcome::kOk;
  baseline.evaluation.score_ns = 1'169'006;
  baseline.check.emplace();
  baseline.check->outcome = Outcome::kOk;
  baseline.check->held_out_cases = {"ragged"};
  baseline.check->speedup = 0.965;
  testing::CapturedOutput out;
  PrintResult(out.stream(), baseline, baseline);
  EXPECT_EQ(out.Text(),
            "kernel          candidate  latency us  speed-up  verdict\n"
            "baseline naive          1    1169.006     1.000  held-out ok (ragged)\n"
            "no kernel was faster than the baseline\n");
}

TEST(Verdict, SaysWhereAKernelTakesLonger) {
  CandidateRecord record;
  record.evaluation.outcome = Outcome::kOk;
  record.check.emplace();
  record.check->outcome = Outcome::kOk;
  record.check->held_out_cases = {"ragged"};
  record.check->tools = {{"memcheck", "clean", ""}};
  EXPECT_EQ(Verdict(record), "verified (memcheck clean), held-out ok (ragged)");
  record.check->slowest = {1.1, "case a, generator 1"};
  EXPECT_EQ(Verdict(record), "verified (memcheck clean), held-out ok (ragged)");
  record.check->slowest = {1.816, "case a, generator 3"};
  EXPECT_EQ(Verdict(record),
            "verified (memcheck clean), held-out ok (ragged), 1.82 times as long on other inputs (case a, generator 3)");
  record.check->slowest = {};
  record.check->reference = kReferenceBaseline;
  EXPECT_EQ(Verdict(record), "verified (memcheck clean), held-out ok (ragged), compared with the baseline alone");
}

TEST(UnifiedDiff, IsEmptyForEqualTextsAndHasContextOtherwise) {
  EXPECT_EQ(UnifiedDiff("a", "x\ny\n", "b", "x\ny\n"), "");
  EXPECT_EQ(UnifiedDiff("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a\n+++ b\n@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n");
}

TEST(Coloured, MarksEveryKindOfLine) {
  EXPECT_EQ(
      Coloured("--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n--x\n+y\n"),
      "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n same\n\x1b[31m--x\x1b[0m\n\x1b[32m+y\x1b[0m\n");
  EXPECT_EQ(Coloured(""), "");
}

TEST(Table, AlignsAndLeavesNoTrailingBlanks) {
  testing::CapturedOutput printed;
  Table table({">n", "name"});
  table.Add({"10", "a"});
  table.Add({"7", ""});
  table.Print(printed.stream());
  EXPECT_EQ(printed.Text(), " n  name\n10  a\n 7\n");
}

TEST(Table, FitsALine) {
  testing::CapturedOutput printed;
  Table table({"name", ">median us", "reason"});
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + " ";
  table.Add({"a", "1.5", words + "end"});
  table.Add({std::string(300, 'x'), "12345.678", "short"});
  table.Print(printed.stream());
  const std::string text = printed.Text();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 130U) << text.substr(at, end - at);
    at = end + 1;
  }
  EXPECT_NE(text.find("12345.678  short\n"), std::string::npos) << "numbers are whole\n" << text;
  for (const char* word : {"word0", "word59", "end"}) EXPECT_NE(text.find(word), std::string::npos) << "nothing is cut";
}

TEST(WrappedLines, BreakAtBlanksAndNeverWithinACharacter) {
  EXPECT_EQ(WrappedLines("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(WrappedLines("abcdefghij k", 4), (std::vector<std::string>{"abcd", "efgh", "ij k"}));
  EXPECT_EQ(WrappedLines("abc\xc3\xa9z", 4), (std::vector<std::string>{"abc\xc3\xa9", "z"})) << "columns, not bytes";
  EXPECT_EQ(WrappedLines("", 4), (std::vector<std::string>{""}));
}

TEST(ToJson, OfAMachineHasTheKeysOfItsColumns) {
  MachineState machine;
  machine.moment = "start";
  machine.l2_bytes_per_s = 6e12;
  machine.l2_bytes = 52428800;
  machine.clocks.sm_mhz = 1980;
  machine.clocks.throttle_reason = "thermal";
  machine.clocks.disturbed = true;
  const nlohmann::ordered_json json = ToJson(std::vector{machine});
  // Compared as text, in which a number that is not known is null.
  EXPECT_EQ(json.dump(),
            R"([{"moment":"start","ordinal":0,"launch_ns":null,"control_ratio":null,"dram_bytes_per_s":null,)"
            R"("l2_bytes_per_s":6000000000000.0,"f32_per_s":null,"tensor_per_s":null,"l2_bytes":52428800,"sm_mhz":1980,)"
            R"("sm_max_mhz":null,"memory_mhz":null,"temperature_c":null,"power_w":null,"throttle_reason":"thermal"}])");
}

}  // namespace
}  // namespace evo
