#include "import/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/error.h"
#include "import/alternating_launches.h"
#include "import/chosen_pointers.h"
#include "import/compiler_spellings.h"
#include "import/device_text.h"
#include "import/draft_builder.h"
#include "import/flat_namespaces.h"
#include "import/inner_sizes.h"
#include "import/local_functors.h"
#include "import/passed_offsets.h"
#include "import/pointer_offsets.h"
#include "import/split_allocations.h"
#include "import/step_kernels.h"
#include "import/unrolled_lists.h"
#include "import/unrolled_recursion.h"

namespace evo {
namespace {

constexpr int kMostSplit = 8;  // allocations of a program

// "line:column: message" of the parser in terms of the user's files.
std::string Located(const ImportRequest& request, const std::string& error) {
  std::size_t line = 0;
  std::from_chars(error.data(), error.data() + error.size(), line);
  const std::size_t column = error.find(':');
  const std::size_t message = column == std::string::npos ? column : error.find(": ", column + 1);
  if (line == 0 || line > request.line_files.size() || message == std::string::npos)
    return fmt::format("{}: {}", request.file, error);
  return fmt::format("{}:{}: {}", request.line_files[line - 1], request.line_numbers[line - 1], error.substr(message + 2));
}

bool IsMissingHeader(const std::string& error) { return error.find("file not found") != std::string::npos; }

// Whether it is an error of the user's text, not of a header of the toolkit.
bool IsOfSource(const std::string& error) {
  return !error.empty() && std::isdigit(static_cast<unsigned char>(error[0])) != 0 && !IsMissingHeader(error);
}

// The first error in the lines of a range; empty if there is none.
std::string ErrorIn(const SourceProgram& program, const SourceRange& range) {
  const int first = program.LineOf(range.begin);
  const int last = program.LineOf(range.end);
  for (const std::string& error : program.tree().errors()) {
    int line = 0;
    std::from_chars(error.data(), error.data() + error.size(), line);
    if (line >= first && line <= last && !IsMissingHeader(error)) return error;
  }
  return "";
}

// Headers that neither the program's folders nor the toolkit have.
std::vector<std::string> MissingHeaders(const SyntaxTree& tree) {
  std::vector<std::string> missing;
  for (const std::string& error : tree.errors()) {
    const std::size_t open = error.find('\'');
    const std::size_t close = open == std::string::npos ? open : error.find('\'', open + 1);
    if (!IsMissingHeader(error) || close == std::string::npos) continue;
    std::string name = error.substr(open + 1, close - open - 1);
    if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(std::move(name));
  }
  return missing;
}

std::string WithHeaders(const std::vector<std::string>& missing, const std::string& message) {
  if (missing.empty()) return message;
  return fmt::format("{} (not found: {}; give its folder with -I)", message, fmt::join(missing, ", "));
}

std::string TemplateText(const ImportRequest& request, const TaskDraft& draft, const DeviceText& device) {
  std::string text =
      fmt::format("// Device code of {}; evo init wrote the evo: lines and left the host's part out.\n", request.file);
  if (!device.heading.empty()) text += device.heading;
  for (const std::string& include : device.includes) text += fmt::format("#include {}\n", include);
  text += '\n';
  for (const DraftParameter& parameter : draft.parameters)
    text += fmt::format("// evo:param {} {}\n", parameter.name, fmt::join(parameter.values, " "));
  for (const std::string& constraint : draft.constraints) text += fmt::format("// evo:constraint {}\n", constraint);
  for (const DraftSize& size : draft.sizes) {
    if (size.macro || size.compiled == size.name) text += fmt::format("// evo:size {}\n", size.name);
    if (!size.compiled.empty() && size.compiled != size.name)
      text += fmt::format("// evo:size {} = {}\n", size.compiled, size.name);
  }
  for (const std::string& workspace : draft.workspaces) text += fmt::format("// evo:workspace {}\n", workspace);
  for (const DraftArgument& argument : draft.arguments) {
    const bool number = !argument.counted.empty() && argument.counted.find_first_not_of("0123456789") == std::string::npos;
    if (number) text += fmt::format("// evo:counted {} {}\n", argument.name, argument.counted);
  }
  for (const std::string& constant : draft.constants) text += fmt::format("// evo:constant {}\n", constant);
  for (const std::string& step : draft.steps) text += fmt::format("// evo:{}\n", step);
  const auto define = [&](const std::string& name, std::int64_t value) {
    text += fmt::format("\n#ifndef {0}\n#define {0} {1}\n#endif\n", name, value);
  };
  for (const DraftParameter& parameter : draft.parameters) define(parameter.name, parameter.value);
  for (const DraftSize& size : draft.sizes) {
    if (size.macro || !size.compiled.empty()) define(size.macro ? size.name : size.compiled, size.value);
  }
  return text + "\n" + device.code;
}

// The template's text, without namespaces if it means the same to the parser.
std::string FlatTemplateText(const std::string& text, SyntaxParser& parser, std::vector<std::string>& notes) {
  auto flat = WithoutNamespaces(text);
  if (!flat || parser.Parse(flat->text).errors().size() > parser.Parse(text).errors().size()) return text;
  if (!flat->namespaces.empty())
    notes.push_back(fmt::format("what stands in namespaces ({}) stands outside of them", fmt::join(flat->namespaces, ", ")));
  return std::move(flat->text);
}

// Launches and an exchange of pointers, where a loop chooses between two pointers in every second iteration.
void TakeTurns(SyntaxTree& tree, SyntaxParser& parser) {
  const auto pairs = WithoutPointerPairs(SourceProgram(tree));
  std::optional<SyntaxTree> without;
  if (pairs) without = parser.Parse(*pairs);
  const SyntaxTree& plain = without ? *without : tree;
  if (const auto chosen = WithChosenLaunches(SourceProgram(plain))) {
    const SyntaxTree written = parser.Parse(*chosen);
    if (const auto exchanges = WithExchanges(SourceProgram(written))) {
      tree = parser.Parse(*exchanges);
      return;
    }
  } else if (without && without->errors().size() <= tree.errors().size() && pairs->find(" == 0 ? ") == std::string::npos) {
    tree = std::move(*without);
  }
  if (const auto exchanges = WithExchanges(SourceProgram(tree))) tree = parser.Parse(*exchanges);
}

void SplitAllocations(SyntaxTree& tree, SyntaxParser& parser) {
  for (int i = 0; i < kMostSplit; ++i) {
    const auto split = WithSplitAllocation(SourceProgram(tree));
    if (!split) return;
    SyntaxTree written = parser.Parse(*split);
    if (written.errors().size() > tree.errors().size()) return;
    tree = std::move(written);
  }
}

ImportReply Make(const ImportRequest& request, SyntaxParser& parser) {
  SyntaxTree tree = parser.Parse(WithKnownSpellings(request.text));
  if (const auto unrolled = WithUnrolledLists(SourceProgram(tree))) {
    SyntaxTree written = parser.Parse(*unrolled);
    if (written.errors().size() <= tree.errors().size()) tree = std::move(written);
  }
  if (const auto levels = request.kernels.size() == 1 ? std::nullopt : WithLevels(SourceProgram(tree))) {
    SyntaxTree written = parser.Parse(*levels);
    if (HasAllLevels(SourceProgram(written))) tree = std::move(written);
  }
  if (const auto moved = WithLocalFunctors(SourceProgram(tree))) {
    SyntaxTree written = parser.Parse(*moved);
    if (written.errors().size() <= tree.errors().size()) tree = std::move(written);
  }
  TakeTurns(tree, parser);
  // They are launched between others, and belong to no kernel alone.
  const auto kernels_of_steps = request.kernels.empty() ? WithStepKernels(SourceProgram(tree)) : std::nullopt;
  if (kernels_of_steps) tree = parser.Parse(*kernels_of_steps);
  if (const auto passed = WithPassedOffsets(SourceProgram(tree))) {
    SyntaxTree written = parser.Parse(*passed);
    if (written.errors().size() <= tree.errors().size()) tree = std::move(written);
  }
  SplitAllocations(tree, parser);
  SourceProgram program(tree);
  program.SetOrigins(request.line_files, request.line_numbers, request.file);
  const std::vector<std::string> missing = MissingHeaders(tree);
  ImportReply reply;
  const auto real_error =
      std::find_if(tree.errors().begin(), tree.errors().end(), [](const std::string& e) { return IsOfSource(e); });
  const bool kernels =
      std::any_of(program.functions().begin(), program.functions().end(), [](const auto& f) { return f.kernel; });
  if (!kernels && real_error != tree.errors().end()) throw UsageError(WithHeaders(missing, Located(request, *real_error)));
  HostCode host(program);
  std::vector<TakenLaunch> launches;
  try {
    std::vector<std::string> notes;
    launches = TakeLaunches(program, host, request.kernels, notes);
    if (SetInnerSizesEqual(host, launches, request.answers, reply.notes)) {
      notes.clear();
      launches = TakeLaunches(program, host, request.kernels, notes);
    }
    reply.notes.insert(reply.notes.end(), notes.begin(), notes.end());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", request.file, error.what()));
  }
  for (const TakenLaunch& one : launches) {
    if (const std::string error = ErrorIn(program, one.kernel->range); !error.empty())
      throw UsageError(WithHeaders(missing, Located(request, error)));
  }
  const std::vector<TakenLoop> loops = TakeLoops(program, host, launches, reply.notes);
  Answers answers(request.answers);
  TaskDraft draft = BuildDraft(program, host, launches, loops, answers);
  DeviceText device = DeviceTextOf(program, draft.kernels, draft.types, draft.moved);
  device.code = WithNullPointers(WithPointerOffsets(std::move(device.code), draft.offsets), draft.nulls);
  if (const auto name = answers.Given("name")) draft.name = *name;
  if (const auto unused = answers.Unused(); !unused.empty()) {
    std::vector<std::string> keys;
    for (const ImportQuestion& question : answers.questions) keys.push_back(question.key);
    throw UsageError(fmt::format("--set {}: nothing of that name; there are {}", unused.front(), fmt::join(keys, ", ")));
  }
  draft.summary = fmt::format("{} of {}", fmt::join(draft.kernels, ", "), request.file);
  draft.questions = answers.questions;
  ChooseCases(draft);
  reply.notes.insert(reply.notes.end(), draft.notes.begin(), draft.notes.end());
  const std::string text = FlatTemplateText(TemplateText(request, draft, device), parser, reply.notes);
  for (const std::string& header : missing) reply.notes.push_back(fmt::format("not found, left out: {}", header));
  draft.notes = reply.notes;
  draft.python = request.python;
  reply.task = draft.name;
  reply.questions = answers.questions;
  reply.files["task.json"] = TaskJson(draft);
  reply.files[draft.baseline + ".cu"] = text;
  if (request.python) reply.files["reference.py"] = ReferenceSkeleton(draft);
  return reply;
}

}  // namespace

ImportReply Import(const ImportRequest& request, SyntaxParser& parser) {
  try {
    return Make(request, parser);
  } catch (const UsageError& error) {
    ImportReply reply;
    reply.failure = error.what();
    return reply;
  }
}

}  // namespace evo
