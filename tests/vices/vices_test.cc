// Every vice gets its outcome, through the real worker processes, and the honest kernel among them passes to the end.
// --device=cuda or --device=cpu; without it the GPU if there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "core/installation.h"
#include "evaluator/device/cuda/cuda_devices.h"
#include "evaluator/pipeline.h"
#include "kernel_templates/task.h"
#include "tests/vices/vices.h"

namespace evo {
namespace {

std::string device_under_test = "cpu";

class Vices : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    PipelineOptions options;
    options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
    options.device = device_under_test;
    options.run_deadline = std::chrono::milliseconds(2000);
    task_ = std::make_unique<Task>(LoadTask(ShareDirectory() / "vices"));
    pipeline_ = std::make_unique<Pipeline>(options, *task_);
  }
  static void TearDownTestSuite() {
    pipeline_.reset();
    task_.reset();
  }

  static Candidate MakeCandidate(CandidateId id, const std::string& source) {
    Candidate candidate;
    candidate.id = id;
    candidate.source = source;
    return candidate;
  }

  static inline std::unique_ptr<Task> task_;
  static inline std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(Vices, EachGetsItsOutcomeAndTheRunGoesOn) {
  const std::vector<Vice> vices = AllVices();
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < vices.size(); ++i) candidates.push_back(MakeCandidate(static_cast<CandidateId>(2 * i + 1), vices[i].source));
  // An honest one after each vice: it must not suffer from what went before it.
  std::vector<Candidate> batch;
  for (std::size_t i = 0; i < vices.size(); ++i) {
    batch.push_back(candidates[i]);
    batch.push_back(MakeCandidate(static_cast<CandidateId>(2 * i + 2), vices.front().source + fmt::format("// {}\n", i)));
  }
  pipeline_->Start(batch);
  std::size_t reported = 0;
  const std::vector<Evaluation> evaluations = pipeline_->Finish({}, [&](const Candidate&, const Evaluation&) { ++reported; });
  ASSERT_EQ(evaluations.size(), batch.size());
  EXPECT_EQ(reported, batch.size());
  for (std::size_t i = 0; i < vices.size(); ++i) {
    const Evaluation& evaluation = evaluations[2 * i];
    const std::vector<Outcome>& wanted = device_under_test == "cuda" ? vices[i].on_cuda : vices[i].on_cpu;
    EXPECT_NE(std::find(wanted.begin(), wanted.end(), evaluation.outcome), wanted.end())
        << vices[i].name << " became " << ToString(evaluation.outcome) << " in stage " << ToString(evaluation.stage) << ": " << evaluation.message;
    EXPECT_EQ(evaluation.message.empty(), evaluation.outcome == Outcome::kOk) << vices[i].name;
    const Evaluation& honest = evaluations[2 * i + 1];
    EXPECT_EQ(honest.outcome, Outcome::kOk) << "the honest kernel after the one that " << vices[i].name << ": " << honest.message;
    EXPECT_GT(honest.score_ns, 0);
    fmt::print("{:<40} {:<16} {}\n", vices[i].name, ToString(evaluation.outcome), evaluation.message);
  }
}

TEST_F(Vices, AChampionIsCheckedOnHeldOutCases) {
  const std::string honest = AllVices().front().source;
  const ChampionCheck good = pipeline_->CheckChampion(MakeCandidate(1, honest), MakeCandidate(2, honest), {});
  EXPECT_EQ(good.outcome, Outcome::kOk) << good.message;
  EXPECT_FALSE(good.held_out_cases.empty());
  EXPECT_GT(good.speedup, 0.5);
  EXPECT_LT(good.speedup, 2);
  // Right for every size that a search sees, wrong for a multiple of seven or a thousand.
  std::string overfitted = honest;
  overfitted.replace(overfitted.find("if (i < n)"), 10, "if (i < n && n % 77 != 0 && n != 1000)");
  const ChampionCheck bad = pipeline_->CheckChampion(MakeCandidate(3, overfitted), MakeCandidate(2, honest), {});
  EXPECT_EQ(bad.outcome, Outcome::kWrongResult) << bad.message;
}

TEST_F(Vices, AStopRequestEndsABatchSoon) {
  std::vector<Candidate> batch;
  for (const Vice& vice : AllVices()) {
    if (vice.name == "never ends") batch.push_back(MakeCandidate(1, vice.source));
  }
  std::stop_source stop;
  pipeline_->Start(batch);
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Evaluation> evaluations = pipeline_->Finish(stop.get_token(), {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_THAT(evaluations.front().outcome, ::testing::AnyOf(Outcome::kCancelled, Outcome::kTimeout));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::string asked = argc > 1 ? argv[1] : evo::ListCudaDevices().devices.empty() ? "--device=cpu" : "--device=cuda";
  evo::device_under_test = asked == "--device=cuda" ? "cuda" : "cpu";
  return RUN_ALL_TESTS();
}
