// What a kernel could learn from memory, and what it could change there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <list>

#include "evaluator/gate/gate.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/twice_task.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GateMemoryTest : public ::testing::Test {
 protected:
  GateMemoryTest() {
    device_.kernels["reference"] = [this](const auto& buffers) {
      Multiply<double>(buffers, 2);
      references_.push_back(reinterpret_cast<double*>(buffers[1]));
      copies_.push_back(reinterpret_cast<float*>(buffers[0]));
    };
    device_.kernels["honest"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  }

  Program Load(const std::string& image) {
    return std::move(std::get<Program>(LoadProgram(device_, kTwiceSource, CompiledProgram{image, "", {{"k", "k"}}})));
  }

  InputSet& MakeSet(std::uint64_t seed) {
    Program reference = Load("reference");
    KernelReference answers(reference);
    sets_.push_back(std::move(
        std::get<0>(InputSet::Make(device_, task_, task_.small, DrawArguments(task_, task_.small, 0, seed), seed, answers))));
    return *sets_.back();
  }

  InputSet& MakeUnanswered(std::uint64_t seed) {
    sets_.push_back(std::move(
        std::get<0>(InputSet::MakeUnanswered(device_, task_, task_.small, DrawArguments(task_, task_.small, 0, seed), seed))));
    return *sets_.back();
  }

  BoundProgram Bind(const std::string& image, InputSet& set) {
    Owned& owned = owned_.emplace_back(Owned{Load(image), {}});
    owned.binding.push_back(std::move(std::get<LaunchBinding>(LaunchBinding::Make(device_, owned.program, task_, task_.small))));
    return BindProgram(owned.binding.front(), set);
  }

  void Define(const std::string& image, std::function<void(const float*, float*)> kernel) {
    device_.kernels[image] = [kernel](const std::vector<Address>& buffers) {
      kernel(reinterpret_cast<const float*>(buffers[0]), reinterpret_cast<float*>(buffers[1]));
    };
  }

  std::optional<Failure> Check(const std::string& image, InputSet& set, int repeats = 2) {
    return gate_.Check(Bind(image, set), repeats, errors_);
  }

  struct Owned {
    Program program;
    std::vector<LaunchBinding> binding;
  };
  FakeDevice device_{"cuda"};
  Task task_ = ParseTask(kTwiceTask, kTwiceSource, "twice");
  Gate gate_{device_, Determinism::kBitwise};
  CheckedErrors errors_;
  std::vector<double*> references_;  // of each run of the reference
  std::vector<float*> copies_;       // of x, as the reference reads it
  std::vector<std::unique_ptr<InputSet>> sets_;
  std::list<Owned> owned_;
};

TEST_F(GateMemoryTest, AnHonestKernelPasses) {
  InputSet& set = MakeSet(1);
  EXPECT_FALSE(Check("honest", set, 20));
  EXPECT_FALSE(gate_.CheckProtected(true));
}

// Where a part of an output counts, the rest may be anything, and the part is judged as ever.
TEST_F(GateMemoryTest, OnlyElementsThatCountAreCompared) {
  Define("part", [](const float* x, float* y) {
    for (int i = 0; i < 3; ++i) y[i] = 2 * x[i];
    y[3] = std::numeric_limits<float>::quiet_NaN();
  });
  Define("less", [](const float* x, float* y) {
    for (int i = 0; i < 2; ++i) y[i] = 2 * x[i];
  });
  EXPECT_TRUE(Check("part", MakeSet(1)));
  task_.arguments[1].counted = Expression::Parse("3");
  InputSet& set = MakeSet(2);
  EXPECT_EQ(set.References().at(0).size(), 3u);
  EXPECT_FALSE(Check("part", set));
  EXPECT_TRUE(Check("less", set));
  task_.arguments[1].counted = Expression::Parse("0");
  EXPECT_FALSE(Check("less", MakeSet(3)));
}

TEST_F(GateMemoryTest, Row31AKernelThatReliesOnAnUnwrittenOutputFails) {
  const auto only_where = [&](bool (*todo)(float)) {
    Define("relies", [todo](const float* x, float* y) {
      for (int i = 0; i < kTwiceElements; ++i) {
        if (todo(y[i])) y[i] = 2 * x[i];
      }
    });
    InputSet& set = MakeSet(sets_.size() + 1);
    const auto failure = Check("relies", set, 20);  // two runs meet two of the seven kinds
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->outcome, Outcome::kWrongResult) << failure->message;
  };
  only_where([](float y) { return std::isnan(y); });
  only_where([](float y) { return !std::isfinite(y); });
  only_where([](float y) { return y == 0; });
  only_where([](float y) { return y != 0; });
  only_where([](float y) { return std::isfinite(y); });
}

TEST_F(GateMemoryTest, Row31SaysThatTheAnswerDependsOnMemory) {
  Define("relies", [](const float* x, float* y) {
    for (int i = 0; i < kTwiceElements; ++i) {
      if (!std::isfinite(y[i])) y[i] = 2 * x[i];
    }
  });
  const auto failure = Check("relies", MakeSet(1));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("depends on what memory held"));
}

TEST_F(GateMemoryTest, TellsWhatWasNotWrittenFromWhatIsNotANumber) {
  const auto message_of = [&](void (*at_three)(float&)) {
    Define("at_three", [at_three](const float* x, float* y) {
      for (int i = 0; i < kTwiceElements; ++i) {
        if (i == 3)
          at_three(y[i]);
        else
          y[i] = 2 * x[i];
      }
    });
    std::string all;  // of several poisons
    for (std::uint64_t seed = 1; seed < 8; ++seed) all += Check("at_three", MakeSet(seed), 1)->message + "\n";
    return all;
  };
  const std::string left_out = message_of([](float&) {});
  EXPECT_THAT(left_out, HasSubstr("elements are not finite, the first at 3: never written, should be "));
  EXPECT_THAT(left_out, HasSubstr("inf as before the launch, not "));
  const std::string not_a_number = message_of([](float& y) { y = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_THAT(not_a_number, HasSubstr("elements are not finite, the first at 3: nan, not "));
  EXPECT_THAT(not_a_number, Not(HasSubstr("never written")));
}

TEST_F(GateMemoryTest, Row01OutputsHoldRightAnswersToOtherInputsToo) {
  InputSet& other = MakeSet(1);
  InputSet& set = MakeSet(2);
  set.PoisonWithAnswersOf(other);
  const std::vector<float> answers(references_[0], references_[0] + kTwiceElements);
  int seen = 0;
  Define("looks", [&](const float* x, float* y) {
    seen += std::equal(answers.begin(), answers.end(), y);
    for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
  });
  EXPECT_FALSE(Check("looks", set, 30));
  EXPECT_GT(seen, 0);
}

TEST_F(GateMemoryTest, Row29SlackBetweenAndBehindArgumentsIsGuarded) {
  device_.layout.unit_bytes = 1 << 21;
  for (const std::ptrdiff_t beyond : {1, 1024, 3000, 100'000}) {
    Define("stores", [beyond](const float* x, float* y) {
      for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
      y[kTwiceElements + beyond] += 1;
    });
    InputSet& set = MakeSet(7);
    const auto failure = Check("stores", set, 1);
    ASSERT_TRUE(failure) << beyond;
    EXPECT_EQ(failure->outcome, Outcome::kCheating);
    EXPECT_EQ(failure->message, "wrote outside y");
    EXPECT_FALSE(Check("honest", set)) << "the guards are restored";
  }
}

TEST_F(GateMemoryTest, Row29MemoryOfNobodyIsWatched) {
  const std::vector<std::uint64_t> free(16, 5);
  device_.unused = {{Inspection::Kind::kPattern, reinterpret_cast<Address>(free.data()), 5, 128, Dtype::kU8, true}};
  EXPECT_FALSE(Check("honest", MakeSet(1)));
  EXPECT_FALSE(gate_.CheckProtected(false));
  const_cast<std::uint64_t&>(free[3]) = 6;
  const auto failure = gate_.CheckProtected(false);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kCheating);
}

// Row 36: the reference's answer is found in memory and changed.
TEST_F(GateMemoryTest, Row36AProgramThatPassesAndChangesTheAnswerCheats) {
  InputSet& set = MakeSet(1);
  Define("changes", [&](const float* x, float* y) {
    for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
    references_[0][7] *= 1 + 1e-9;
  });
  EXPECT_FALSE(Check("changes", set));
  const auto failure = gate_.CheckProtected(false);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kCheating);
}

TEST_F(GateMemoryTest, Row36AnAnswerMadeZeroLetsNoZerosPassAndBlamesNoHonestKernel) {
  InputSet& set = MakeSet(1);
  Define("zeros", [&](const float*, float* y) {
    std::fill_n(references_[0], kTwiceElements, 0);
    std::fill_n(y, kTwiceElements, 0);
  });
  EXPECT_FALSE(Check("zeros", set)) << "judged by the answer that it has made";
  EXPECT_TRUE(gate_.CheckProtected(true));
  // Not its own fault: in a process of its own it passes.
  const auto failure = Check("honest", set);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kCheating);
}

TEST_F(GateMemoryTest, AnInputAndItsCopyThatChangeTogetherAreNoticed) {
  InputSet& set = MakeSet(1);
  Define("both", [&](const float* x, float* y) {
    for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
    copies_[0][3] = const_cast<float*>(x)[3] = 12;
  });
  EXPECT_FALSE(Check("both", set, 1)) << "they are equal";
  const auto failure = gate_.CheckProtected(true);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kCheating);
}

TEST_F(GateMemoryTest, SetsThatAreGoneAreNotLookedAt) {
  EXPECT_FALSE(Check("honest", MakeSet(1)));
  sets_.clear();
  std::fill_n(references_[0], kTwiceElements, 0);
  EXPECT_FALSE(gate_.CheckProtected(true));
}

// A kernel that copies what it finds where the reference's answer lies.
TEST_F(GateMemoryTest, BeforeTheReferenceHasRunThereIsNoAnswerToFind) {
  Define("finds", [&](const float*, float* y) {
    for (int i = 0; i < kTwiceElements; ++i) y[i] = static_cast<float>(references_[0][i]);
  });
  InputSet& answered = MakeSet(1);
  EXPECT_FALSE(Check("finds", answered)) << "the hole";
  Program program = Load("reference");
  KernelReference reference(program);
  const auto failure = gate_.CheckBeforeReference(Bind("finds", answered), reference, 2, errors_);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->outcome, Outcome::kCheating);
  Gate gate(device_, Determinism::kBitwise);
  EXPECT_FALSE(gate.CheckBeforeReference(Bind("honest", answered), reference, 4, errors_));
  EXPECT_FALSE(gate.CheckBeforeReference(Bind("honest", MakeUnanswered(2)), reference, 4, errors_));
  EXPECT_FALSE(gate.CheckProtected(true));
}

TEST_F(GateMemoryTest, TheReferenceThatRunsLaterReadsTheInputsAsTheyWereDrawn) {
  Program program = Load("reference");
  KernelReference reference(program);
  Define("changes", [](const float* x, float* y) {
    const_cast<float*>(x)[5] = 0;
    for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
  });
  const auto failure = gate_.CheckBeforeReference(Bind("changes", MakeUnanswered(3)), reference, 1, errors_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "changed its input x");
  Define("changes both", [&](const float* x, float* y) {
    copies_.back()[5] = const_cast<float*>(x)[5] = 0;
    for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
  });
  InputSet& set = MakeUnanswered(4);
  EXPECT_FALSE(set.RunReference(reference));
  const auto both = gate_.CheckBeforeReference(Bind("changes both", set), reference, 1, errors_);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->outcome, Outcome::kCheating);
}

// A kernel that is wrong in one run of several, on the `wrong`th set and the `run`th of its runs.
TEST_F(GateMemoryTest, SetsThatAreCheckedTogetherAreJudgedOneByOne) {
  constexpr int kRepeats = 2;
  InputSet* sets[] = {&MakeSet(1), &MakeSet(2), &MakeSet(3)};
  for (const int wrong : {-1, 0, 1, 3, 5}) {
    SCOPED_TRACE(wrong);
    int run = 0;
    Define("sometimes", [&](const float* x, float* y) {
      for (int i = 0; i < kTwiceElements; ++i) y[i] = (run == wrong ? 3 : 2) * x[i];
      ++run;
    });
    Gate gate(device_, Determinism::kBitwise);
    std::vector<BoundProgram> bound;
    for (InputSet* set : sets) bound.push_back(Bind("sometimes", *set));
    std::vector<const BoundProgram*> programs;
    for (const BoundProgram& one : bound) programs.push_back(&one);
    CheckedErrors errors;
    const auto failed = gate.CheckTogether(programs, kRepeats, errors);
    ASSERT_EQ(failed.has_value(), wrong >= 0);
    if (wrong < 0) continue;
    EXPECT_EQ(failed->program, static_cast<std::size_t>(wrong / kRepeats));
    EXPECT_EQ(failed->failure.outcome, Outcome::kNondeterministic) << failed->failure.message;
  }
}

TEST_F(GateMemoryTest, OfSetsThatAreCheckedTogetherTheFirstChangedInputIsNamed) {
  InputSet& first = MakeSet(1);
  InputSet& second = MakeSet(2);
  int run = 0;
  Define("writes", [&](const float* x, float* y) {
    for (int i = 0; i < kTwiceElements; ++i) y[i] = 2 * x[i];
    if (run++ == 1) const_cast<float*>(x)[5] += 1;
  });
  const BoundProgram bound[] = {Bind("writes", first), Bind("writes", second)};
  const BoundProgram* programs[] = {&bound[0], &bound[1]};
  const auto failed = gate_.CheckTogether(programs, 1, errors_);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->program, 1U);
  EXPECT_EQ(failed->failure.outcome, Outcome::kCheating);
  EXPECT_THAT(failed->failure.message, HasSubstr("changed its input x"));
  EXPECT_FALSE(gate_.CheckTogether(programs, 1, errors_)) << "the input is restored for the next run";
}

// All runs have been by then, and who comes next must not read what this one wrote.
TEST_F(GateMemoryTest, AChangedInputCountsMoreThanAWrongAnswerBeforeIt) {
  InputSet* sets[] = {&MakeSet(1), &MakeSet(2), &MakeSet(3)};
  int run = 0;
  Define("wrong, then writes", [&](const float* x, float* y) {
    for (int i = 0; i < kTwiceElements; ++i) y[i] = (run == 0 ? 3 : 2) * x[i];
    if (run++ == 2) const_cast<float*>(x)[5] += 1;
  });
  std::vector<BoundProgram> bound;
  for (InputSet* set : sets) bound.push_back(Bind("wrong, then writes", *set));
  const BoundProgram* programs[] = {&bound[0], &bound[1], &bound[2]};
  const auto failed = gate_.CheckTogether(programs, 1, errors_);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->program, 2U);
  EXPECT_EQ(failed->failure.outcome, Outcome::kCheating);
  EXPECT_FALSE(gate_.Check(Bind("honest", *sets[2]), 1, errors_)) << "the input is restored for the next candidate";
}

}  // namespace
}  // namespace evo
