// Hosts that are lost under a run through ssh. Within the time that ssh needs to notice it their jobs are done elsewhere, no
// candidate is charged, and a host that comes back joins again.
#include "tests/cluster/ssh_run.h"

namespace evo {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of one generation, on a busy machine.
constexpr seconds kGeneration{60};
// Of ssh to notice that a host is gone: ServerAliveInterval 5 s, three times, and as long for a connection.
constexpr seconds kHostLost{20};
// A host that comes back is tried again at the end of a pause of up to 32 s.
constexpr seconds kJoin{90};

class SshFaults : public SshRun {
 protected:
  void SetUp() override {
    SshRun::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    // The words that evo puts before a worker, with the configuration of the test.
    fs::create_directories(folder_ / "bin");
    const fs::path ssh = folder_ / "bin" / "ssh";
    std::ofstream(ssh) << "#!/bin/sh\nexec " << Printed("command -v ssh") << " -F " << Relayed() << " \"$@\"\n";
    fs::permissions(ssh, fs::perms::owner_all);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    for (const pid_t relay : stopped_) ::kill(relay, SIGKILL);
    for (const char* host : {"worker1", "worker2", "worker3"}) Signal(OnHost(host), SIGCONT);
    SshRun::TearDown();
  }
  pid_t StartHere(const Words& arguments) const {
    return Start(arguments, [&] {
      ::setenv("TMPDIR", Temporary().c_str(), 1);
      ::setenv("PATH", fmt::format("{}:{}", (folder_ / "bin").string(), std::getenv("PATH")).c_str(), 1);
    });
  }
  Words SshLongRun() const { return LongRun(Executor()); }

  static void AddDescendants(pid_t process, std::vector<pid_t>& all) {
    std::istringstream children(Printed(fmt::format("pgrep -P {}", process)));
    for (pid_t child = 0; children >> child;) {
      all.push_back(child);
      AddDescendants(child, all);
    }
  }
  // The last server of a host that was started, its connections and what runs on it.
  std::vector<pid_t> OnHost(const std::string& host) const {
    std::ifstream file(fs::path(Server()) / "servers");
    pid_t server = 0;
    std::string read;
    for (pid_t process = 0; file >> read >> process;) {
      if (read == host) server = process;
    }
    std::vector<pid_t> all;
    if (server == 0 || ::kill(server, 0) != 0) return all;
    all.push_back(server);
    AddDescendants(server, all);
    return all;
  }
  int WorkersOf(const std::string& host) const {
    const std::vector<pid_t> there = OnHost(host);
    const std::vector<pid_t> workers = Workers();
    return static_cast<int>(std::count_if(workers.begin(), workers.end(), [&](pid_t worker) {
      return std::find(there.begin(), there.end(), worker) != there.end();
    }));
  }
  // Neither what goes through them arrives, nor that a side has ended.
  void CutNetwork(const std::string& host) {
    std::ofstream(fs::path(Server()) / ("gone." + host)) << "\n";
    std::istringstream relays(Printed(fmt::format("pgrep -f '^bash.*relay {} {}$'", Server(), host)));
    for (pid_t relay = 0; relays >> relay;) {
      stopped_.push_back(relay);
      AddDescendants(relay, stopped_);
    }
    Signal(stopped_, SIGSTOP);
  }
  void MendNetwork(const std::string& host) {
    fs::remove(fs::path(Server()) / ("gone." + host));
    for (const pid_t relay : stopped_) ::kill(relay, SIGCONT);
  }

  void ExpectGoesOnWithout(const std::string& host, const std::string& because) {
    EXPECT_TRUE(WaitFor("cannot be started: ", 2 * kHostLost + kGeneration)) << Output();
    EXPECT_THAT(Output(), HasSubstr("worker on " + host + " cannot be started: "));
    EXPECT_THAT(Output(), HasSubstr(because));
    EXPECT_THAT(Output(), HasSubstr("the others go on, and it is tried again"));
    EXPECT_TRUE(MoreGenerationsWithin(2 * kGeneration)) << Output();
    EXPECT_GT(EvoProcess(), 0) << host << Output();
  }
  void ExpectJoins(const std::string& host) {
    // A run worker and a compile worker, each with its keeper.
    EXPECT_TRUE(Within(kJoin, [&] { return WorkersOf(host) == 4; })) << WorkersOf(host) << Output();
    EXPECT_TRUE(MoreGenerationsWithin(2 * kGeneration)) << Output();
  }
  void EndRun(pid_t run) {
    ::kill(run, SIGTERM);
    EXPECT_EQ(Wait(run), 130) << Output();
    EXPECT_EQ(IntegrityCheck(), "ok");
    EXPECT_THAT(Charged(), IsEmpty());
    EXPECT_TRUE(NoWorkersWithin(seconds(10)));
  }

  std::vector<pid_t> stopped_;
};

// As a machine that swaps.
TEST_F(SshFaults, AHostThatFreezes) {
  const pid_t run = StartHere(SshLongRun());
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  const std::vector<pid_t> frozen = OnHost("worker3");
  ASSERT_EQ(WorkersOf("worker3"), 4);
  Signal(frozen, SIGSTOP);
  ExpectGoesOnWithout("worker3", "timed out");
  Signal(frozen, SIGCONT);
  ExpectJoins("worker3");
  EndRun(run);
}

TEST_F(SshFaults, AHostWhoseServerIsKilledWithItsConnections) {
  const pid_t run = StartHere(SshLongRun());
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  const std::vector<pid_t> there = OnHost("worker2");
  for (const pid_t process : there) {
    if (ReadAll(fmt::format("/proc/{}/comm", process)) == "sshd\n") ::kill(process, SIGKILL);
  }
  const auto ended = [](pid_t process) { return ::kill(process, 0) != 0; };
  EXPECT_TRUE(Within(seconds(10), [&] { return std::all_of(there.begin(), there.end(), ended); }))
      << "nobody reads what they write";
  ExpectGoesOnWithout("worker2", "Connection");
  ::system((Script() + " revive " + Server() + " worker2").c_str());
  ExpectJoins("worker2");
  EndRun(run);
}

// Nothing arrives any more, not even that a connection is closed.
TEST_F(SshFaults, ANetworkThatIsGone) {
  const pid_t run = StartHere(SshLongRun());
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  CutNetwork("worker1");
  ExpectGoesOnWithout("worker1", "timed out");
  MendNetwork("worker1");
  ExpectJoins("worker1");
  EndRun(run);
}

TEST_F(SshFaults, TheLastHostEndsTheRunWithALine) {
  const pid_t run = StartHere(SshLongRun());
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  const int before = Generations();
  for (const char* host : {"worker1", "worker2", "worker3"}) CutNetwork(host);
  EXPECT_EQ(Wait(run), 1) << Output();
  const std::string output = Output();
  EXPECT_THAT(output.substr(output.rfind("evo: ")), HasSubstr(" cannot be started: ")) << output;
  EXPECT_THAT(output.substr(output.rfind("evo: ")), HasSubstr("timed out")) << output;
  EXPECT_GE(Generations(), before);
  EXPECT_EQ(IntegrityCheck(), "ok");
  EXPECT_EQ(History(Database()).FindRun(1).status, RunStatus::kFailed);
  for (const char* host : {"worker1", "worker2", "worker3"}) MendNetwork(host);
  EXPECT_TRUE(NoWorkersWithin(seconds(10)));
  // Here, with other workers.
  const int generations = Generations() + 1;
  EXPECT_EQ(Wait(StartHere({"run", "--resume", "--generations", std::to_string(generations), "--no-check", "--minimise", "off",
                            "--db", Database()})),
            0)
      << Output();
  ExpectChildrenOfAReplay(generations, kLongTask);
}

// The check of a champion is made on the first host, or on the next that is there.
TEST_F(SshFaults, TheFirstHostIsNotNeededForTheCheck) {
  Words arguments = ArgumentsOf(Executor(), 4);
  const pid_t run = StartHere(arguments);
  ASSERT_TRUE(WaitFor("generation 1", kGeneration)) << Output();
  Signal(OnHost("worker1"), SIGKILL);
  EXPECT_EQ(Wait(run), 0) << Output();
  const auto best = History(Database()).Best(1);
  ASSERT_TRUE(best);
  EXPECT_TRUE(best->check) << Output();
  EXPECT_TRUE(NoWorkersWithin(seconds(10)));
}

}  // namespace
}  // namespace evo
