#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel_templates/npz_file.h"
#include "kernel_templates/task.h"

namespace evo {

// Inputs and right answers that somebody has recorded for a case of a task, as arrays named after its arguments.
struct RecordedFile {
  std::string path;    // for messages
  std::string digest;  // of its bytes
  std::vector<NpzArray> arrays;

  // nullptr if there is none.
  const NpzArray* Find(const std::string& name) const;
};

// The array that holds an input (in, inout), or the right values of an output (out, inout).
std::string InputArray(const Argument& argument);
std::string AnswerArray(const Argument& argument);

// The recorded files of one task's folder, each read once. Methods throw UsageError.
class RecordedFiles {
 public:
  explicit RecordedFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Completes a case with `data`: its sizes follow from the shapes of the arrays, unless it has them, and its digest from the
  // file. The arrays must be those of the task's arguments, with their shapes and with types that can hold their values.
  void Complete(const Task& task, Case& one);

  // By the name of the file.
  const std::map<std::string, std::shared_ptr<const RecordedFile>>& files() const { return files_; }

 private:
  const RecordedFile& Read(const std::string& name);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const RecordedFile>> files_;
};

// The text of task.json with the sizes and the digest of each case with `data`, so that it says all of the case where the file is
// not at hand.
std::string WithRecordedSizes(const std::string& task_json, const Task& task);

}  // namespace evo
