#pragma once

#include "tests/cluster/cluster_run.h"

namespace evo {

// A cluster of three nodes.
class SlurmRun : public ClusterRun {
 protected:
  static std::string Script() { return std::string(EVO_CLUSTER_SCRIPTS) + "/slurm_cluster"; }
  void SetUp() override {
    if (!IsInstalled("slurmctld") || !IsInstalled("slurmd") || !IsInstalled("salloc")) GTEST_SKIP() << "no Slurm";
    ClusterRun::SetUp();
    const std::string conf =
        Printed(Script() + " start " + Cluster() + " 3 4 " + std::to_string(GpusOfNode()) + Quoted(MoreOfConf()));
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
  static bool NoJobsWithin(milliseconds time) {
    return Within(time, [] { return Jobs().empty(); });
  }

  static std::string Evo() { return (ProgramDirectory() / "../bin/evo").string(); }
  // evo as the program of an allocation of three nodes, or `program`, which starts it.
  pid_t StartAllocated(const Words& arguments, const Words& program = {Evo()}) const {
    return Start(arguments, [&] {
      ::setenv("TMPDIR", Temporary().c_str(), 1);
      Words words = {"salloc", "-Q", "-N3", "--ntasks-per-node=1", "-c4", "--no-kill"};
      if (GpusOfNode() > 0) words.push_back(fmt::format("--gpus-per-node={}", GpusOfNode()));
      words.insert(words.end(), program.begin(), program.end());
      words.insert(words.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execvp("salloc", argv.data());
      ::_exit(127);
    });
  }

  // A batch script as evo prints it, but for what it asks for: three nodes.
  std::string PrintedScript(Words arguments) const {
    arguments.emplace_back("--print-batch");
    EXPECT_EQ(Run(arguments), 0) << Output();
    std::string script = Output();
    const auto put = [&](const std::string& old, const std::string& other) {
      script.replace(script.find(old), old.size(), other);
    };
    put("--nodes=1", "--nodes=3");
    put("--gpus-per-node=1", "--comment=none");
    put("--cpus-per-task=8", "--cpus-per-task=4");
    std::ofstream(folder_ / "batch") << script;
    return (folder_ / "batch").string();
  }
  // What the job prints is in JobOutput.
  std::string Submit(const std::string& script, const std::string& options) const {
    ::setenv("TMPDIR", Temporary().c_str(), 1);
    const std::string job = Printed(fmt::format("sbatch --parsable {} -o {} {}", options, PrintedFile(), script));
    ::unsetenv("TMPDIR");
    return job;
  }
  std::string PrintedFile() const { return (folder_ / "printed").string(); }
  std::string JobOutput() const { return ReadAll(PrintedFile()); }

  // Lines of slurm.conf.
  virtual Words MoreOfConf() const { return {}; }
  static std::string Quoted(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += " '" + word + "'";
    return text;
  }
  // Links to /dev/null.
  virtual int GpusOfNode() const { return 0; }

  bool has_cluster_ = false;
};

}  // namespace evo
