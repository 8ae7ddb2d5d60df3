// A worker with one fault, named in its init message. The fault shows when a job says "misbehave"; any other job is answered by
// an echo.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "evaluator/workers/watched_worker.h"
#include "evaluator/workers/worker_main.h"
#include "platform/command.h"
#include "platform/kept_process.h"

namespace evo {
namespace {

int raw_output = -1;  // the coordinator's pipe, which WorkerMain keeps to itself

void WriteRaw(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::write(raw_output, bytes.data() + sent, bytes.size() - sent);
    if (n <= 0) ::_exit(9);
    sent += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void SleepForEver() {
  for (;;) ::pause();
}

[[noreturn]] void ForkAndExit() {
  if (::fork() == 0) SleepForEver();  // holds every pipe open
  ::_exit(3);
}

// As a compiler's driver and the compiler that it starts.
[[noreturn]] void StartCompilers() {
  if (::fork() == 0 && ::fork() == 0) SleepForEver();
  SleepForEver();
}

// As a compiler that finds no end.
[[noreturn]] void ComputeInAChild() {
  if (::fork() == 0) {
    volatile int i = 0;
    for (;;) i = i + 1;
  }
  SleepForEver();
}

void FloodStderr(bool for_ever) {
  const std::string line(1000, 'x');
  for (int i = 0; for_ever || i < 5000; ++i) std::fprintf(stderr, "%s\n", line.c_str());
  std::fprintf(stderr, "the last line\n");
}

std::string Lying(std::uint64_t body_bytes) {
  std::string wire = Encode({});
  std::memcpy(wire.data() + 8, &body_bytes, sizeof(body_bytes));
  return wire;
}

const std::map<std::string, std::function<void()>>& Faults() {
  static const std::map<std::string, std::function<void()>> kFaults = {
      {"abort",
       [] {
         std::fprintf(stderr, "about to abort\n");
         std::abort();
       }},
      {"exit", [] { ::_exit(7); }},
      {"throw", [] { throw std::runtime_error("out of luck"); }},
      {"hang", [] { SleepForEver(); }},
      {"hang_ignoring_sigterm",
       [] {
         ::signal(SIGTERM, SIG_IGN);
         SleepForEver();
       }},
      {"flood_stderr", [] { FloodStderr(false); }},
      {"flood_stderr_for_ever", [] { FloodStderr(true); }},
      {"flood_stdout",
       [] {
         for (;;) WriteRaw(std::string(4096, 'n'));
       }},
      {"print_to_stdout",
       [] {
         std::printf("a kernel's printf\n");
         std::fflush(stdout);
       }},
      {"die_mid_reply",
       [] {
         WriteRaw(Encode({{{"type", "reply"}}, {std::string(1000, 'b')}}).substr(0, 500));
         ::_exit(4);
       }},
      {"hang_mid_reply",
       [] {
         WriteRaw(Encode({{{"type", "reply"}}, {}}).substr(0, 10));
         SleepForEver();
       }},
      {"lie_about_length",
       [] {
         WriteRaw(Lying(~0ULL));
         SleepForEver();
       }},
      {"promise_more",
       [] {
         WriteRaw(Lying(1000));
         SleepForEver();
       }},
      {"odd_header",
       [] {
         WriteRaw(Encode({{{"type", 5}, {"stage", nullptr}}, {}}));
         SleepForEver();
       }},
      {"odd_marker",
       [] {
         WriteRaw(Encode({{{"type", "begin"}, {"stage", 5}}, {}}));
         SleepForEver();
       }},
      {"odd_run",
       [] {
         WriteRaw(Encode({{{"type", "begin"}, {"stage", "check"}, {"run", 5}}, {}}));
         SleepForEver();
       }},
      {"unknown_type",
       [] {
         WriteRaw(Encode({{{"type", "greeting"}}, {}}));
         SleepForEver();
       }},
      {"grandchild", [] { ForkAndExit(); }},
      {"compilers", [] { StartCompilers(); }},
      {"computes", [] { ComputeInAChild(); }},
      {"killed", [] { ::raise(SIGKILL); }},
      {"stops_itself", [] { ::raise(SIGSTOP); }},
      {"compiler_stopped",
       [] {
         const pid_t compiler = ::fork();
         if (compiler == 0) ::raise(SIGSTOP);
         ::waitpid(compiler, nullptr, 0);
       }},
      {"compiler_killed", [] { throw CommandKilled("g++: killed by signal 9 (Killed)"); }},
  };
  return kFaults;
}

class FaultInjectionRole : public WorkerRole {
 public:
  explicit FaultInjectionRole(std::string fault) : fault_(std::move(fault)) {}

  nlohmann::json Describe() override { return {{"pid", ::getpid()}}; }

  Message Handle(const Message& job, WorkerChannel& channel) override {
    if (job.header.value("markers", false)) {
      for (;;) channel.Begin(Stage::kCheck);
    }
    for (const auto& stage : job.header.value("stages", nlohmann::json::array())) {
      channel.Begin(ParseStage(stage.at("name").get<std::string>()).value(), stage.value("wait", false));
      std::this_thread::sleep_for(std::chrono::milliseconds(stage.value("ms", 0)));
    }
    if (job.header.contains("on")) channel.Announce({{job.header["on"], 1, 2, "x: normal"}, true, 3, true});
    if (job.header.value("misbehave", false)) {
      if (fault_ == "must_restart") {
        must_restart_ = true;
      } else if (fault_ == "no_room") {
        return {{{"pid", ::getpid()}, {"machine_failed", true}, {"message", "no space is left"}}, {}};
      } else {
        Faults().at(fault_)();
      }
    }
    Message reply;
    reply.header = {{"pid", ::getpid()}, {"echo", job.header.value("say", "")}, {"served", ++served_}};
    reply.bodies = job.bodies;
    return reply;
  }

  bool MustRestart() const override { return must_restart_; }

 private:
  std::string fault_;
  int served_ = 0;
  bool must_restart_ = false;
};

// A first message whose header is nested deeply enough to use up the stack of what copies it.
[[noreturn]] void GreetNested() {
  const std::string header =
      R"({"type":"ready","bodies":[],"deep":)" + std::string(500'000, '[') + std::string(500'000, ']') + "}";
  std::string wire = Encode({}).substr(0, 16);
  const auto size = static_cast<std::uint32_t>(header.size());
  std::memcpy(wire.data() + 4, &size, sizeof(size));
  WriteRaw(wire + header);
  SleepForEver();
}

// Counts the starts in a file; the first ones fail.
void FailFirstStarts(const nlohmann::json& init) {
  const auto file = init.value("starts_file", "");
  if (file.empty()) return;
  std::ofstream(file, std::ios::app) << 'x';
  if (std::filesystem::file_size(file) <= init.at("failed_starts").get<std::uintmax_t>()) ::_exit(5);
}

std::unique_ptr<WorkerRole> Make(const nlohmann::json& init) {
  const std::string fault = init.value("fault", "");
  FailFirstStarts(init);
  if (fault == "nested_at_start") GreetNested();
  if (fault == "floods_at_start") FloodStderr(true);
  if (fault == "compiler_killed_at_start") throw CommandKilled("g++: killed by signal 9 (Killed)");
  if (fault == "large_at_start") {
    WriteRaw(Lying(100'000'000));
    SleepForEver();
  }
  if (fault == "cannot_be") throw std::runtime_error("no device here");
  if (fault == "exits_at_start") ::_exit(5);
  if (fault == "hangs_at_start") SleepForEver();
  if (fault == "odd_at_start") {
    WriteRaw(Encode({{{"type", 5}}, {}}));
    SleepForEver();
  }
  return std::make_unique<FaultInjectionRole>(fault);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "deaf") == 0) evo::SleepForEver();  // before it is told anything
  const auto serve = [] {
    evo::raw_output = ::dup(STDOUT_FILENO);
    return evo::WorkerMain({{"faulty", evo::Make}}, {{"host", "a host of this name"}});
  };
  const bool launched = argc > 1 && std::strcmp(argv[1], evo::kLaunched) == 0;
  constexpr std::chrono::milliseconds kGrace{200};
  if (argc > 3 && std::strcmp(argv[2], evo::kWatchedBy) == 0)
    return evo::RunWatched(argv[3], std::filesystem::temp_directory_path(), "a host of this name", kGrace);
  return launched ? evo::RunKept(serve, kGrace) : serve();
}
