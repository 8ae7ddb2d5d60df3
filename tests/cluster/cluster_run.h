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

  // A search that goes on for longer than a test.
  Words LongRun(const Words& more) const {
    Words arguments = ArgumentsOf({"--no-check"}, 10'000);
    *std::find(arguments.begin(), arguments.end(), TaskFolder()) = kLongTask;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static constexpr const char* kLongTask = "softmax";

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
  static void Signal(const std::vector<pid_t>& processes, int signal) {
    for (const pid_t process : processes) ::kill(process, signal);
  }
  // 0 if it has ended.
  pid_t EvoProcess() const {
    std::istringstream processes(Printed("pgrep -x evo"));
    for (pid_t process = 0; processes >> process;) {
      if (ReadAll(fmt::format("/proc/{}/cmdline", process)).find(Database()) != std::string::npos) return process;
    }
    return 0;
  }
  Words LeftInTemporary() const {
    Words names;
    for (const auto& entry : fs::directory_iterator(Temporary())) names.push_back(entry.path().filename().string());
    return names;
  }

  // The last of run 1.
  int Generations() const {
    const History history(Database());
    int last = 0;
    for (const CandidateRecord& record : history.Candidates(1, {})) last = std::max(last, record.candidate.generation);
    return last;
  }
  // So many more than now.
  bool MoreGenerationsWithin(milliseconds time, int more = 2) const {
    const int before = Generations();
    return Within(time, [&] { return Generations() >= before + more; });
  }
  // What candidates are charged with when their worker dies.
  Words Charged() const {
    const History history(Database());
    Words charged;
    for (const CandidateRecord& record : history.Candidates(1, {})) {
      const Outcome outcome = record.evaluation.outcome;
      if (outcome == Outcome::kTimeout || outcome == Outcome::kCrash)
        charged.push_back(fmt::format("{}: {}", record.candidate.id, record.evaluation.message));
    }
    return charged;
  }

  // The same search with the evaluations that were recorded makes the same children.
  void ExpectChildrenOfAReplay(int generations = 1, const std::string& task = TaskFolder()) {
    const std::string replayed = (folder_ / "replayed.db").string();
    Words arguments = RunArguments(generations);
    arguments.insert(arguments.end(), {"--minimise", "off", "--replay", Database()});
    *std::find(arguments.begin(), arguments.end(), Database()) = replayed;
    *std::find(arguments.begin(), arguments.end(), TaskFolder()) = task;
    ASSERT_EQ(Run(arguments), 0) << Output();
    EXPECT_EQ(Children(1), Children(1, replayed));
  }
};

}  // namespace evo
