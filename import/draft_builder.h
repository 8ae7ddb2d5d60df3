#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/element_type.h"
#include "import/host_code.h"
#include "import/kernel_use.h"
#include "import/task_draft.h"

namespace evo {

// A launch that the task takes over, with what its parts come down to.
struct TakenLaunch {
  const ProgramFunction* kernel = nullptr;
  const HostLaunch* launch = nullptr;  // nullptr: the file launches the kernel nowhere
  KernelUse use;
  std::vector<std::string> type_arguments;  // of the kernel's template, by parameter; empty for one that is a number
  std::vector<std::string> types;           // of the kernel's parameters, with the template's types in place
  std::vector<HostExpression> template_values;
  std::vector<HostExpression> grid;
  std::vector<HostExpression> block;
  std::optional<HostExpression> shared;
  std::map<std::string, HostExpression> values;  // of parameters that are no pointers, by name, and of fields: "a.width"
  std::vector<std::size_t> loops;                // around it, of those that the task takes over, the outermost first
  std::vector<HostExpression> conditions;        // of the host, which hold with its sizes and decide that these launches are made
};

// A loop of the host around launches that must be part of the task.
struct TakenLoop {
  std::size_t loop = 0;                 // of HostCode::loops()
  std::string step;                     // counts the iterations
  std::optional<HostExpression> count;  // how many there are
  bool exact = false;                   // with fewer iterations it would compute something else
  std::vector<std::pair<HostCode::Pointer, HostCode::Pointer>> swaps;
  std::set<std::string> powers;  // names of the host that have to be powers of two
};

// Answers that were given in advance, and the questions that they answer.
class Answers {
 public:
  explicit Answers(const std::map<std::string, std::string>& given) : given_(given) {}
  // The answer to the question, or the guess. The question is recorded.
  std::string Ask(const std::string& key, const std::string& guess, const std::string& text, bool unknown = false);
  // An answer that needs no question.
  std::optional<std::string> Given(const std::string& key);
  // The given keys that nothing asked for.
  std::vector<std::string> Unused() const;
  std::vector<ImportQuestion> questions;

 private:
  const std::map<std::string, std::string>& given_;
  std::set<std::string> used_;
};

// Chooses the launches of the kernels. Throws UsageError if the kernels cannot be chosen.
std::vector<TakenLaunch> TakeLaunches(const SourceProgram& program, HostCode& host, const std::vector<std::string>& kernels,
                                      std::vector<std::string>& notes);
// The loops around the launches that must be part of the task: they swap buffers, or what changes from step to step is passed to
// a kernel. In the launches, what changes is expressed by the steps. Throws UsageError if it changes in a way that is not known.
std::vector<TakenLoop> TakeLoops(const SourceProgram& program, HostCode& host, std::vector<TakenLaunch>& launches,
                                 std::vector<std::string>& notes);

// Makes the draft. Throws UsageError for answers that do not fit.
TaskDraft BuildDraft(const SourceProgram& program, HostCode& host, const std::vector<TakenLaunch>& launches,
                     const std::vector<TakenLoop>& loops, Answers& answers);

}  // namespace evo
