// Runs on a real Slurm cluster of three pretended nodes and through a real ssh server, all of this user's and in one folder.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

// A program of the user's or the system's administrator.
bool IsInstalled(const std::string& program) {
  std::istringstream folders(std::string(std::getenv("PATH")) + ":/usr/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / program)) return true;
  }
  return false;
}

// What a command of a shell prints.
std::string Printed(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece;
  for (std::size_t n; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) text.append(piece.data(), n);
  ::pclose(pipe);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string ReadAll(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class ClusterRun : public EvoRun {
 protected:
  void SetUp() override {
    EvoRun::SetUp();
    fs::create_directories(Temporary());
  }
  fs::path Temporary() const { return folder_ / "tmp"; }

  // One generation by default, on the cpu device, which is what there is here.
  Words ArgumentsOf(const Words& more, int generations = 1) const {
    Words arguments = RunArguments(generations);
    arguments.insert(arguments.end(), {"--shared-timing", "--run-workers", "3", "--compile-workers", "3", "--minimise", "off"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  // evo-worker processes of this test; a worker and its keeper are two. They all have this test's folder for temporary files.
  std::vector<pid_t> Workers() const {
    std::vector<pid_t> workers;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      std::error_code gone;
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (fs::read_symlink(entry.path() / "exe", gone).filename() != "evo-worker") continue;
      if (ReadAll(entry.path() / "environ").find("TMPDIR=" + Temporary().string()) != std::string::npos)
        workers.push_back(std::stoi(name));
    }
    return workers;
  }
  bool NoWorkersWithin(milliseconds time) const {
    const auto end = steady_clock::now() + time;
    while (!Workers().empty() && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(20));
    return Workers().empty();
  }
  Words LeftInTemporary() const {
    Words names;
    for (const auto& entry : fs::directory_iterator(Temporary())) names.push_back(entry.path().filename().string());
    return names;
  }

  // The same search with the evaluations that were recorded makes the same children.
  void ExpectChildrenOfAReplay() {
    const std::string replayed = (folder_ / "replayed.db").string();
    Words arguments = RunArguments(1);
    arguments.insert(arguments.end(), {"--minimise", "off", "--replay", Database()});
    *std::find(arguments.begin(), arguments.end(), Database()) = replayed;
    ASSERT_EQ(Run(arguments), 0) << Output();
    EXPECT_EQ(Children(1), Children(1, replayed));
  }
};

class SlurmRun : public ClusterRun {
 protected:
  static std::string Script() { return std::string(EVO_CLUSTER_SCRIPTS) + "/slurm_cluster"; }
  void SetUp() override {
    if (!IsInstalled("slurmctld") || !IsInstalled("slurmd") || !IsInstalled("salloc")) GTEST_SKIP() << "no Slurm";
    ClusterRun::SetUp();
    const std::string conf = Printed(Script() + " start " + Cluster() + " 3 4 0");
    // slurmctld does not start where there is no network but the loopback, for example.
    if (!fs::exists(conf)) GTEST_SKIP() << "Slurm's daemons do not start here";
    has_cluster_ = true;
    ::setenv("SLURM_CONF", conf.c_str(), 1);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    if (has_cluster_) {
      EXPECT_EQ(::system((Script() + " stop " + Cluster()).c_str()), 0) << "a process of the cluster was left behind";
    }
    ::unsetenv("SLURM_CONF");
    ClusterRun::TearDown();
  }
  std::string Cluster() const { return (folder_ / "cluster").string(); }
  static std::string Jobs() { return Printed("squeue --noheader --format=%i"); }
  bool NoJobsWithin(milliseconds time) const {
    const auto end = steady_clock::now() + time;
    while (!Jobs().empty() && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(50));
    return Jobs().empty();
  }

  // evo as the program of an allocation of three nodes.
  pid_t StartAllocated(const Words& arguments) const {
    return Start(arguments, [&] {
      ::setenv("TMPDIR", Temporary().c_str(), 1);
      Words words = {
          "salloc", "-Q", "-N3", "--ntasks-per-node=1", "-c4", "--no-kill", (ProgramDirectory() / "../bin/evo").string()};
      words.insert(words.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execvp("salloc", argv.data());
      ::_exit(127);
    });
  }

  bool has_cluster_ = false;
};

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

TEST_F(EvoRun, TheCpuDeviceOfOtherMachinesIsRefused) {
  std::ofstream(folder_ / "hosts") << "worker1 0 2\n";
  EXPECT_EQ(Run({"run", "--device", "cpu", "--executor", "ssh", "--hosts", (folder_ / "hosts").string(), "--db", Database()}), 2);
  EXPECT_THAT(Output(), HasSubstr("--shared-timing"));
}

class SshRun : public ClusterRun {
 protected:
  static std::string Script() { return std::string(EVO_CLUSTER_SCRIPTS) + "/ssh_server"; }
  void SetUp() override {
    if (!IsInstalled("sshd") || !IsInstalled("ssh")) GTEST_SKIP() << "no ssh server";
    ClusterRun::SetUp();
    conf_ = Printed(Script() + " start " + Server());
    if (ReadAll(fs::path(Server()) / "server.log").find("account is locked") != std::string::npos)
      GTEST_SKIP() << "a server lets nobody in whose account is locked";
    ASSERT_TRUE(fs::exists(conf_)) << "the server did not start";
    std::ofstream(conf_, std::ios::app) << "  SetEnv TMPDIR=" << Temporary().string() << "\n";
    std::ofstream(folder_ / "hosts") << "worker1 0 1\nworker2 0 1\nworker3 0 1\n";
  }
  void TearDown() override {
    if (folder_.empty()) return;
    EXPECT_EQ(::system((Script() + " stop " + Server()).c_str()), 0);
    ClusterRun::TearDown();
  }
  std::string Server() const { return (folder_ / "server").string(); }
  Words Arguments(const Words& more, int generations = 1) const {
    Words arguments = ArgumentsOf(more, generations);
    arguments.insert(arguments.end(), {"--executor", "ssh", "--hosts", (folder_ / "hosts").string(), "--run-launcher",
                                       "ssh -F " + conf_ + " -o BatchMode=yes"});
    return arguments;
  }
  std::string conf_;
};

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
