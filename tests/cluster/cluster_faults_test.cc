// Parts of a cluster that are killed, stopped or full under a run. Each test states within which time the run goes on or says why
// it does not; where a test says nothing else, no candidate is charged, no stored row is lost, and nothing is left behind.
#include "tests/cluster/slurm_run.h"

namespace evo {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of Slurm to say that a node is lost: its SlurmdTimeout is 5 s here, and it has been seen to take 17 s.
constexpr seconds kNodeLost{35};
// Of one generation, on a busy machine.
constexpr seconds kGeneration{60};

class ClusterFaults : public SlurmRun {
 protected:
  void SetUp() override {
    SlurmRun::SetUp();
    if (IsSkipped()) return;
    std::ofstream(fs::path(Cluster()) / "faults") << "by the test\n";
    run_ = StartRun();
  }
  Words SlurmLongRun(Words more) const {
    more.insert(more.end(), {"--executor", "slurm"});
    return LongRun(more);
  }
  virtual pid_t StartRun() { return StartAllocated(SlurmLongRun({})); }

  // slurmctld is "ctld", a slurmd has the name of its node.
  pid_t Daemon(const std::string& name) const {
    std::ifstream file(fs::path(Cluster()) / "daemons");
    pid_t last = 0;
    std::string read;
    for (pid_t process = 0; file >> read >> process;) {
      if (read == name) last = process;
    }
    return last;
  }
  void Revive(const std::string& daemon) const { ::system((Script() + " revive " + Cluster() + " " + daemon).c_str()); }
  static pid_t ParentOf(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string word; status >> word;) {
      if (word == "PPid:" && status >> word) return std::stoi(word);
    }
    return 0;
  }
  // Each worker and its keeper have, directly or not, the slurmstepd of their step as parent.
  std::vector<pid_t> StepDaemonsOn(const std::string& node) const {
    std::vector<pid_t> daemons;
    for (const pid_t worker : WorkersOn(node)) {
      const pid_t parent = ParentOf(worker);
      if (ReadAll(fmt::format("/proc/{}/comm", parent)) == "slurmstepd\n") daemons.push_back(parent);
    }
    return daemons;
  }
  // The run is told to end, and does so.
  void EndRun() {
    const int before = Generations();
    const pid_t evo = EvoProcess();
    ASSERT_GT(evo, 0) << Output();
    ::kill(evo, SIGTERM);
    EXPECT_TRUE(Within(seconds(20), [&] { return EvoProcess() == 0; })) << Output();
    Wait(run_);
    EXPECT_GE(Generations(), before);
    EXPECT_EQ(IntegrityCheck(), "ok");
    EXPECT_THAT(Charged(), IsEmpty());
  }
  void ExpectNothingLeft() const {
    EXPECT_TRUE(NoWorkersWithin(seconds(5)));
    EXPECT_TRUE(NoJobsWithin(seconds(10)));
  }

  pid_t run_ = 0;
};

// Its steps run on until Slurm says that the node is lost, and a worker there ends when its slurmd is started again.
TEST_F(ClusterFaults, ASlurmdThatIsKilled) {
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  ::kill(Daemon("n3"), SIGKILL);
  EXPECT_TRUE(Within(kNodeLost, [] { return Printed("sinfo --noheader --states=down --format=%D") == "1"; }));
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration)) << Output();
  EndRun();
  Revive("n3");
  EXPECT_TRUE(NoWorkersWithin(seconds(20)));
  ExpectNothingLeft();
}

// As a machine that swaps, or whose file system hangs. What was stopped on it ends when it goes on.
TEST_F(ClusterFaults, ANodeThatFreezes) {
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  std::vector<pid_t> frozen = WorkersOn("n3");
  ASSERT_FALSE(frozen.empty());
  for (const pid_t daemon : StepDaemonsOn("n3")) frozen.push_back(daemon);
  frozen.push_back(Daemon("n3"));
  Signal(frozen, SIGSTOP);
  EXPECT_TRUE(MoreGenerationsWithin(kNodeLost + kGeneration)) << Output();
  Signal(frozen, SIGCONT);
  EndRun();
  ExpectNothingLeft();
}

TEST_F(ClusterFaults, AControllerThatIsKilled) {
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  ::kill(Daemon("ctld"), SIGKILL);
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration)) << Output();
  // No other can be started meanwhile, and the run goes on with two.
  Signal(WorkersOn("n3"), SIGKILL);
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration)) << Output();
  EXPECT_THAT(WorkersOn("n3"), IsEmpty());
  Revive("ctld");
  EXPECT_TRUE(Within(seconds(45), [&] { return !WorkersOn("n3").empty(); })) << Output();
  EndRun();
  EXPECT_TRUE(NoWorkersWithin(seconds(5)));
  // It stays in the state COMPLETING: the controller was not there when a step ended.
  EXPECT_TRUE(Within(seconds(10), [] { return Printed("squeue --noheader --states=running").empty(); }));
}

TEST_F(ClusterFaults, AWorkerThatIsStopped) {
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  std::vector<pid_t> workers = WorkersOn("n3");
  // The keeper is not stopped: it is the parent of the other.
  const auto keeps = [&](pid_t one) {
    return std::any_of(workers.begin(), workers.end(), [&](pid_t other) { return ParentOf(other) == one; });
  };
  const auto stopped = std::find_if_not(workers.begin(), workers.end(), keeps);
  ASSERT_NE(stopped, workers.end());
  const pid_t worker = *stopped;
  ::kill(worker, SIGSTOP);
  EXPECT_TRUE(Within(seconds(5), [&] { return ::kill(worker, 0) != 0; })) << "its keeper sees that it stands still";
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration)) << Output();
  EndRun();
  ExpectNothingLeft();
}

// Of the nodes, one has no folder for temporary files that can be written.
class ClusterFullDisk : public ClusterFaults {
 protected:
  pid_t StartRun() override {
    const fs::path launcher = folder_ / "launcher";
    std::ofstream(launcher) << "#!/bin/sh\nif [ \"$SLURMD_NODENAME\" = n3 ]; then export TMPDIR=/proc; fi\nexec \"$@\"\n";
    fs::permissions(launcher, fs::perms::owner_all);
    // Slurm fills one node after the other.
    return StartAllocated(
        SlurmLongRun({"--compile-launcher", "env", "--run-launcher",
                      "srun -u -Q -n1 -N1 -c4 --mem=0 --gres=none --exact --immediate=20 " + launcher.string()}));
  }
};

TEST_F(ClusterFullDisk, ANodeWithoutRoomIsLeftOut) {
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  EXPECT_THAT(Output(), HasSubstr("run worker cannot be started: n3: /proc/evo-scratch-"));
  EXPECT_THAT(Output(), HasSubstr("the others go on"));
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration)) << Output();
  EndRun();
  ExpectNothingLeft();
}

// The disk of a node runs full under a compile worker; each node has one.
class ClusterDiskRunsFull : public ClusterFaults {
 protected:
  fs::path Disk() const { return Temporary() / "disk"; }
  pid_t StartRun() override {
    fs::create_directories(Disk());
    mounted_ = ::system(("mount -t tmpfs -o size=400m tmpfs " + Disk().string() + " 2>/dev/null").c_str()) == 0;
    if (!mounted_) return 0;
    const fs::path launcher = folder_ / "launcher";
    std::ofstream(launcher) << "#!/bin/sh\nif [ \"$SLURMD_NODENAME\" = n3 ]; then export TMPDIR=" << Disk().string()
                            << "; fi\nexec \"$@\"\n";
    fs::permissions(launcher, fs::perms::owner_all);
    return StartAllocated(
        SlurmLongRun({"--run-launcher", "env", "--compile-launcher",
                      "srun -u -Q -n1 -N1 -c4 --mem=0 --gres=none --exact --immediate=20 " + launcher.string()}));
  }
  void TearDown() override {
    if (mounted_) ::system(("umount --lazy " + Disk().string()).c_str());
    ClusterFaults::TearDown();
  }
  bool mounted_ = false;
};

TEST_F(ClusterDiskRunsFull, CompilesElsewhereUntilThereIsRoom) {
  if (!mounted_) GTEST_SKIP() << "no file system can be mounted";
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  ASSERT_FALSE(WorkersOn("n3").empty());
  ::system(("dd if=/dev/zero of=" + (Disk() / "filler").string() + " bs=1M 2>/dev/null").c_str());
  EXPECT_TRUE(WaitFor("compile worker on n3: " + Disk().string(), 2 * kGeneration)) << Output();
  EXPECT_THAT(Output(), HasSubstr("the others go on, and it is tried again"));
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration, 4)) << Output();
  fs::remove(Disk() / "filler");
  EXPECT_TRUE(MoreGenerationsWithin(2 * kGeneration, 4)) << Output();
  EndRun();
  ExpectNothingLeft();
}

// Steps with a GPU each, as the executor makes them, of workers that do not use it.
class ClusterGpuFaults : public ClusterFaults {
 protected:
  int GpusOfNode() const override { return 1; }
  pid_t StartRun() override { return 0; }
  Words GpuArguments() const {
    return SlurmLongRun(
        {"--run-launcher", "env -u SLURM_GPUS_PER_NODE srun -u -Q -n1 -N1 -c1 --mem=0 --gpus=1 --exact --immediate=20"});
  }
};

// Its worker ends with it, which srun does not see: evo notices when a job that it sends there is not begun.
TEST_F(ClusterGpuFaults, ASlurmstepdThatIsKilled) {
  run_ = StartAllocated(GpuArguments());
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  const std::vector<pid_t> daemons = StepDaemonsOn("n3");
  ASSERT_FALSE(daemons.empty());
  Signal(daemons, SIGKILL);
  EXPECT_TRUE(Within(seconds(5), [&] { return WorkersOn("n3").empty(); })) << "nobody reads what they write";
  EXPECT_TRUE(MoreGenerationsWithin(2 * kGeneration)) << Output();
  EndRun();
  ExpectNothingLeft();
}

TEST_F(ClusterGpuFaults, AStepThatGetsNoGpuIsLeftOut) {
  const std::string other = "srun -Q -n1 -N1 -c1 --gpus=1 --relative=2 --exact --mem=0 sleep 300 & sleep 1; \"$@\"; kill $!";
  run_ = StartAllocated(GpuArguments(), {"sh", "-c", other, "sh", Evo()});
  EXPECT_TRUE(WaitFor("run worker cannot be started", seconds(50))) << Output();
  EXPECT_THAT(Output(), HasSubstr("Requested nodes are busy; the others go on"));
  EXPECT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  EXPECT_TRUE(MoreGenerationsWithin(kGeneration)) << Output();
  EndRun();
  ExpectNothingLeft();
}

}  // namespace
}  // namespace evo
