#include "import/draft_builder.h"

#include <algorithm>

#include "import/device_text.h"
#include "import/draft_parts.h"

namespace evo {

std::string Answers::Ask(const std::string& key, const std::string& guess, const std::string& text, bool unknown) {
  const auto known = std::find_if(questions.begin(), questions.end(), [&](const ImportQuestion& one) { return one.key == key; });
  used_.insert(key);
  const auto given = given_.find(key);
  if (given != given_.end()) return given->second;
  if (known != questions.end()) return known->guess;
  questions.push_back({key, guess, text, unknown});
  return guess;
}

std::optional<std::string> Answers::Given(const std::string& key) {
  used_.insert(key);
  const auto given = given_.find(key);
  return given == given_.end() ? std::nullopt : std::optional(given->second);
}

std::vector<std::string> Answers::Unused() const {
  std::vector<std::string> unused;
  for (const auto& [key, value] : given_) {
    if (!used_.contains(key)) unused.push_back(key);
  }
  return unused;
}

TaskDraft BuildDraft(const SourceProgram& program, HostCode& host, const std::vector<TakenLaunch>& launches,
                     const TakenLoop& loop, Answers& answers) {
  TaskDraft draft;
  for (const TakenLaunch& one : launches) {
    draft.kernels.insert(one.kernel->name);
    draft.loops = draft.loops || one.use.loops;
  }
  draft.name = launches.front().kernel->name;
  draft.baseline = draft.name;
  const DeviceText device = DeviceTextOf(program, draft.kernels, {});
  DraftNames names(program, host, launches, loop, device, answers);
  DraftContext context{program, host, launches, loop, device, answers, names, draft};
  DraftBuffers buffers(context);
  buffers.Read();
  std::vector<HostExpression> allocations;
  for (const DraftBuffer& buffer : buffers.all()) {
    if (buffer.bytes) allocations.push_back(*buffer.bytes);
  }
  names.Decide(allocations, draft);
  LaunchWriter writer(context, buffers);
  std::vector<std::string> lines;
  for (const TakenLaunch& one : launches) lines.push_back(writer.LaunchLine(one));
  ArgumentMaker maker(context, buffers);
  for (const DraftBuffer& buffer : buffers.all()) maker.AddArgument(buffer);
  maker.AddConstants();
  writer.AddSteps(lines);
  if (draft.sizes.empty()) names.AddSize("N", std::nullopt, true, draft);
  return draft;
}

}  // namespace evo
