// Puts every careless kernel, and the honest ones beside them, through what a champion goes through: an evaluation, and if it
// passes the check of a champion candidate.
// --device=cuda or --device=cpu first; without it the program takes the GPU if there is one. Inputs are the same in every run, or
// with --unpredictable those of a search: then a failure is a hole or a false rejection that no run has shown before.
#include "tests/careless_kernels/careless_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "evaluator/device/cuda/cuda_devices.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"
#include "kernel_templates/task_shape.h"
#include "platform/installation.h"

namespace evo {
namespace {

std::string device_under_test = "cpu";
bool unpredictable = false;

std::filesystem::path KernelDirectory() { return ShareDirectory() / "careless_kernels" / "kernels"; }

std::string TestName(const CarelessKernel& kernel) { return kernel.task + "__" + kernel.name; }

// Whether the test of this kernel was asked for.
bool IsSelected(const CarelessKernel& kernel) {
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      if (test.should_run() && std::string(test.name()).ends_with("/" + TestName(kernel))) return true;
    }
  }
  return false;
}

// What became of a kernel, and in which check.
struct Judged {
  Outcome outcome = Outcome::kCancelled;
  std::string message;
  bool as_champion = false;
};

// Evaluates the selected kernels of one task as one batch, as a search does.
class TaskUnderTest {
 public:
  explicit TaskUnderTest(const std::string& name) : task_(LoadTask(Folder(name))) {
    // The baselines of some attention tasks use tensor cores; at their search cases these simple kernels would run into
    // deadlines.
    if (device_under_test == "cuda" && name.starts_with("attention"))
      task_ = WithSearchShapes(task_, PolicyOf("cuda").cases, {"B=1,H=8,S=512"});
    PipelineOptions options;
    options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
    options.device = device_under_test;
    options.tools = false;  // they take seconds and say nothing about numbers
    baseline_.source = LoadTemplate(Folder(name) / (task_.baseline + ".cu")).text;
    options.baseline_source = baseline_.source;
    if (!unpredictable) options.draw_seeds = [] { return Seeds{11, 12, 13, 14, 15, 16, 17}; };
    workers_ = std::make_unique<WorkerSet>(options, task_);
    pipeline_ = std::make_unique<Pipeline>(*workers_);
    std::vector<Candidate> batch{baseline_};
    for (const CarelessKernel& kernel : FindCarelessKernels(KernelDirectory())) {
      if (kernel.task == name && IsSelected(kernel))
        batch.push_back(MakeCandidate(static_cast<CandidateId>(batch.size()), kernel));
    }
    pipeline_->Start(batch);
    for (const Evaluation& evaluation : pipeline_->Finish({}, [](const Candidate&, const Evaluation&) {}))
      evaluations_[batch[evaluations_.size()].source] = evaluation;
  }

  Judged Judge(const CarelessKernel& kernel) {
    const Evaluation& evaluation = evaluations_.at(kernel.source);
    if (evaluation.outcome != Outcome::kOk) return {evaluation.outcome, evaluation.message, false};
    const ChampionCheck check = pipeline_->CheckChampion(MakeCandidate(1, kernel), baseline_, {});
    return {check.outcome, check.message, true};
  }

  const Evaluation& baseline() const { return evaluations_.at(baseline_.source); }

 private:
  static std::filesystem::path Folder(const std::string& name) { return ShareDirectory() / "kernel_templates" / name; }

  static Candidate MakeCandidate(CandidateId id, const CarelessKernel& kernel) {
    Candidate candidate;
    candidate.id = id;
    candidate.source = kernel.source;
    return candidate;
  }

  Task task_;
  Candidate baseline_;
  std::unique_ptr<WorkerSet> workers_;
  std::unique_ptr<Pipeline> pipeline_;
  std::map<std::string, Evaluation> evaluations_;  // by source
};

class CarelessKernels : public ::testing::TestWithParam<CarelessKernel> {
 protected:
  static void TearDownTestSuite() { task_.reset(); }

  // One task at a time has workers; kernels are sorted by task.
  static TaskUnderTest& UseTask(const std::string& name) {
    if (task_ && name_ == name) return *task_;
    task_.reset();
    task_ = std::make_unique<TaskUnderTest>(name);
    name_ = name;
    return *task_;
  }

 private:
  static inline std::string name_;
  static inline std::unique_ptr<TaskUnderTest> task_;
};

TEST_P(CarelessKernels, AreRejectedAndHonestOnesPass) {
  const CarelessKernel& kernel = GetParam();
  if (const auto reason = NotRunReason(kernel, device_under_test)) GTEST_SKIP() << *reason;
  TaskUnderTest& task = UseTask(kernel.task);
  ASSERT_EQ(task.baseline().outcome, Outcome::kOk) << task.baseline().message;
  const Judged judged = task.Judge(kernel);
  fmt::print("{:<20} {:<28} {:<14} {}{}\n", kernel.task, kernel.name, ToString(judged.outcome),
             judged.as_champion ? "as a champion: " : "", judged.message);
  EXPECT_EQ(judged.outcome, kernel.honest() ? Outcome::kOk : Outcome::kWrongResult) << judged.message;
}

INSTANTIATE_TEST_SUITE_P(Of, CarelessKernels, ::testing::ValuesIn(FindCarelessKernels(KernelDirectory())),
                         [](const auto& parameter) { return TestName(parameter.param); });

// Tasks without such kernels have the checks of `evo check` only: a block of zeros, a term that is missing.
TEST(CarelessKernelFolder, ATaskHasBothKindsOrNoneAndEveryKernelSaysWhatItIs) {
  std::map<std::string, std::set<bool>> kinds;
  for (const CarelessKernel& kernel : FindCarelessKernels(KernelDirectory())) {
    kinds[kernel.task].insert(kernel.honest());
    EXPECT_TRUE(kernel.source.starts_with(kernel.honest() ? "// Honest: " : "// Careless: "))
        << kernel.task << "/" << kernel.name;
    const std::string comment = kernel.source.substr(0, kernel.source.find("// evo:"));
    if (!kernel.honest()) {
      EXPECT_NE(comment.find(". Wrong "), std::string::npos) << kernel.task << "/" << kernel.name << ": for which inputs?";
    }
  }
  std::set<std::string> listed;
  std::istringstream names(EVO_CARELESS_TASKS);
  for (std::string name; names >> name;) listed.insert(name);
  EXPECT_GE(kinds.size(), 11u);
  for (const auto& [name, both] : kinds) {
    EXPECT_TRUE(std::filesystem::exists(ShareDirectory() / "kernel_templates" / name / "task.json")) << name << " is no task";
    EXPECT_EQ(both.size(), 2u) << name;
    EXPECT_TRUE(listed.count(name) == 1 || NotRunReason({name, "", ""}, "cpu")) << name << " is in no group of CMakeLists.txt";
  }
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const evo::CudaDevices gpus = evo::ListCudaDevices();
  const std::string asked = argc > 1 ? argv[1] : gpus.devices.empty() ? "--device=cpu" : "--device=cuda";
  evo::unpredictable = std::find(argv, argv + argc, std::string_view("--unpredictable")) != argv + argc;
  evo::device_under_test = asked == "--device=cuda" ? "cuda" : "cpu";
  if (evo::device_under_test == "cuda" && gpus.devices.empty()) {
    fmt::print(stderr, "careless_kernels_test --device=cuda: {}\n", gpus.why_none);
    return 1;
  }
  const int status = RUN_ALL_TESTS();
  // A filter that selects no test is a mistake.
  return ::testing::UnitTest::GetInstance()->test_to_run_count() == 0 ? 1 : status;
}
