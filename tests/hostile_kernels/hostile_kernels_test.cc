// Kernels that attack the machine. Each gets an outcome, reaches nothing, and the honest kernel after it passes.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"
#include "platform/command.h"
#include "platform/installation.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

// What the kernels try to reach: a folder with files that must stay as they are, and two sockets to which nobody may connect.
class Witnesses {
 public:
  Witnesses() {
    std::string name = (fs::temp_directory_path() / "evo-hostile-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(name);
    folder_ = name;
    for (const auto& [file, text] : kFiles) WriteFile(folder_ / file, text);
    fs::permissions(folder_ / "secret", fs::perms::owner_read | fs::perms::owner_write);
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    (folder_ / "socket").string().copy(path.sun_path, sizeof path.sun_path - 1);
    sockets_.push_back(Listen(AF_UNIX, reinterpret_cast<sockaddr*>(&path), sizeof path));
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockets_.push_back(Listen(AF_INET, reinterpret_cast<sockaddr*>(&any), sizeof any));
    socklen_t bytes = sizeof any;
    ::getsockname(sockets_.back(), reinterpret_cast<sockaddr*>(&any), &bytes);
    port_ = ntohs(any.sin_port);
  }
  ~Witnesses() {
    for (const int socket : sockets_) ::close(socket);
    fs::remove_all(folder_);
  }
  Witnesses(const Witnesses&) = delete;
  Witnesses& operator=(const Witnesses&) = delete;

  // A kernel's source with the places of the witnesses.
  std::string Aimed(std::string source) const {
    const std::map<std::string, std::string> places = {{"@FOLDER@", folder_.string()}, {"@PORT@", std::to_string(port_)}};
    for (const auto& [mark, place] : places) {
      for (std::size_t at; (at = source.find(mark)) != std::string::npos;) source.replace(at, mark.size(), place);
    }
    return source;
  }

  void ExpectUntouched() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename().string());
    EXPECT_EQ(names, (std::set<std::string>{"run.db", "secret", "socket", "witness"}));
    for (const auto& [file, text] : kFiles) EXPECT_EQ(ReadFile(folder_ / file), text) << file;
    EXPECT_EQ(fs::status(folder_ / "secret").permissions(), fs::perms::owner_read | fs::perms::owner_write);
    for (const int socket : sockets_) {
      pollfd waiting{socket, POLLIN, 0};
      EXPECT_EQ(::poll(&waiting, 1, 0), 0) << "somebody connected to a socket";
    }
  }

 private:
  static inline const std::map<std::string, std::string> kFiles = {
      {"witness", "untouched\n"}, {"secret", "root: nobody may read this\n"}, {"run.db", "rows of a run\n"}};

  static int Listen(int family, const sockaddr* address, socklen_t bytes) {
    const int made = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(made, address, bytes), 0);
    EXPECT_EQ(::listen(made, 8), 0);
    return made;
  }

  fs::path folder_;
  std::vector<int> sockets_;
  int port_ = 0;
};

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(EVO_HOSTILE_KERNELS)) names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Evaluates kernels with the workers of one program.
class HostileKernels : public ::testing::TestWithParam<std::string> {
 protected:
  struct Evaluator {
    Task task = LoadTask(Folder());
    std::string honest = LoadTemplate(Folder() / "honest.cu").text;
    std::unique_ptr<WorkerSet> workers;
    std::unique_ptr<Pipeline> pipeline;
    int asked = 0;
  };

  static fs::path Folder() { return ShareDirectory() / "adversarial_kernels" / "tasks" / "reverse_sum"; }
  static void SetUpTestSuite() { witnesses_ = std::make_unique<Witnesses>(); }
  static void TearDownTestSuite() {
    evaluators_.clear();
    // What was left behind would act a second later.
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    witnesses_->ExpectUntouched();
    witnesses_.reset();
  }

  static Evaluator& Use(const std::string& program) {
    std::unique_ptr<Evaluator>& slot = evaluators_[program];
    if (slot) return *slot;
    auto made = std::make_unique<Evaluator>();
    PipelineOptions options;
    options.worker_argv = {(ProgramDirectory() / program).string()};
    options.compile_workers = 1;
    options.run_deadline = std::chrono::milliseconds(2000);
    options.baseline_source = made->honest;
    made->workers = std::make_unique<WorkerSet>(options, made->task);
    made->pipeline = std::make_unique<Pipeline>(*made->workers);
    slot = std::move(made);
    return *slot;
  }

  // The evaluation of the kernel. If it ran, the honest kernel after it is right; nothing was touched.
  static Evaluation Evaluate(const std::string& program, const std::string& name) {
    Evaluator& with = Use(program);
    const std::string source = witnesses_->Aimed(ReadFile(fs::path(EVO_HOSTILE_KERNELS) / (name + ".cu")));
    EXPECT_THAT(source, ::testing::StartsWith("// Hostile: "));
    const Evaluation evaluation = EvaluateText(with, source);
    if (evaluation.outcome != Outcome::kUnsupported && evaluation.outcome != Outcome::kCompileError) {
      const Evaluation honest = EvaluateText(with, with.honest + "// after " + name + "\n");
      EXPECT_EQ(honest.outcome, Outcome::kOk) << "the honest kernel after it: " << honest.message;
    }
    witnesses_->ExpectUntouched();
    fmt::print("{:<30} {:<16} {}\n", name, ToString(evaluation.outcome), evaluation.message);
    EXPECT_THAT(evaluation.message, Not(HasSubstr("root:")));
    return evaluation;
  }

  static Evaluation EvaluateText(Evaluator& with, const std::string& source) {
    Candidate candidate;
    candidate.id = static_cast<CandidateId>(++with.asked);
    candidate.source = source;
    with.pipeline->Start({candidate});
    return with.pipeline->Finish({}, [](const Candidate&, const Evaluation&) {}).front();
  }

  static inline std::map<std::string, std::unique_ptr<Evaluator>> evaluators_;
  static inline std::unique_ptr<Witnesses> witnesses_;
};

TEST_P(HostileKernels, AreRefused) {
  const Evaluation evaluation = Evaluate("../bin/evo-worker", GetParam());
  // The rules cannot know of these; the limits of the process end them.
  const std::map<std::string, std::vector<Outcome>> run = {
      {"calls_into_a_constant", {Outcome::kCrash, Outcome::kCheating, Outcome::kCompileError}},
      {"makes_memory_executable", {Outcome::kCompileError, Outcome::kUnsupported}},
      {"prints_without_end", {Outcome::kTimeout, Outcome::kCrash}},
  };
  const auto own = run.find(GetParam());
  const std::vector<Outcome> by_rules = {Outcome::kUnsupported, Outcome::kCompileError};
  EXPECT_THAT(own == run.end() ? by_rules : own->second, ::testing::Contains(evaluation.outcome)) << evaluation.message;
  EXPECT_FALSE(evaluation.message.empty());
}

TEST_P(HostileKernels, ReachNothingWhereNoRuleHolds) {
  // Not attacks on the machine; the rules alone hold these back.
  if (GetParam() == "optimises_itself") GTEST_SKIP();
  if (const auto& missing = Use("lawless_worker").workers->unconfined(); !missing.empty())
    GTEST_SKIP() << "this machine cannot confine a process: " << *missing.begin();
  const Evaluation evaluation = Evaluate("lawless_worker", GetParam());
  EXPECT_THAT(evaluation.message, Not(HasSubstr("__trap")));
  // What only asks is refused and then computes what it should. What would act is ended.
  const std::set<std::string> refused = {
      "includes_the_accounts", "maps_executable_memory",      "opens_a_library",   "reads_a_secret",  "reads_its_environment",
      "reads_the_accounts",    "signals_evo_by_a_descriptor", "calls_by_assembly", "opens_many_files"};
  // The device notices threads.
  const std::set<std::string> noticed = {"starts_a_thread"};
  const std::set<std::string> limited = {"takes_all_memory", "prints_without_end"};
  if (refused.contains(GetParam())) {
    EXPECT_THAT(evaluation.outcome, ::testing::AnyOf(Outcome::kOk, Outcome::kCompileError, Outcome::kUnsupported));
  } else if (limited.contains(GetParam())) {
    EXPECT_THAT(evaluation.outcome, ::testing::AnyOf(Outcome::kCrash, Outcome::kTimeout));
  } else if (noticed.contains(GetParam())) {
    EXPECT_THAT(evaluation.outcome, ::testing::AnyOf(Outcome::kCrash, Outcome::kCheating));
  } else {
    EXPECT_EQ(evaluation.outcome, Outcome::kCrash);
    EXPECT_THAT(evaluation.message, HasSubstr("Bad system call"));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, HostileKernels, ::testing::ValuesIn(KernelNames()), [](const auto& name) { return name.param; });

}  // namespace
}  // namespace evo
