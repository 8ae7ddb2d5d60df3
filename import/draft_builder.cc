#include "import/draft_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/device_text.h"
#include "import/draft_parts.h"
#include "import/launch_reach.h"
#include "import/loop_counts.h"
#include "import/step_kernels.h"

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

// How often a loop of launches runs: the host's number where it has to be that, else few.
std::string Repeat(DraftContext& context, const TakenLoop& loop) {
  const std::string host = loop.count ? loop.count->Text() : "nothing that is understood";
  std::string guess = std::to_string(kFewestSteps);
  if (loop.exact) {
    guess = context.names.Text(*loop.count);
  } else if (loop.count) {
    const HostExpression counted = context.names.InSizes(*loop.count, context.draft);
    const auto names = counted.Names();
    const auto is_known = [&](const auto& name) {
      return context.names.IsSize(name) ||
             std::any_of(context.loops.begin(), context.loops.end(), [&](const TakenLoop& one) { return one.step == name; });
    };
    const auto number = ValueOf(counted, {});
    if (number && number->AsReal() < kFewestSteps) guess = counted.Text();
    if (!names.empty() && std::all_of(names.begin(), names.end(), is_known))
      guess = fmt::format("min({}, {})", counted.Text(), kMostSteps);
  }
  const std::string key = context.loops.size() == 1 ? "repeat" : "repeat." + loop.step;
  return context.answers.Ask(key, guess, fmt::format("how often the loop over {} runs; the host says {}", loop.step, host),
                             !loop.count);
}

// The iterations of the loops around a launch; what depends on an outer step is taken for as much as at most.
std::string StepsAround(const DraftContext& context, const TakenLaunch& one) {
  std::string steps;
  for (const std::size_t loop : one.loops) {
    const HostExpression count = ParseHostExpression(SpelledTokens(context.draft.repeats[loop]));
    const HostExpression named = context.names.InSizes(count, context.draft);
    const auto names = named.Names();
    const bool of_sizes = std::all_of(names.begin(), names.end(), [&](const auto& name) { return context.names.IsSize(name); });
    steps += (steps.empty() ? "" : " * ") + (of_sizes ? fmt::format("({})", named.Text()) : std::to_string(kFewestSteps));
  }
  return steps;
}

// What a loop that multiplies or divides goes over: that many terms may come together, however they are added up.
std::string SpanOf(const DraftContext& context, const TakenLoop& loop) {
  if (!loop.exact || !loop.count) return "";
  // ceil_log(n, 2), also with a number added to it.
  const HostExpression& count = loop.count->kind == HostExpression::Kind::kBinary ? loop.count->parts[0] : *loop.count;
  const bool added = &count == &*loop.count || loop.count->parts[1].kind == HostExpression::Kind::kNumber;
  if (!added || count.kind != HostExpression::Kind::kCall || !count.Is("ceil_log")) return "";
  const HostExpression span = context.names.InSizes(count.parts[0], context.draft);
  const auto names = span.Names();
  const bool of_sizes = std::all_of(names.begin(), names.end(), [&](const auto& name) { return context.names.IsSize(name); });
  return of_sizes ? fmt::format("({})", span.Text()) : "";
}

// With every step as 0.
HostExpression AtFirstStep(const DraftContext& context, const HostExpression& expression) {
  return Simplified(Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    const bool step =
        std::any_of(context.loops.begin(), context.loops.end(), [&](const TakenLoop& loop) { return loop.step == part.text; });
    return part.kind == HostExpression::Kind::kName && step ? std::optional(HostExpression::Integer(0)) : std::nullopt;
  }));
}

void AddConditions(DraftContext& context, const TakenLaunch& one) {
  for (const HostExpression& condition : one.conditions) {
    const auto names = context.names.InSizes(condition, context.draft).Names();
    const bool of_sizes = std::all_of(names.begin(), names.end(), [&](const auto& name) { return context.names.IsSize(name); });
    if (!names.empty() && of_sizes && condition.IsKnown()) context.draft.conditions.push_back(context.names.Text(condition));
  }
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
    const std::string steps = StepsAround(context, one);
    const auto repeated = [&](const HostExpression& expression) {
      std::string text = context.names.InSizes(AtFirstStep(context, expression), draft).Text();
      return steps.empty() ? text : fmt::format("{} * ({})", steps, text);
    };
    if (work.IsKnown() && barriers > 0) draft.barriers += (draft.barriers.empty() ? "" : " + ") + repeated(waits);
    if (work.IsKnown()) total += (total.empty() ? "" : " + ") + repeated(work);
    known = known && counts.terms.has_value();
    if (!counts.terms) continue;
    const HostExpression named = context.names.InSizes(AtFirstStep(context, *counts.terms), draft);
    const auto unknown = named.Names();
    if (!std::all_of(unknown.begin(), unknown.end(), [&](const auto& name) { return context.names.IsSize(name); })) {
      known = false;
      continue;
    }
    std::string terms = named.Text();
    if (terms == "1" && one.loops.empty()) continue;
    // Each step adds its errors to those of the steps before it.
    for (const std::size_t loop : one.loops) {
      const std::string span = SpanOf(context, context.loops[loop]);
      if (context.loops[loop].exact && !counts.adds) continue;
      terms = span.empty() ? fmt::format("({}) * ({})", draft.repeats[loop], terms) : span;
    }
    terms = context.names.InSizes(ParseHostExpression(SpelledTokens(terms)), draft).Text();
    draft.terms += (draft.terms.empty() ? "" : " + ") + terms;
  }
  if (known && draft.terms.empty()) draft.terms = "1";
  if (!total.empty()) draft.work = total;
}

}  // namespace

TaskDraft BuildDraft(const SourceProgram& program, HostCode& host, const std::vector<TakenLaunch>& launches,
                     const std::vector<TakenLoop>& loops, Answers& answers) {
  TaskDraft draft;
  for (const TakenLaunch& one : launches) {
    draft.kernels.insert(one.kernel->name);
    draft.types.insert(one.type_arguments.begin(), one.type_arguments.end());
    draft.loops = draft.loops || one.use.loops;
  }
  const auto own =
      std::find_if(launches.begin(), launches.end(), [](const auto& one) { return !IsStepKernel(one.kernel->name); });
  draft.name = (own == launches.end() ? launches.front() : *own).kernel->name;
  draft.baseline = draft.name;
  const DeviceText device = DeviceTextOf(program, draft.kernels, draft.types, {});
  DraftNames names(program, host, launches, loops, device, answers);
  DraftContext context{program, host, launches, loops, device, answers, names, draft, {}};
  LaunchReach reach(program, host);
  for (const HostLaunch& launch : host.launches()) {
    if (!reach.IsReached(launch)) context.not_reached.push_back(&launch);
  }
  DraftBuffers buffers(context);
  buffers.Read();
  DraftNames::Allocations allocations;
  for (const DraftBuffer& buffer : buffers.all()) {
    if (!buffer.bytes) continue;
    allocations.all.push_back(*buffer.bytes);
    if (buffers.Role(buffer) != "workspace") allocations.of_arguments.push_back(*buffer.bytes);
  }
  // In which buffer the result is, is no choice.
  for (const TakenLoop& loop : loops) {
    if (!loop.swaps.empty() && loop.exact) allocations.of_arguments.push_back(*loop.count);
  }
  names.Decide(allocations, draft);
  for (const TakenLaunch& one : launches) AddConditions(context, one);
  LaunchWriter writer(context, buffers);
  std::vector<std::string> lines;
  for (const TakenLaunch& one : launches) lines.push_back(writer.LaunchLine(one));
  for (const TakenLoop& loop : loops) draft.repeats.push_back(Repeat(context, loop));
  CountLoops(context);
  ArgumentMaker maker(context, buffers);
  for (const DraftBuffer& buffer : buffers.all()) maker.AddArgument(buffer);
  maker.AddConstants();
  writer.AddSteps(lines);
  if (draft.sizes.empty()) names.AddSize("N", std::nullopt, true, draft);
  return draft;
}

}  // namespace evo
