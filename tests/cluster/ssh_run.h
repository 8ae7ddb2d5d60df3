#pragma once

#include "tests/cluster/cluster_run.h"

namespace evo {

// Three hosts that are this one, each with a server of its own.
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
    for (const std::string& conf : {conf_, Relayed()})
      std::ofstream(conf, std::ios::app) << "Host *\n  SetEnv TMPDIR=" << Temporary().string() << "\n";
    std::ofstream(folder_ / "hosts") << "worker1 0 1\nworker2 0 1\nworker3 0 1\n";
  }
  void TearDown() override {
    if (folder_.empty()) return;
    EXPECT_EQ(::system((Script() + " stop " + Server()).c_str()), 0);
    ClusterRun::TearDown();
  }
  std::string Server() const { return (folder_ / "server").string(); }
  // Connections go through a process that a test can stop.
  std::string Relayed() const { return Server() + "/relayed.conf"; }
  Words Executor() const { return {"--executor", "ssh", "--hosts", (folder_ / "hosts").string()}; }
  Words Arguments(const Words& more, int generations = 1) const {
    Words arguments = ArgumentsOf(more, generations);
    const Words executor = Executor();
    arguments.insert(arguments.end(), executor.begin(), executor.end());
    arguments.insert(arguments.end(), {"--run-launcher", "ssh -F " + conf_ + " -o BatchMode=yes"});
    return arguments;
  }
  std::string conf_;
};

}  // namespace evo
