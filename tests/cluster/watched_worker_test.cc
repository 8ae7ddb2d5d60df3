// compute-sanitizer on the nodes: the real worker, which a launcher starts there, with a program in the place of the tool.
#include "evaluator/workers/watched_worker.h"

#include "cli/executor.h"
#include "evaluator/workers/sanitizer.h"
#include "tests/cluster/slurm_run.h"
#include "tests/cluster/ssh_run.h"
#include "tests/evaluator/stand_in_toolkit.h"
#include "tests/evaluator/tool_results.h"

namespace evo {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kClean = "\"$@\"; sleep 0.5; Report '========= ERROR SUMMARY: 0 errors'";

// A job that needs no GPU.
std::vector<ToolResult> CheckThrough(const Words& command) {
  WorkerPoolOptions options;
  options.argv_of_worker = {command};
  options.init = {{"role", "import"}};
  options.launched = true;
  options.start_deadline = std::chrono::seconds(30);
  Job job;
  job.request.header = {{"text", "__global__ void k(float* x) {}"}};
  Message setup = job.request;
  return Results(Sanitizer("", options, setup).Check({{job, ""}}, 0, {}));
}

WantedWorkers WantedHere(const std::string& executor) {
  WantedWorkers wanted;
  wanted.options.executor = executor;
  wanted.gpus = false;
  wanted.program = fs::canonical(ProgramDirectory() / "../bin/evo-worker").string();
  return wanted;
}

void ExpectClean(const std::vector<ToolResult>& results) {
  ASSERT_EQ(results.size(), 4U);
  for (const ToolResult& one : results) EXPECT_EQ(one.result, "clean") << one.tool << ": " << one.message;
}

class WatchedSlurm : public SlurmRun {
 protected:
  void SetUp() override {
    SlurmRun::SetUp();
    if (IsSkipped()) return;
    toolkit_.emplace(folder_ / "toolkit");
    ::setenv("CUDA_HOME", toolkit_->folder().c_str(), 1);
    ::setenv("TMPDIR", Temporary().c_str(), 1);
    const std::string granted = Printed("salloc -N3 --ntasks-per-node=1 -c4 --no-shell 2>&1");
    job_ = granted.substr(granted.rfind(' ') + 1);
    ::setenv("SLURM_JOB_ID", job_.c_str(), 1);
  }
  void TearDown() override {
    if (!job_.empty()) Printed("scancel " + job_);
    for (const char* name : {"SLURM_JOB_ID", "CUDA_HOME", "TMPDIR"}) ::unsetenv(name);
    SlurmRun::TearDown();
  }
  static std::vector<ToolResult> Check() { return CheckThrough(SlurmCommands(WantedHere("slurm"), {3, 0, 12}).fresh); }

  std::optional<StandInToolkit> toolkit_;
  std::string job_;
};

TEST_F(WatchedSlurm, ReportsComeFromTheNodesAndNothingIsLeft) {
  toolkit_->Write(kClean);
  ExpectClean(Check());
  EXPECT_EQ(toolkit_->Count(), 4);
  EXPECT_TRUE(NoWorkersWithin(milliseconds(2000)));
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
}

TEST_F(WatchedSlurm, AnErrorEndsTheToolsAfterIt) {
  toolkit_->Write(
      "\"$@\"; [ $tool = memcheck ] && { Report '========= ERROR SUMMARY: 0 errors'; exit; }; "
      "[ $tool = racecheck ] || sleep 100; Report '========= Error: Race' '========= RACECHECK SUMMARY: 1 hazard'");
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results.front().result, "clean");
  EXPECT_EQ(results.back().result, "error");
  EXPECT_EQ(results.back().message, "Error: Race");
  EXPECT_TRUE(NoWorkersWithin(milliseconds(5000)));
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
}

TEST_F(WatchedSlurm, ANodeWithoutTheProgramIsNamed) {
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_THAT(results, Each(Field(&ToolResult::result, "missing")));
  EXPECT_THAT(results, Each(Field(&ToolResult::message, HasSubstr(": n"))));
}

class WatchedSsh : public SshRun {
 protected:
  void SetUp() override {
    SshRun::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    toolkit_.emplace(folder_ / "toolkit");
    std::string conf = ReadAll(conf_);
    conf.insert(conf.find("SetEnv TMPDIR") + 6, " CUDA_HOME=" + toolkit_->folder().string());
    std::ofstream(conf_) << conf;
  }
  std::vector<ToolResult> Check() const {
    WantedWorkers wanted = WantedHere("ssh");
    wanted.options.run_launcher = "ssh -F " + conf_ + " -o BatchMode=yes";
    return CheckThrough(SshCommands(wanted, {{"worker2", 0, 1}}).run.front());
  }
  std::optional<StandInToolkit> toolkit_;
};

TEST_F(WatchedSsh, ReportsComeFromTheHostAndNothingIsLeft) {
  toolkit_->Write(kClean);
  ExpectClean(Check());
  EXPECT_TRUE(NoWorkersWithin(milliseconds(2000)));
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
}

TEST_F(WatchedSsh, AToolThatHangsIsEnded) {
  toolkit_->Write("\"$@\"; [ $tool = racecheck ] && sleep 1000; Report '========= ERROR SUMMARY: 0 errors'");
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].result, "clean");
  EXPECT_EQ(results[1].message, "the tool wrote no summary");
  EXPECT_TRUE(NoWorkersWithin(milliseconds(5000)));
  EXPECT_EQ(Printed("pgrep -f '^bash .*/toolkit/bin/compute-sanitizer.*" + Temporary().string() + "'"), "");
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
}

}  // namespace
}  // namespace evo
