#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/outcome.h"
#include "evaluator/workers/announced_run.h"
#include "evaluator/workers/protocol.h"

namespace evo {

// The worker's side of the conversation, as a role sees it.
class WorkerChannel {
 public:
  virtual ~WorkerChannel() = default;
  // Reports that a stage begins, so that the worker's death is charged to it. With `wait`, returns when the coordinator agrees.
  virtual void Begin(Stage stage, bool wait = false) = 0;
  // The same for a part of the stage, which has a deadline of its own and is named where it ends the worker.
  virtual void BeginPart(Stage stage, const std::string& /*part*/, bool wait = false) { Begin(stage, wait); }
  // Within the stage that was begun last: reports what runs from now on, so that the death is charged to the right program. The
  // stage's deadline starts anew, as with Begin.
  virtual void Announce(const AnnouncedRun&) {}
};

// The work of one kind of worker: one job after another, for as long as the process lives. An exception ends the worker and fails
// the job.
class WorkerRole {
 public:
  virtual ~WorkerRole() = default;
  // Sent with "ready".
  virtual nlohmann::json Describe() { return nlohmann::json::object(); }
  virtual Message Handle(const Message& job, WorkerChannel& channel) = 0;
  // True after a job that this process must not outlive (a sticky device error).
  virtual bool MustRestart() const { return false; }
};

// Makes a role from its init message. Throws Error if that is impossible (no device, no tool chain).
using WorkerRoleFactory = std::function<std::unique_ptr<WorkerRole>(const nlohmann::json& init)>;

// The argument of a worker program that a launcher starts, perhaps on another machine: it then keeps its worker (RunKept), in a
// scratch folder of its own.
inline constexpr const char* kLaunched = "--launched";

// Serves one coordinator on standard input and output until the input ends. Other output to standard output, such as a kernel's
// printf, goes to standard error. Returns the exit status.
// `introduction` is added to the first message of a role.
int WorkerMain(const std::map<std::string, WorkerRoleFactory>& roles,
               const nlohmann::json& introduction = nlohmann::json::object());

}  // namespace evo
