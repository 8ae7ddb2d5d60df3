#include "import/draft_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/device_text.h"
#include "import/draft_parts.h"
#include "import/loop_counts.h"

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

namespace {

// How often the loop of launches runs: the host's number where sizes give it, else few.
std::string Repeat(DraftContext& context) {
  if (!context.loop.taken) return "";
  const HostExpression counted = context.names.InSizes(ParseHostExpression(SpelledTokens(context.loop.count)), context.draft);
  const auto names = counted.Names();
  const bool of_sizes =
      !names.empty() && std::all_of(names.begin(), names.end(), [&](const auto& name) { return context.names.IsSize(name); });
  return context.answers.Ask(
      "repeat", of_sizes ? counted.Text() : std::to_string(kFewestSteps),
      fmt::format("how often the loop over {} runs; the host says {}", context.loop.step, context.loop.count));
}

// What one element costs and how many terms it has, of the launch that has most of them.
void CountLoops(DraftContext& context) {
  TaskDraft& draft = context.draft;
  std::string total;
  draft.terms.clear();
  bool known = true;
  for (const TakenLaunch& one : context.launches) {
    const LoopCounts counts = LoopCountsOf(context.program, context.host, one);
    const HostExpression threads = HostExpression::Binary("*", Product(one.grid), Product(one.block));
    const HostExpression work = Simplified(HostExpression::Binary("*", threads, counts.trips));
    // A barrier costs a thread of the cpu device about as much as seven loop bodies.
    const auto tokens = context.program.Tokens(one.kernel->body);
    const auto barriers = std::count_if(tokens.begin(), tokens.end(), [](auto t) { return t == "__syncthreads" || t == "sync"; });
    const HostExpression waits = Simplified(HostExpression::Binary("*", threads, HostExpression::Integer(7 * barriers)));
    if (work.IsKnown() && barriers > 0)
      draft.barriers += (draft.barriers.empty() ? "" : " + ") + context.names.InSizes(waits, draft).Text();
    if (work.IsKnown()) total += (total.empty() ? "" : " + ") + context.names.InSizes(work, draft).Text();
    known = known && counts.terms.has_value();
    if (!counts.terms) continue;
    const HostExpression named = context.names.InSizes(*counts.terms, draft);
    const auto unknown = named.Names();
    if (!std::all_of(unknown.begin(), unknown.end(), [&](const auto& name) { return context.names.IsSize(name); })) {
      known = false;
      continue;
    }
    const std::string terms = named.Text();
    if (terms == "1") continue;
    draft.terms += (draft.terms.empty() ? "" : " + ") + terms;
  }
  if (known && draft.terms.empty()) draft.terms = "1";
  // Each step adds its errors to those of the steps before it.
  if (context.loop.taken && !draft.terms.empty()) {
    const auto parse = [](const std::string& text) { return ParseHostExpression(SpelledTokens(text)); };
    draft.terms = Simplified(HostExpression::Binary("*", parse(draft.repeat), parse(draft.terms))).Text();
  }
  const auto repeated = [&](const std::string& text) {
    return context.loop.taken ? fmt::format("{} * ({})", kFewestSteps, text) : text;
  };
  if (!total.empty()) draft.work = repeated(total);
  if (!draft.barriers.empty()) draft.barriers = repeated(draft.barriers);
}

}  // namespace

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
  std::vector<HostExpression> allocations, kept;
  for (const DraftBuffer& buffer : buffers.all()) {
    if (!buffer.bytes) continue;
    allocations.push_back(*buffer.bytes);
    if (buffers.Role(buffer) != "workspace") kept.push_back(*buffer.bytes);
  }
  names.Decide(allocations, kept, draft);
  LaunchWriter writer(context, buffers);
  std::vector<std::string> lines;
  for (const TakenLaunch& one : launches) lines.push_back(writer.LaunchLine(one));
  draft.repeat = Repeat(context);
  CountLoops(context);
  ArgumentMaker maker(context, buffers);
  for (const DraftBuffer& buffer : buffers.all()) maker.AddArgument(buffer);
  maker.AddConstants();
  writer.AddSteps(lines);
  if (draft.sizes.empty()) names.AddSize("N", std::nullopt, true, draft);
  return draft;
}

}  // namespace evo
