#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "db/history.h"
#include "platform/installation.h"

namespace evo {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The real programs in a folder of their own, on the cpu device, with the small task of tests/adversarial_kernels.
class EvoRun : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("evo-run-test-{}-{}", ::getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  // A test that failed may leave its run behind.
  void TearDown() override {
    for (const pid_t child : started_) {
      if (::waitpid(child, nullptr, WNOHANG) != 0) continue;
      ::kill(-child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    fs::remove_all(folder_);
  }

  std::string Database() const { return (folder_ / "evo.db").string(); }
  static std::string TaskFolder() { return (ShareDirectory() / "adversarial_kernels" / "tasks" / "reverse_sum").string(); }

  std::vector<std::string> RunArguments(int generations) const {
    return {"run",          "--task", TaskFolder(), "--device", "cpu",  "--generations", std::to_string(generations),
            "--population", "4",      "--children", "6",        "--db", Database()};
  }

  // Starts evo in its own process group, as a shell does, with its output in a file. `prepare` is called in the new process.
  pid_t Start(const std::vector<std::string>& arguments, const std::function<void()>& prepare = {}) const {
    const std::string evo = (ProgramDirectory() / "../bin/evo").string();
    std::vector<char*> argv{const_cast<char*>(evo.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const std::string output = OutputFile();
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (std::freopen(output.c_str(), "w", stdout) == nullptr || ::dup2(STDOUT_FILENO, STDERR_FILENO) < 0) ::_exit(126);
      if (prepare) prepare();
      ::execv(evo.c_str(), argv.data());
      ::_exit(127);
    }
    ::setpgid(child, child);
    started_.push_back(child);
    return child;
  }
  std::string OutputFile() const { return (folder_ / "output").string(); }
  std::string Output() const {
    std::ifstream in(OutputFile());
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static int Wait(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  int Run(const std::vector<std::string>& arguments, const std::function<void()>& prepare = {}) const {
    return Wait(Start(arguments, prepare));
  }

  bool WaitFor(const std::string& text, milliseconds longest) const {
    const auto deadline = steady_clock::now() + longest;
    while (steady_clock::now() < deadline) {
      if (Output().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }

  std::string IntegrityCheck() const {
    SQLite::Database db(Database(), SQLite::OPEN_READWRITE);
    SQLite::Statement check(db, "PRAGMA integrity_check");
    check.executeStep();
    return check.getColumn(0).getString();
  }

  // Id, generation and genome of every candidate of a run: what the search decided.
  std::vector<std::string> Children(RunId run, const std::string& database = {}) const {
    const History history(database.empty() ? Database() : database);
    std::vector<std::string> children;
    for (const CandidateRecord& record : history.Candidates(run, {})) {
      children.push_back(
          fmt::format("{} {} {}", record.candidate.id, record.candidate.generation, GenomeHash(record.candidate.genome)));
    }
    return children;
  }

  fs::path folder_;
  mutable std::vector<pid_t> started_;
};

}  // namespace evo
