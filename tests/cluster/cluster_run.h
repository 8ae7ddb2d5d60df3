#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/run/evo_process.h"

namespace evo {

using Words = std::vector<std::string>;

// A program of the user's or the system's administrator.
inline bool IsInstalled(const std::string& program) {
  std::istringstream folders(std::string(std::getenv("PATH")) + ":/usr/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / program)) return true;
  }
  return false;
}

// What a command of a shell prints.
inline std::string Printed(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece;
  for (std::size_t n; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) text.append(piece.data(), n);
  ::pclose(pipe);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

inline std::string ReadAll(const fs::path& file) {
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
  // Those of them that a step of Slurm on that node has.
  std::vector<pid_t> WorkersOn(const std::string& node) const {
    std::vector<pid_t> workers = Workers();
    const auto elsewhere = [&](pid_t worker) {
      return ReadAll(fmt::format("/proc/{}/environ", worker)).find("SLURMD_NODENAME=" + node) == std::string::npos;
    };
    workers.erase(std::remove_if(workers.begin(), workers.end(), elsewhere), workers.end());
    return workers;
  }
  bool NoWorkersWithin(milliseconds time) const {
    return Within(time, [&] { return Workers().empty(); });
  }
  static bool Within(milliseconds time, const std::function<bool()>& condition) {
    const auto end = steady_clock::now() + time;
    while (!condition()) {
      if (steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return true;
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
    const std::string conf = Printed(Script() + " start " + Cluster() + " 3 4 " + std::to_string(GpusOfNode()));
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

  // Links to /dev/null.
  virtual int GpusOfNode() const { return 0; }

  bool has_cluster_ = false;
};

}  // namespace evo
