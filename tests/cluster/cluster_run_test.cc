// Runs on a real Slurm cluster of three pretended nodes and through a real ssh server, all of this user's and in one folder.
#include "tests/cluster/slurm_run.h"
#include "tests/cluster/ssh_run.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SlurmRun, OverThreeNodesEndsAndLeavesNothing) {
  ASSERT_EQ(Wait(StartAllocated(ArgumentsOf({"--executor", "slurm"}))), 0) << Output();
  EXPECT_TRUE(NoWorkersWithin(milliseconds(500)));
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
  EXPECT_TRUE(NoJobsWithin(milliseconds(5000)));
  for (const char* node : {"n1", "n2", "n3"})
    EXPECT_THAT(ReadAll(fs::path(Cluster()) / ("slurmd." + std::string(node) + ".log")), HasSubstr("launch task")) << node;
  ExpectChildrenOfAReplay();
}

TEST_F(SlurmRun, GoesOnWithoutAWorkerOrALauncherThatWasKilled) {
  const pid_t run = StartAllocated(ArgumentsOf({"--executor", "slurm", "--no-check"}, 2));
  ASSERT_TRUE(WaitFor("generation 1", milliseconds(60'000))) << Output();
  for (const pid_t worker : Workers()) ::kill(worker, SIGKILL);
  std::istringstream launchers(Printed("pgrep -x srun"));
  for (pid_t launcher = 0; launchers >> launcher;) {
    if (ReadAll("/proc/" + std::to_string(launcher) + "/environ").find(folder_.string()) == std::string::npos) continue;
    ::kill(launcher, SIGKILL);
    break;
  }
  EXPECT_EQ(Wait(run), 0) << Output();
  EXPECT_EQ(IntegrityCheck(), "ok");
  EXPECT_TRUE(NoWorkersWithin(milliseconds(500)));
  EXPECT_TRUE(NoJobsWithin(milliseconds(5000)));
}

TEST_F(SlurmRun, WorkersEndWithinASecondOfEvosDeathAndTheRunIsResumed) {
  const pid_t allocation = StartAllocated(ArgumentsOf({"--executor", "slurm", "--no-check"}, 50));
  ASSERT_TRUE(WaitFor("generation 1", milliseconds(60'000))) << Output();
  const std::string evo = Printed(fmt::format("pgrep -x evo -P {}", allocation));
  ASSERT_FALSE(evo.empty());
  ASSERT_FALSE(Workers().empty());
  ::kill(std::stoi(evo), SIGKILL);
  EXPECT_TRUE(NoWorkersWithin(milliseconds(1000)));
  Wait(allocation);
  EXPECT_TRUE(NoJobsWithin(milliseconds(5000)));
  // With another executor, and another number of workers.
  EXPECT_EQ(Run({"run", "--resume", "--generations", "2", "--no-check", "--minimise", "off", "--db", Database()},
                [&] { ::setenv("TMPDIR", Temporary().c_str(), 1); }),
            0)
      << Output();
  EXPECT_THAT(LeftInTemporary(), IsEmpty()) << "what was killed is removed by the next";
}

TEST_F(EvoRun, SlurmOutsideAnAllocationIsRefusedWithTheWayToOne) {
  const auto outside = [] { ::unsetenv("SLURM_JOB_ID"); };
  EXPECT_EQ(Run({"run", "--executor", "slurm", "--db", Database()}, outside), 2);
  EXPECT_THAT(Output(), HasSubstr("not inside an allocation of Slurm"));
  EXPECT_THAT(Output(), HasSubstr("--print-batch"));
  EXPECT_FALSE(fs::exists(Database()));
  EXPECT_EQ(Run({"run", "--task", "softmax", "--print-batch", "--db", Database()}, outside), 0);
  EXPECT_THAT(Output(), HasSubstr("#SBATCH --gpus-per-node=1"));
  EXPECT_THAT(Output(), HasSubstr("evo run --task softmax --db " + Database() + " --executor slurm\n"));
}

TEST_F(SlurmRun, ABatchScriptBringsEvoAlong) {
  const std::string script =
      PrintedScript(ArgumentsOf({"--executor", "slurm", "--no-check", "--broadcast", Temporary().string()}));
  EXPECT_FALSE(Submit(script, "--wait").empty()) << JobOutput();
  EXPECT_THAT(JobOutput(), HasSubstr("finished after"));
  EXPECT_FALSE(Children(1).empty());
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
  EXPECT_TRUE(NoJobsWithin(milliseconds(5000)));
}

TEST_F(EvoRun, TheCpuDeviceOfOtherMachinesIsRefused) {
  std::ofstream(folder_ / "hosts") << "worker1 0 2\n";
  EXPECT_EQ(Run({"run", "--device", "cpu", "--executor", "ssh", "--hosts", (folder_ / "hosts").string(), "--db", Database()}), 2);
  EXPECT_THAT(Output(), HasSubstr("--shared-timing"));
}

TEST_F(SshRun, OverThreeHostsEndsAndLeavesNothing) {
  ASSERT_EQ(Run(Arguments({"--no-check"}), [&] { ::setenv("TMPDIR", Temporary().c_str(), 1); }), 0) << Output();
  EXPECT_TRUE(NoWorkersWithin(milliseconds(500)));
  EXPECT_THAT(LeftInTemporary(), IsEmpty());
}

TEST_F(SshRun, WorkersEndWithinTwoSecondsOfEvosDeath) {
  const pid_t run = Start(Arguments({"--no-check"}, 50), [&] { ::setenv("TMPDIR", Temporary().c_str(), 1); });
  ASSERT_TRUE(WaitFor("generation 1", milliseconds(60'000))) << Output();
  ASSERT_FALSE(Workers().empty());
  ::kill(run, SIGKILL);
  Wait(run);
  EXPECT_TRUE(NoWorkersWithin(milliseconds(2000)));
}

}  // namespace
}  // namespace evo
