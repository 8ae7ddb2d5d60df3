#include "evaluator/device/cuda/activity_records.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

using Times = std::vector<SequenceTime>;

constexpr ActivityKind kKernel = ActivityKind::kKernel;
constexpr ActivityKind kMemset = ActivityKind::kMemset;
constexpr ActivityKind kMemcpy = ActivityKind::kMemcpy;
constexpr int kOurs = ExpectedActivity::kOurs;

// hold, then twice: a copy of ours, a declared memset and two declared kernels.
const std::vector<ExpectedActivity> kExpected = {{kKernel, "hold", kOurs}, {kMemcpy, "", kOurs}, {kMemset, "", 0},
                                                 {kKernel, "a", 0},        {kKernel, "b", 0},    {kMemcpy, "", kOurs},
                                                 {kMemset, "", 1},         {kKernel, "a", 1},    {kKernel, "b", 1}};

const std::vector<ActivityRecord> kRecords = {
    {kKernel, "hold", 10, 0, 9000},   {kMemcpy, "", 11, 9600, 9664},    {kMemset, "", 12, 10016, 10080},
    {kKernel, "a", 13, 10112, 10912}, {kKernel, "b", 15, 11008, 11040}, {kMemcpy, "", 16, 11600, 11664},
    {kMemset, "", 20, 12016, 12048},  {kKernel, "a", 21, 12048, 12880}, {kKernel, "b", 22, 13008, 13040}};

std::string Complaint(const std::vector<ActivityRecord>& records) {
  const auto matched = MatchActivities(kExpected, records, 2, 32);
  const auto* complaint = std::get_if<std::string>(&matched);
  return complaint == nullptr ? "" : *complaint;
}

TEST(MatchActivities, SpanAndBusyOfTheDeclaredOnes) {
  std::vector<ActivityRecord> shuffled(kRecords.rbegin(), kRecords.rend());
  const auto matched = MatchActivities(kExpected, shuffled, 2, 32);
  ASSERT_TRUE(std::holds_alternative<Times>(matched)) << std::get<std::string>(matched);
  const Times& times = std::get<Times>(matched);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].span_ticks, (11040u - 10016) / 32);
  EXPECT_EQ(times[0].busy_ticks, (64u + 800 + 32) / 32);
  EXPECT_EQ(times[1].span_ticks, (13040u - 12016) / 32);
  EXPECT_EQ(times[1].busy_ticks, (32u + 832 + 32) / 32);
}

TEST(MatchActivities, WhatIsLeftFromBeforeIsIgnored) {
  std::vector<ActivityRecord> records = kRecords;
  records.push_back({kKernel, "a", 3, 1, 2});
  EXPECT_EQ(Complaint(records), "");
}

TEST(MatchActivities, ANameOfAnImageThatIsGoneSaysNothing) {
  std::vector<ActivityRecord> records = kRecords;
  records[3].name = "of another candidate";
  EXPECT_NE(Complaint(records), "");
  records[3].former_name = true;
  EXPECT_EQ(Complaint(records), "");
  records.push_back({kKernel, "of another candidate", 23, 14000, 14032, true});
  EXPECT_NE(Complaint(records), "") << "but one more than declared is one too many";
}

TEST(MatchActivities, AMemsetMayBeSplit) {
  std::vector<ActivityRecord> records = kRecords;
  records.push_back({kMemset, "", 12, 10080, 10112});
  EXPECT_EQ(Complaint(records), "");
}

TEST(MatchActivities, AnythingElseIsRefused) {
  std::vector<ActivityRecord> undeclared = kRecords;
  undeclared.push_back({kKernel, "child", 23, 14000, 14032});
  EXPECT_EQ(Complaint(undeclared), "kernel child ran and was not declared");

  std::vector<ActivityRecord> between = kRecords;
  between.push_back({kMemcpy, "", 14, 10920, 10930});
  EXPECT_EQ(Complaint(between), "a copy ran where kernel b was declared");

  std::vector<ActivityRecord> twice = kRecords;
  twice.push_back({kKernel, "a", 13, 10912, 10944});
  EXPECT_EQ(Complaint(twice), "kernel a ran 2 times in one launch");

  std::vector<ActivityRecord> missing = kRecords;
  missing.pop_back();
  EXPECT_EQ(Complaint(missing), "kernel b was declared and is not among the device's records");
  EXPECT_NE(Complaint({}), "");

  std::vector<ActivityRecord> renamed = kRecords;
  renamed[3].name = std::string("z");
  EXPECT_EQ(Complaint(renamed), "kernel z ran where kernel a was declared");
}

// docs/hazards.md, row 18: a flush in the same window, a hundred times as long, is not part of the time.
TEST(MatchActivities, AFlushBesideTheKernelIsNotCounted) {
  const std::vector<ExpectedActivity> expected = {
      {kKernel, "hold", kOurs}, {kMemset, "", kOurs}, {kKernel, "a", 0}, {kMemset, "", kOurs}, {kKernel, "a", 1}};
  const auto matched = MatchActivities(expected,
                                       {{kKernel, "hold", 1, 0, 1000},
                                        {kMemset, "", 2, 1000, 65000},
                                        {kKernel, "a", 3, 65120, 65760},
                                        {kMemset, "", 4, 65760, 129760},
                                        {kKernel, "a", 5, 129760, 130400}},
                                       2, 32);
  ASSERT_TRUE(std::holds_alternative<Times>(matched)) << std::get<std::string>(matched);
  for (const SequenceTime& time : std::get<Times>(matched)) EXPECT_EQ(time.span_ticks, 640u / 32);
}

// Row 24: neither a gap between two kernels nor an empty one in front takes anything off, and an overlap is not counted twice.
TEST(MatchActivities, GapsAndOverlapsAreInTheSpan) {
  const std::vector<ExpectedActivity> expected = {
      {kKernel, "hold", kOurs}, {kKernel, "a", 0}, {kKernel, "b", 0}, {kKernel, "a", 1}, {kKernel, "b", 1}};
  const auto matched = MatchActivities(expected,
                                       {{kKernel, "hold", 1, 0, 320},
                                        {kKernel, "a", 2, 320, 352},
                                        {kKernel, "b", 3, 3520, 4160},
                                        {kKernel, "a", 4, 6400, 8000},
                                        {kKernel, "b", 5, 6720, 7040}},
                                       2, 32);
  ASSERT_TRUE(std::holds_alternative<Times>(matched)) << std::get<std::string>(matched);
  const Times& times = std::get<Times>(matched);
  EXPECT_EQ(times[0].span_ticks, (4160u - 320) / 32);
  EXPECT_EQ(times[0].busy_ticks, (32u + 640) / 32);
  EXPECT_EQ(times[1].span_ticks, (8000u - 6400) / 32);
  EXPECT_EQ(times[1].busy_ticks, (1600u + 320) / 32);
}

// Row 24: a kernel may have the name of one of ours; what it declared is still what counts.
TEST(MatchActivities, AKernelNamedLikeOursIsCounted) {
  const std::vector<ExpectedActivity> expected = {{kKernel, "hold", kOurs}, {kKernel, "hold", 0}, {kKernel, "a", 0}};
  const auto matched = MatchActivities(
      expected, {{kKernel, "hold", 1, 0, 3200}, {kKernel, "hold", 2, 3200, 6400}, {kKernel, "a", 3, 6400, 6432}}, 1, 32);
  ASSERT_TRUE(std::holds_alternative<Times>(matched)) << std::get<std::string>(matched);
  EXPECT_EQ(std::get<Times>(matched)[0].span_ticks, 3232u / 32);
}

TEST(MatchActivities, NothingExpectedIsNothing) {
  const auto matched = MatchActivities({}, {}, 0, 32);
  EXPECT_TRUE(std::get<Times>(matched).empty());
}

TEST(TickOf, TheStepOfTheClock) {
  const auto of = [](const std::vector<std::uint64_t>& lengths) {
    std::vector<ActivityRecord> records;
    for (const std::uint64_t length : lengths) records.push_back({kKernel, "a", 1, 5000, 5000 + length});
    return TickOf(records);
  };
  EXPECT_EQ(of({800, 832, 960, 1056, 1312, 1408, 1600}), 32);
  EXPECT_EQ(of({801, 831, 960, 1055, 1312, 1409, 1600}), 32)
      << "as an H200 reports them: converted to nanoseconds, give or take one";
  std::vector<std::uint64_t> steps;
  for (std::uint64_t i = 20; i < 60; ++i) steps.push_back(32 * i);
  steps[7] += 4;
  steps[30] -= 9;
  EXPECT_EQ(of(steps), 32) << "with the conversion set anew within two of them";
  for (std::size_t i = 0; i < steps.size(); i += 4) steps[i] += 5 + i;
  EXPECT_EQ(of(steps), 1);
  EXPECT_EQ(of({800, 832, 960, 1056, 1312, 1408, 1610}), 1);
  EXPECT_EQ(of({800, 801, 802, 803, 804, 805, 806, 807, 808, 809, 810}), 1);
  EXPECT_EQ(of({801, 832, 960}), 1) << "too few to tell";
  EXPECT_EQ(of(std::vector<std::uint64_t>(64, 4096)), 1) << "the same long time always tells nothing";
  EXPECT_EQ(of({}), 1);
}

}  // namespace
}  // namespace evo
