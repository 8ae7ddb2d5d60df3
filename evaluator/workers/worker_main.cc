#include "evaluator/workers/worker_main.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "core/json_error.h"
#include "core/record_json.h"
#include "platform/command.h"

namespace evo {
namespace {

// Messages to and from the coordinator, over two descriptors that no other code in the process knows.
class Frames {
 public:
  Frames() : in_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(null, STDIN_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::close(null);
  }

  std::optional<Message> Read() {
    std::array<char, 1 << 16> bytes;
    for (;;) {
      if (auto message = decoder_.Next()) return message;
      const ssize_t n = ::read(in_, bytes.data(), bytes.size());
      if (n == 0 || (n < 0 && errno != EINTR)) return std::nullopt;
      if (n > 0) decoder_.Feed({bytes.data(), static_cast<std::size_t>(n)});
    }
  }

  void Write(const Message& message) {
    const std::string bytes = Encode(message);
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::write(out_, bytes.data() + sent, bytes.size() - sent);
      if (n < 0 && errno != EINTR) ::_exit(1);  // the coordinator has gone
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
  }

 private:
  int in_;
  int out_;
  Decoder decoder_;
};

// A coordinator may send the next job before the present one is done.
class FrameChannel : public WorkerChannel {
 public:
  explicit FrameChannel(Frames& frames) : frames_(frames) {}
  // nullopt when the coordinator has gone.
  std::optional<Message> NextJob() {
    if (jobs_.empty()) return frames_.Read();
    Message first = std::move(jobs_.front());
    jobs_.pop_front();
    return first;
  }
  void Begin(Stage stage, bool wait) override { BeginPart(stage, "", wait); }
  void BeginPart(Stage stage, const std::string& part, bool wait) override {
    stage_ = stage;
    Message marker;
    marker.header = {{"type", "begin"}, {"stage", ToString(stage)}, {"wait", wait}};
    if (!part.empty()) marker.header["run"] = AnnouncedRun{.part = part};
    frames_.Write(marker);
    while (wait) {
      auto message = frames_.Read();
      if (!message) ::_exit(0);
      if (message->header.value("type", "") == "go") return;
      jobs_.push_back(std::move(*message));
    }
  }
  void Announce(const AnnouncedRun& run) override {
    Message marker;
    marker.header = {{"type", "begin"}, {"stage", ToString(stage_)}, {"run", run}};
    frames_.Write(marker);
  }

 private:
  Frames& frames_;
  std::deque<Message> jobs_;  // that came while the present one waited
  Stage stage_ = Stage::kPrepare;
};

Message Typed(const char* type, Message message = {}) {
  message.header["type"] = type;
  return message;
}

void Serve(Frames& frames, WorkerRole& role) {
  FrameChannel channel(frames);
  while (auto job = channel.NextJob()) {
    if (job->header.value("type", "") == "end") return;
    Message reply;
    try {
      reply = Typed("reply", role.Handle(*job, channel));
    } catch (const CommandKilled& killed) {
      frames.Write(Typed("killed", {{{"message", killed.what()}}, {}}));
      continue;
    }
    reply.header["last"] = role.MustRestart();
    frames.Write(reply);
    // A broken device can hang in its destructors, and nothing needs them here.
    if (role.MustRestart()) ::_exit(0);
  }
}

}  // namespace

int WorkerMain(const std::map<std::string, WorkerRoleFactory>& roles, const nlohmann::json& introduction) {
  Frames frames;
  // With where it runs, which on a cluster is what the reader wants to know.
  const auto failed = [&](const std::string& why) {
    return Typed("failed", {{{"message", why}, {"host", introduction.value("host", "")}}, {}});
  };
  try {
    const auto init = frames.Read();
    if (!init) return 0;
    const auto factory = roles.find(init->header.value("role", ""));
    if (factory == roles.end()) {
      frames.Write(failed("evo-worker is of another version: it does not know its role"));
      return 1;
    }
    std::unique_ptr<WorkerRole> role;
    try {
      role = factory->second(init->header);
    } catch (const CommandKilled& killed) {
      frames.Write(Typed("killed", {{{"message", killed.what()}}, {}}));
      return 1;
    } catch (const std::exception& error) {
      frames.Write(failed(PlainText(error)));
      return 1;
    }
    Message ready{role->Describe(), {}};
    ready.header.update(introduction);
    frames.Write(Typed("ready", std::move(ready)));
    Serve(frames, *role);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", PlainText(error).c_str());
    return 1;
  }
}

}  // namespace evo
