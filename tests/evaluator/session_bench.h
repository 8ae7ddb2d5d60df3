#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/messages/requests.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/twice_task.h"

namespace evo {

// Remembers the stages that were begun, and tells the test of each.
class RecordingChannel : public WorkerChannel {
 public:
  void Begin(Stage stage, bool wait) override {
    stages.push_back(stage);
    waited.push_back(wait);
    begun(stage);
  }
  void BeginPart(Stage stage, const std::string& part, bool wait) override {
    parts.emplace_back(stage, part);
    Begin(stage, wait);
  }
  std::function<void(Stage)> begun = [](Stage) {};
  std::vector<std::pair<Stage, std::string>> parts;  // those that are named
  std::vector<Stage> stages;
  std::vector<bool> waited;
};

inline AttachedProgram TwiceProgram(const std::string& image, const std::string& comment = "") {
  return {comment + kTwiceSource, {image, "", {{"k", "k"}}, {}}};
}

// The setup of a session about kTwiceTask, with the image "reference".
inline SetupRequest TwiceSetup(const std::string& task = kTwiceTask) {
  return {task, kTwiceSource, "twice", {11, 12, 13, 14}, "hot", {}, TwiceProgram("reference")};
}

// kTwiceTask with bounds so wide that a copy of the input passes.
inline std::string LaxTwiceTask() {
  std::string task = kTwiceTask;
  const std::string strict = R"({"l2": 1e-6, "max": 1e-5})";
  return task.replace(task.find(strict), strict.size(), R"({"l2": 0.9, "max": 100})");
}

// kTwiceTask for vectors of 100 elements only, since the kernels of the fake device do not know the sizes.
inline std::string FixedTwiceTask() {
  std::string task = kTwiceTask;
  const std::string before = R"("cases": {)";
  return task.insert(task.find(before), R"("domain": [{"of": "N", "from": 100, "to": 100, "reason": "a fixed kernel"}], )");
}

// The parts of a session about kTwiceTask on a device that a test may change before it asks for them.
class SessionParts {
 public:
  explicit SessionParts(std::string_view kind) : device(kind) {
    device.kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
    device.kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  }

  SessionContext Context(const std::string& task = kTwiceTask) {
    const Task parsed = ParseTask(task, kTwiceSource, "twice");
    cache.Use(parsed, kTwiceSource, TwiceProgram("reference").program);
    inputs.emplace(device, cache, parsed, TwiceSetup().seeds);
    legal.emplace(device, cache, parsed, baseline);
    timer.emplace(device, *inputs, L2State::kHot, machine, [this] { return jobs_wait; });
    return {device, *inputs, *legal, *timer, [this] { return jobs_wait; }};
  }

  FakeDevice device;
  MachineState machine;
  bool jobs_wait = true;
  InputCache cache{device};
  std::optional<InputPool> inputs;
  AttachedProgram baseline;  // without an image: no inputs but the task's own
  std::optional<LegalInputs> legal;
  std::optional<CaseTimer> timer;
};

}  // namespace evo
