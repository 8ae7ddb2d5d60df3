#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/reference/reference.h"
#include "evaluator/workers/protocol.h"
#include "platform/piped_process.h"

namespace evo {

// The longest that an interpreter may take to read the task's Python file, with the modules that it imports, and for one answer.
struct PythonDeadlines {
  std::chrono::milliseconds start{40'000};
  std::chrono::milliseconds answer{20'000};
};

// What a worker is told in its init message to start the interpreter of a task with a Python reference: the file, its text, and
// what its function takes and returns. Precondition: the task's reference is kPython.
nlohmann::json PythonInit(const Task& task, const PythonDeadlines& deadlines = {});

// A function in Python, in a process of its own that lives as long as this (python/evo_reference.py). It starts before any
// candidate is seen, because a confined worker can start no process; it gets the program text then, and afterwards only numbers.
// It has the user's rights: the task is the user's own.
class PythonReference : public Reference {
 public:
  // Starts the interpreter: `$EVO_PYTHON`, or python3 on the PATH. It may use half of the machine's memory, or the init's
  // "memory_bytes". Throws Error if there is none, or if it cannot use the file:
  // one line with the file and the line in it.
  explicit PythonReference(const nlohmann::json& init);

  std::optional<Failure> Compute(Device& device, const Task& task, const Case& sizes, const std::vector<Place>& places) override;
  std::optional<Failure> Derive(const Task& task, const Case& sizes, std::vector<std::vector<std::byte>>& contents) override;
  double Milliseconds() const override;

 private:
  // The answer to `request`, or the Failure that it tells.
  std::variant<Message, Failure> Answer(const Message& request, std::uint64_t most_bytes);
  // A message that answers `request`. Throws Error where none comes.
  Message Ask(const Message& request, std::chrono::milliseconds most, std::uint64_t most_bytes);
  void Note(std::size_t bytes, double ms);

  std::string file_;
  std::string interpreter_;
  std::chrono::milliseconds answer_;
  PipedProcess process_;
  Decoder decoder_;
  bool ended_ = false;
  std::size_t least_bytes_ = SIZE_MAX;  // of the inputs that took times_
  std::vector<double> times_;           // milliseconds, the latest
};

}  // namespace evo
