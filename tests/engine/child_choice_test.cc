#include "engine/child_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/digest.h"
#include "core/error.h"
#include "engine/recorded_children.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using testing::EvaluationAt;
using testing::GenomeAt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SourceAt;

void Add(Offspring& offspring, std::int64_t x) {
  offspring.fresh.push_back(offspring.children.size());
  offspring.digests.push_back(Digest(SourceAt(x)));
  BredChild& child = offspring.children.emplace_back();
  child.genome = GenomeAt(x);
  child.op = "step";
}

// Fresh children with these values after one that is not fresh.
Offspring Fresh(const std::vector<std::int64_t>& values) {
  Offspring offspring;
  offspring.generation = 4;
  offspring.children.emplace_back();
  offspring.digests.emplace_back();
  for (const std::int64_t x : values) Add(offspring, x);
  return offspring;
}

bool NoMore(Offspring&, std::size_t) {
  ADD_FAILURE() << "no more children are needed";
  return false;
}

RecordedEvaluations Recorded(const std::vector<std::int64_t>& values) {
  RecordedEvaluations recorded;
  for (const std::int64_t x : values) recorded.Add(EvaluationAt(x));
  return recorded;
}

TEST(FirstChildren, ChoosesTheFirst) {
  FirstChildren choice;
  EXPECT_EQ(choice.ToBreed(8), 8);
  Offspring offspring = Fresh({30, 31, 32});
  EXPECT_THAT(choice.Choose(offspring, 2, NoMore), ElementsAre(1, 2));
  EXPECT_THAT(choice.Choose(offspring, 5, NoMore), ElementsAre(1, 2, 3));
  EXPECT_EQ(choice.Summary(), "");
}

TEST(RankedChildren, FitsTheRankerToBreedAndChoosesThePromising) {
  ChildRanker ranker({GenomeAt(0)}, {}, 1);
  RankedChildren choice(ranker);
  EXPECT_EQ(choice.ToBreed(4), 4) << "nothing is learnt yet";
  GenerationRecord record;
  for (std::int64_t x = 200; x < 280; x += 2) {
    if (x % 13 == 0 || x % 17 == 0) continue;
    record.candidates.push_back({.genome = GenomeAt(x)});
    record.evaluations.push_back(EvaluationAt(x));
  }
  choice.Learn(record);
  EXPECT_EQ(choice.ToBreed(4), ChildRanker::kLeastBred);
  Offspring offspring = Fresh({201, 203, 205, 279});
  EXPECT_THAT(choice.Choose(offspring, 1, NoMore), ElementsAre(4));
}

TEST(MakeChoice, RanksIfThereIsARanker) {
  ChildRanker ranker({GenomeAt(0)}, {}, 1);
  EXPECT_NE(dynamic_cast<RankedChildren*>(MakeChoice(&ranker).get()), nullptr);
  EXPECT_NE(dynamic_cast<FirstChildren*>(MakeChoice(nullptr).get()), nullptr);
}

class RecordedChildrenTest : public ::testing::Test {
 protected:
  FirstChildren first_;
  RecordedEvaluations recorded_ = Recorded({30, 32, 40, 41});
};

TEST_F(RecordedChildrenTest, LeaveTheOtherChoiceAsItIsIfAllAreRecorded) {
  for (const MissingChild missing : {MissingChild::kReplace, MissingChild::kLeaveOut, MissingChild::kEndRun}) {
    RecordedChildren choice(first_, recorded_, missing);
    Offspring offspring = Fresh({30, 32, 99});
    EXPECT_THAT(choice.Choose(offspring, 2, NoMore), ElementsAre(1, 2)) << "99 is not chosen and may be missing";
    EXPECT_EQ(choice.Summary(), "replayed; 0 of 4 children were not recorded");
  }
}

TEST_F(RecordedChildrenTest, EndTheRunAtAMissingChild) {
  RecordedChildren choice(first_, recorded_, MissingChild::kEndRun);
  Offspring offspring = Fresh({30, 31});
  try {
    choice.Choose(offspring, 2, NoMore);
    FAIL() << "31 is not recorded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("generation 4: the child at place 2, made by step, is not recorded"));
  }
}

TEST_F(RecordedChildrenTest, LeaveOutAMissingChild) {
  RecordedChildren choice(first_, recorded_, MissingChild::kLeaveOut);
  Offspring offspring = Fresh({31, 30, 32});
  EXPECT_THAT(choice.Choose(offspring, 2, NoMore), ElementsAre(2, 3)) << "the next recorded child was bred already";
  Offspring few = Fresh({31, 30});
  EXPECT_THAT(choice.Choose(few, 2, NoMore), ElementsAre(2));
  EXPECT_EQ(choice.Summary(), "replayed; 2 of 7 children were not recorded");
}

TEST_F(RecordedChildrenTest, BreedOthersInThePlaceOfMissingChildren) {
  RecordedChildren choice(first_, recorded_, MissingChild::kReplace);
  Offspring offspring = Fresh({31, 30, 33});
  std::vector<std::size_t> counts;
  std::int64_t next = 38;
  const auto more = [&](Offspring& into, std::size_t count) {
    counts.push_back(count);
    for (std::size_t i = 0; i < count; ++i) Add(into, next++);
    return true;
  };
  EXPECT_THAT(choice.Choose(offspring, 3, more), ElementsAre(2, 6, 7));
  EXPECT_THAT(counts, ElementsAre(2, 2)) << "38 and 39 are missing, 40 and 41 are not";
  EXPECT_EQ(choice.Summary(), "replayed; 4 of 8 children were not recorded");
}

TEST_F(RecordedChildrenTest, BreedOthersAtMost24TimesAndNotAfterAnInterruption) {
  RecordedChildren choice(first_, recorded_, MissingChild::kReplace);
  int rounds = 0;
  const auto missing = [&](Offspring& into, std::size_t) {
    Add(into, 1000 + rounds++);
    return true;
  };
  Offspring offspring = Fresh({31});
  EXPECT_THAT(choice.Choose(offspring, 1, missing), IsEmpty());
  EXPECT_EQ(rounds, 24);
  Offspring interrupted = Fresh({31});
  EXPECT_THAT(choice.Choose(interrupted, 1, [](Offspring&, std::size_t) { return false; }), IsEmpty());
}

}  // namespace
}  // namespace evo
