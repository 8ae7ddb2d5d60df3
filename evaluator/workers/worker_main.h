#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/outcome.h"
#include "evaluator/workers/protocol.h"

namespace evo {

// The worker's side of the conversation, as a role sees it.
class WorkerChannel {
 public:
  virtual ~WorkerChannel() = default;
  // Says that a stage begins, so that a death is charged to it. With `wait`, returns when the coordinator says go.
  virtual void Begin(Stage stage, bool wait = false) = 0;
};

// What a worker can be. One job after another, for as long as the process lives. May throw: the worker then dies, and the job
// with it.
class WorkerRole {
 public:
  virtual ~WorkerRole() = default;
  // What is sent with "ready".
  virtual nlohmann::json Describe() { return nlohmann::json::object(); }
  virtual Message Handle(const Message& job, WorkerChannel& channel) = 0;
  // True after a job that this process must not outlive (a sticky device error).
  virtual bool MustRestart() const { return false; }
};

// Makes a role from its init message. Throws Error if it cannot be (no device, no tool chain).
using WorkerRoleFactory = std::function<std::unique_ptr<WorkerRole>(const nlohmann::json& init)>;

// Serves one coordinator on standard input and output until the input ends. Whatever else writes to standard output (a kernel's
// printf) goes to standard error. Returns the exit status.
int WorkerMain(const std::map<std::string, WorkerRoleFactory>& roles);

}  // namespace evo
