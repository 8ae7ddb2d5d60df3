// Evaluates every adversarial kernel in real worker processes, expects its outcome, and expects an honest kernel after it to
// pass.
// --device=cuda or --device=cpu; without it the program takes the GPU if there is one.
#include "tests/adversarial_kernels/adversarial_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "evaluator/device/cuda/cuda_devices.h"
#include "evaluator/scheduling/pipeline.h"
#include "evaluator/workers/watched_worker.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"
#include "tests/adversarial_kernels/timed_data.h"

namespace evo {
namespace {

std::string device_under_test = "cpu";

std::filesystem::path TaskDirectory(const std::string& task) { return ShareDirectory() / "adversarial_kernels" / "tasks" / task; }

// Each task has one evaluator, which starts when a test first uses it.
class AdversarialKernels : public ::testing::TestWithParam<AdversarialKernel> {
 protected:
  struct TaskUnderTest {
    Task task;
    std::string honest;
    std::unique_ptr<WorkerSet> workers;
    std::unique_ptr<Pipeline> pipeline;
  };

  static void TearDownTestSuite() { tasks_.clear(); }

  static TaskUnderTest& UseTask(const std::string& name) {
    std::unique_ptr<TaskUnderTest>& slot = tasks_[name];
    if (slot) return *slot;
    PipelineOptions options;
    options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
    options.device = device_under_test;
    options.compile_workers = 1;  // each takes a second to start
    options.run_deadline = std::chrono::milliseconds(6000);
    // If the pipeline does not start, the slot stays empty, and the next test gets the same exception.
    auto started = std::make_unique<TaskUnderTest>();
    started->task = LoadTask(TaskDirectory(name));
    started->honest = LoadTemplate(TaskDirectory(name) / "honest.cu").text;
    options.baseline_source = started->honest;
    started->workers = std::make_unique<WorkerSet>(options, started->task);
    started->pipeline = std::make_unique<Pipeline>(*started->workers);
    slot = std::move(started);
    return *slot;
  }

  static Candidate MakeCandidate(CandidateId id, const std::string& source) {
    Candidate candidate;
    candidate.id = id;
    candidate.source = source;
    return candidate;
  }

  static std::vector<Evaluation> Evaluate(TaskUnderTest& task, const std::vector<std::string>& sources) {
    std::vector<Candidate> batch;
    for (const std::string& source : sources) batch.push_back(MakeCandidate(static_cast<CandidateId>(batch.size() + 1), source));
    task.pipeline->Start(batch);
    return task.pipeline->Finish({}, [](const Candidate&, const Evaluation&) {});
  }

  static const std::vector<Outcome>& Wanted(const AdversarialKernel& kernel) {
    return device_under_test == "cuda" ? kernel.on_cuda : kernel.on_cpu;
  }

  static inline std::map<std::string, std::unique_ptr<TaskUnderTest>> tasks_;
};

// A kernel that may end as kOk must not be faster than the honest one. The factor allows for the noise of kernels that take a
// microsecond, and of the emulation on the cpu device. A kernel that cheats is faster each time, and also when its launches and
// those of the honest kernel are interleaved: the score alone changes by half with what the other half of a core does.
constexpr double kNoGain = 0.7;
constexpr int kTimesFaster = 4;
constexpr int kTurns = 3;  // of a measurement that says nothing, since the machine is busy

TEST_P(AdversarialKernels, GetsItsOutcomeAndTheHonestKernelAfterItPasses) {
  const AdversarialKernel& kernel = GetParam();
  if (const auto reason = PendingReason(kernel, device_under_test))
    GTEST_SKIP() << kernel.name << " on " << device_under_test << ": " << *reason;
  TaskUnderTest& task = UseTask(kernel.task);
  const std::string source = WithTimedData(SourceOf(kernel), task.task, device_under_test);
  const std::vector<Evaluation> evaluations = Evaluate(task, {source, task.honest + "// after " + kernel.name + "\n"});
  ASSERT_EQ(evaluations.size(), 2u);
  const Evaluation& evaluation = evaluations[0];
  fmt::print("{:<32} {:<16} {}\n", kernel.name, ToString(evaluation.outcome), evaluation.message);
  const bool by_tools = kernel.caught_by == CaughtBy::kTools && device_under_test == "cuda";
  const bool by_champion_check = kernel.caught_by == CaughtBy::kChampion && evaluation.outcome == Outcome::kOk;
  std::vector<Outcome> wanted = Wanted(kernel);
  if (kernel.caught_by == CaughtBy::kHeldOut) wanted = {Outcome::kOk};
  if (by_tools || by_champion_check) wanted.push_back(Outcome::kOk);
  EXPECT_THAT(wanted, ::testing::Contains(evaluation.outcome))
      << kernel.name << " became " << ToString(evaluation.outcome) << " in stage " << ToString(evaluation.stage) << ": "
      << evaluation.message;
  EXPECT_EQ(evaluation.message.empty(), evaluation.outcome == Outcome::kOk);
  const Evaluation& honest = evaluations[1];
  ASSERT_EQ(honest.outcome, Outcome::kOk) << "the honest kernel after " << kernel.name << ": " << honest.message;
  EXPECT_GT(honest.score_ns, 0);
  if (evaluation.outcome == Outcome::kOk)
    fmt::print("{:<32} {:.2f} times as long as the honest kernel\n", "", evaluation.score_ns / honest.score_ns);
  if (!kernel.honest() && kernel.caught_by == CaughtBy::kRun && evaluation.outcome == Outcome::kOk) {
    bool gains = evaluation.score_ns <= kNoGain * honest.score_ns;
    for (int again = 1; gains && again < kTimesFaster; ++again) {
      const std::string other = fmt::format("// {} of {}\n", again, kernel.name);
      const std::vector<Evaluation> repeated = Evaluate(task, {source + other, task.honest + other});
      ASSERT_EQ(repeated[1].outcome, Outcome::kOk) << repeated[1].message;
      gains = repeated[0].outcome == Outcome::kOk && repeated[0].score_ns <= kNoGain * repeated[1].score_ns;
    }
    double interleaved = 0;
    std::string checked;
    if (gains) {
      ChampionCheck check;
      for (int turn = 0; turn == 0 || (turn < kTurns && check.outcome == Outcome::kNoisy); ++turn)
        check = task.pipeline->CheckChampion(MakeCandidate(3, source), MakeCandidate(4, task.honest), {});
      interleaved = check.speedup;
      checked = fmt::format("{} {}", ToString(check.outcome), check.message);
      gains = check.outcome != Outcome::kOk || check.speedup >= 1 / kNoGain;
    }
    EXPECT_FALSE(gains) << kernel.name << " takes " << evaluation.score_ns << " ns, the honest kernel " << honest.score_ns
                        << " ns, and was faster " << kTimesFaster << " times of as many, " << interleaved
                        << " times interleaved: " << checked;
  }
  if (kernel.caught_by != CaughtBy::kHeldOut && !by_tools && !by_champion_check) return;
  if (by_tools && !FindComputeSanitizer(CudaRoot().value_or(""))) GTEST_SKIP() << "compute-sanitizer is not installed";
  const ChampionCheck check = task.pipeline->CheckChampion(MakeCandidate(3, source), MakeCandidate(4, task.honest), {});
  EXPECT_THAT(Wanted(kernel), ::testing::Contains(check.outcome)) << check.message;
  EXPECT_FALSE(check.message.empty());
  if (by_tools || by_champion_check) fmt::print("{:<32} {:<16} {}\n", "  as a champion", ToString(check.outcome), check.message);
}

INSTANTIATE_TEST_SUITE_P(Row, AdversarialKernels, ::testing::ValuesIn(AllAdversarialKernels()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_F(AdversarialKernels, AnHonestChampionPassesItsCheck) {
  TaskUnderTest& task = UseTask("reverse_sum");
  const ChampionCheck check = task.pipeline->CheckChampion(MakeCandidate(1, task.honest), MakeCandidate(2, task.honest), {});
  EXPECT_EQ(check.outcome, Outcome::kOk) << check.message;
  EXPECT_EQ(check.held_out_cases.size(), (device_under_test == "cuda" ? task.task.held_out : task.task.held_out_cpu).size());
  EXPECT_GT(check.speedup, 0.5);
  EXPECT_LT(check.speedup, 2);
}

// Rows 21 and 22: the evaluator measures the kernel that it was given. A kernel known to be slow ranks behind a good one, also as
// a baseline; equal sources have equal digests, and another source has another image.
TEST_F(AdversarialKernels, ControlKernelsRankRight) {
  TaskUnderTest& task = UseTask("reverse_sum");
  std::string slow = task.honest;
  const std::string line = "if (i < n) y[i] = x[i] + x[n - 1 - i];";
  const std::size_t at = slow.find(line);
  ASSERT_NE(at, std::string::npos);
  slow.replace(at, line.size(),
               "for (int again = 0; again < 200; ++again) {\n    if (i < n) *static_cast<volatile float*>(y + i) = x[i] + x[n - "
               "1 - i];\n  }");
  const std::vector<Evaluation> evaluations = Evaluate(task, {slow, task.honest, task.honest});
  for (const Evaluation& evaluation : evaluations) ASSERT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
  EXPECT_GT(evaluations[0].score_ns, 1.5 * evaluations[1].score_ns);
  EXPECT_NE(evaluations[0].image_digest, evaluations[1].image_digest);
  EXPECT_FALSE(evaluations[1].image_digest.empty());
  EXPECT_EQ(evaluations[1].source_digest, evaluations[2].source_digest);
  const Candidate honest_candidate = MakeCandidate(1, task.honest);
  const Candidate slow_candidate = MakeCandidate(2, slow);
  EXPECT_GT(task.pipeline->CheckChampion(honest_candidate, slow_candidate, {}).speedup, 1.5);
  EXPECT_LT(task.pipeline->CheckChampion(slow_candidate, honest_candidate, {}).speedup, 0.7);
}

TEST_F(AdversarialKernels, AStopRequestEndsABatchSoon) {
  TaskUnderTest& task = UseTask("reverse_sum");
  std::stop_source stop;
  task.pipeline->Start({MakeCandidate(1, SourceOf({"00_never_ends", "reverse_sum", {}, {}}))});
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Evaluation> evaluations = task.pipeline->Finish(stop.get_token(), {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_THAT(evaluations.front().outcome, ::testing::AnyOf(Outcome::kCancelled, Outcome::kTimeout));
}

// The other rows of docs/hazards.md are about the timer, and no kernel can attempt them: see tests/evaluator/timer_test.cc and
// tests/cuda_device.
TEST(AdversarialKernelTable, EveryRowHasTwoAdversarialKernelsAndAnHonestKernel) {
  std::map<std::string, int> adversarial;
  std::map<std::string, int> honest;
  std::set<std::string> names;
  for (const AdversarialKernel& kernel : AllAdversarialKernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " is listed twice";
    ++(kernel.honest() ? honest : adversarial)[kernel.row()];
    if (kernel.honest()) {
      EXPECT_EQ(kernel.on_cuda, std::vector{Outcome::kOk}) << kernel.name;
    }
    EXPECT_EQ(SourceOf(kernel).substr(0, 3), "// ") << kernel.name << ": its first line must say what it tries";
  }
  for (const Pending& pending : AllPending())
    EXPECT_TRUE(names.count(std::string(pending.name))) << pending.name << " is pending but is not a kernel of the table";
  std::set<std::string> rows;
  for (const auto& [row, count] : adversarial) {
    EXPECT_GE(count, 2) << "row " << row;
    EXPECT_GE(honest[row], 1) << "row " << row;
    rows.insert(row);
  }
  // CTest runs the rows in groups, which tests/adversarial_kernels/CMakeLists.txt lists.
  std::istringstream known(EVO_ADVERSARIAL_ROWS);
  EXPECT_EQ(rows, (std::set<std::string>(std::istream_iterator<std::string>(known), {})));
  for (const auto& file : std::filesystem::directory_iterator(ShareDirectory() / "adversarial_kernels" / "kernels")) {
    EXPECT_TRUE(names.count(file.path().stem().string())) << file.path().filename() << " is in no row of the table";
  }
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const evo::CudaDevices gpus = evo::ListCudaDevices();
  const std::string asked = argc > 1 ? argv[1] : gpus.devices.empty() ? "--device=cpu" : "--device=cuda";
  evo::device_under_test = asked == "--device=cuda" ? "cuda" : "cpu";
  if (evo::device_under_test == "cuda" && gpus.devices.empty()) {
    fmt::print(stderr, "adversarial_kernels_test --device=cuda: {}\n", gpus.why_none);
    return 1;
  }
  const int status = RUN_ALL_TESTS();
  // A filter that selects no test is a mistake.
  return ::testing::UnitTest::GetInstance()->test_to_run_count() == 0 ? 1 : status;
}
