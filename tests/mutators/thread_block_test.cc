#include "mutators/analysis/thread_runs/thread_block.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/source/source_query.h"
#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

// Threads of a block have small stacks: what needs a large one is refused, and does not end the process.
class ThreadBlockTest : public testing::Test {
 protected:
  static ThreadTrace Run(const std::string& body, bool sums = false, bool symbolic = true) {
    const Parent parent(PlainKernel("  __syncthreads();\n" + body));
    ThreadRun run(parent.Context(), Functions(*parent.tree).front(), -1);
    ThreadSetting setting;
    setting.sums = sums;
    setting.symbolic = symbolic;
    return RunBlock(run, {setting, setting}).front();
  }

  // `  out[0] = in[0] + in[0] + ..;`
  static std::string Sum(int terms) {
    std::string text = "  out[0] = in[0]";
    for (int i = 1; i < terms; ++i) text += " + in[0]";
    return text + ";\n";
  }
  static std::string Conditions(int conditions) {
    std::string text = "  float x = 0.0f;\n  ";
    for (int i = 0; i < conditions; ++i) text += "if (in[0] > 9.0f) x = 1.0f; else ";
    return text + "x = 2.0f;\n  out[0] = x;\n";
  }
};

TEST_F(ThreadBlockTest, DeepExpressionsAreRefused) {
  EXPECT_EQ(Run(Sum(150)).refusal, "");
  EXPECT_THAT(Run(Sum(3000)).refusal, testing::HasSubstr("is nested too deeply"));
}

TEST_F(ThreadBlockTest, DeepStatementsAreRefused) {
  EXPECT_EQ(Run(Conditions(50)).refusal, "");
  EXPECT_THAT(Run(Conditions(3000)).refusal, testing::HasSubstr("is nested too deeply"));
}

TEST_F(ThreadBlockTest, BlocksAreRefusedOnceThoseBeforeHaveTakenTooManyTurns) {
  const Parent parent(PlainKernel("  __syncthreads();\n  for (int i = 0; i < 40; ++i) out[i] = in[i];\n"));
  ThreadRun run(parent.Context(), Functions(*parent.tree).front(), -1);
  EXPECT_EQ(RunBlock(run, {{}, {}}, 79).front().refusal, "");
  EXPECT_EQ(run.turns_together(), 80);
  const std::vector<ThreadTrace> refused = RunBlock(run, {{}, {}}, 79);
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused.back().refusal, "its threads take too many turns to be run together");
  EXPECT_EQ(RunBlock(run, {{}, {}}, 80).front().refusal, "");
}

// Each question has a budget of its own, also one within another.
TEST_F(ThreadBlockTest, BlocksAreRefusedOnceTheBudgetOfTheirQuestionIsSpent) {
  const Parent parent(PlainKernel("  __syncthreads();\n  out[0] = in[0];\n"));
  ThreadRun run(parent.Context(), Functions(*parent.tree).front(), -1);
  const StepBudget budget;
  EXPECT_EQ(RunBlock(run, {{}, {}}, 80).front().refusal, "");
  StepBudget::Spend(std::int64_t{1} << 40);
  EXPECT_EQ(RunBlock(run, {{}, {}}, 80).back().refusal, StepBudget::kSpent);
  EXPECT_EQ(run.Run({}).refusal, StepBudget::kSpent);
  {
    const StepBudget of_inner_question;
    EXPECT_EQ(RunBlock(run, {{}, {}}, 80).front().refusal, "");
  }
  EXPECT_TRUE(StepBudget::IsSpent());
}

TEST_F(ThreadBlockTest, ARunEndsWhenTheBudgetOfItsQuestionIsSpent) {
  const Parent parent(PlainKernel("  __syncthreads();\n  for (int i = 0; i < 40; ++i) out[i] = in[i];\n"));
  const StepBudget budget;
  const std::int64_t all = StepBudget::Left();
  ThreadRun run(parent.Context(), Functions(*parent.tree).front(), -1);
  EXPECT_LT(StepBudget::Left(), all) << "code that is read counts";
  StepBudget::Spend(StepBudget::Left() - 100);
  EXPECT_THAT(RunBlock(run, {{}, {}}, 200).front().refusal, testing::HasSubstr("computes for longer than it is tried"));
  EXPECT_TRUE(StepBudget::IsSpent());
}

TEST_F(ThreadBlockTest, FarElementsOfSharedMemoryAreSeen) {
  const ThreadTrace trace = Run(R"(  extern __shared__ float far[];
  far[200000] = 1.0f;
  far[400000] = 2.0f;
  far[31] = 3.0f;
  __syncthreads();
  out[0] = far[200000] + far[400000] * far[31];
)");
  EXPECT_EQ(trace.refusal, "");
  ASSERT_EQ(trace.stores.size(), 1u);
  EXPECT_EQ(trace.stores.begin()->second.at(0).value, 7.0);
  EXPECT_THAT(
      Run("  extern __shared__ float far[];\n  far[200000] = 1.0f;\n  __syncthreads();\n  out[0] = far[200001];\n").refusal,
      testing::HasSubstr("is read and has no value"));
}

TEST_F(ThreadBlockTest, APlaceInSharedMemoryIsAnAddress) {
  const ThreadTrace trace = Run(R"(  extern __shared__ float both[];
  const int half = blockDim.x;
  float* first = both;
  float* later = both + half;
  both[threadIdx.x] = 1.0f;
  later[threadIdx.x] = 2.0f;
  __syncthreads();
  out[0] = later[0] - first[0];
)",
                                false, false);
  EXPECT_EQ(trace.refusal, "");
  ASSERT_FALSE(trace.stores.empty());
  EXPECT_EQ(trace.stores.begin()->second.at(0).value, 1);
}

// Two threads with numbers of their own.
bool Race(const std::string& body) {
  const Parent parent(PlainKernel("  __shared__ float s[2];\n  const int i = threadIdx.x;\n" + body));
  ThreadRun run(parent.Context(), Functions(*parent.tree).front(), -1);
  std::vector<ThreadSetting> threads(2);
  for (std::size_t i = 0; i < 2; ++i)
    threads[i].symbolic = false, threads[i].builtins[BuiltinSymbol("threadIdx", 0)] = static_cast<std::int64_t>(i);
  const ThreadTrace trace = RunBlock(run, std::move(threads)).front();
  EXPECT_EQ(trace.refusal, "");
  return trace.race >= 0;
}

TEST_F(ThreadBlockTest, TellsOfThreadsThatRace) {
  const std::string begin = "  s[i] = in[i];\n  __syncthreads();\n", store = "  s[i] = 1.0f;\n", read = "  out[i] = s[1 - i];\n";
  EXPECT_FALSE(Race(begin + read));
  EXPECT_FALSE(Race(begin + "  s[i] += 1.0f;\n  __syncthreads();\n" + read));
  EXPECT_FALSE(Race(begin + "  const float x = s[1 - i];\n  __syncwarp();\n  s[i] = x;\n  __syncthreads();\n" + read));
  EXPECT_TRUE(Race(begin + read + store));
  EXPECT_TRUE(Race(begin + "  if (i == 0) s[0] = 2.0f;\n  out[i] = s[0];\n"));
  EXPECT_TRUE(Race(begin + "  const float x = s[0];\n  if (i == 1) s[0] = x;\n"));
}

TEST_F(ThreadBlockTest, FunctionsChangeWhatReferencesReferTo) {
  const auto run_with = [](const std::string& call) {
    const std::string functions =
        "__device__ void Add(float& sum, float x) { sum += x; }\n"
        "__device__ void Swap(float& a, float& b) { const float c = a; a = b; b = c; }\n";
    const Parent parent(functions +
                        PlainKernel("  float s[2] = {1.0f, 2.0f}, t = 3.0f;\n" + call + "  out[0] = 10.0f * s[1] + t;\n"));
    ThreadRun run(parent.Context(), Functions(*parent.tree).back(), -1);
    ThreadSetting setting;
    setting.symbolic = false;
    return run.Run(setting);
  };
  const ThreadTrace trace = run_with("  Add(s[1], 4.0f);\n  Add(t, s[1]);\n  Swap(s[1], t);\n");
  EXPECT_EQ(trace.refusal, "");
  ASSERT_FALSE(trace.stores.empty());
  EXPECT_EQ(trace.stores.begin()->second.at(0).value, 96);
  EXPECT_THAT(run_with("  Swap(t, t);\n").refusal, testing::HasSubstr("Swap takes references"));
}

TEST_F(ThreadBlockTest, ALoopWithoutACountIsRefused) {
  EXPECT_THAT(Run("  int i = 0;\n  for (; i < 4;) i += 1;\n  out[0] = in[i];\n").refusal,
              testing::HasSubstr("a loop without one of its three parts"));
}

TEST_F(ThreadBlockTest, LongSumsEndOnSmallStacks) {
  const std::string loop = "  for (int i = 0; i < 20000; ++i) x += in[i] * in[i + 1];\n";
  const ThreadTrace trace = Run("  float x = 0.0f;\n" + loop + "  x = 0.0f;\n" + loop + "  out[0] = x;\n", true);
  EXPECT_EQ(trace.refusal, "");
  ASSERT_FALSE(trace.stores.empty());
  EXPECT_TRUE(trace.stores.begin()->second.at(0).sum);
}

}  // namespace
}  // namespace evo
