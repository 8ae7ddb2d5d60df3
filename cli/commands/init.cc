#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/imported_task.h"
#include "cli/print.h"
#include "cli/table.h"
#include "cli/workers.h"
#include "core/error.h"
#include "core/record_json.h"
#include "evaluator/workers/worker_pool.h"
#include "import/import.h"
#include "import/program_text.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// libclang takes a second or two for a file with many headers.
constexpr std::chrono::milliseconds kDeadline{60'000};

struct InitOptions {
  std::string file;
  std::vector<std::string> kernels;
  std::string out;
  std::vector<std::string> include_folders;
  std::vector<std::string> answers;
  std::string reference = "baseline";
  bool yes = false;
};

ImportRequest Request(const InitOptions& options) {
  std::vector<fs::path> folders(options.include_folders.begin(), options.include_folders.end());
  const ProgramText text = ReadProgramText(options.file, folders);
  ImportRequest request;
  request.file = fs::path(options.file).filename().string();
  request.text = text.text;
  for (const TextOrigin& line : text.lines) {
    request.line_files.push_back(line.file);
    request.line_numbers.push_back(line.line);
  }
  request.kernels = options.kernels;
  request.python = options.reference == "python";
  for (const std::string& answer : options.answers) {
    const std::size_t equals = answer.find('=');
    if (equals == 0 || equals == std::string::npos) throw UsageError(fmt::format("--set {}: KEY=VALUE expected", answer));
    request.answers[answer.substr(0, equals)] = answer.substr(equals + 1);
  }
  if (const auto kernel = request.answers.extract("kernel"); !kernel.empty()) request.kernels = {kernel.mapped()};
  return request;
}

// Reads the program in a worker process, since the parser may crash on it.
ImportReply Asked(WorkerPool& pool, const ImportRequest& request, const std::stop_token& stop) {
  Job job;
  job.request.header["request"] = request;
  job.deadline = kDeadline;
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  const JobResult result = std::move(AskWorkers(pool, std::move(jobs), stop).front());
  if (result.death && SaysDiskIsFull(result.death->description)) throw DiskFull(fs::temp_directory_path());
  if (result.death) throw Error(fmt::format("{}: it could not be read: {}", request.file, result.death->description));
  ImportReply reply = result.reply->header.at("reply").get<ImportReply>();
  if (!reply.failure.empty()) throw UsageError(reply.failure);
  return reply;
}

// Asks what is not known or guessed, one line each; an empty answer takes the guess.
void AskQuestions(std::FILE* out, const ImportReply& reply, ImportRequest& request) {
  Print(out, "{} guesses; Enter takes what is in brackets\n", reply.questions.size());
  for (const ImportQuestion& question : reply.questions) {
    Print(out, "{}{}: {} [{}]: ", question.unknown ? "not known: " : "", question.key, question.text, question.guess);
    std::fflush(out);
    std::string answer;
    if (!std::getline(std::cin, answer)) return;
    if (!answer.empty()) request.answers[question.key] = answer;
  }
}

void Report(const CommandContext& context, const ImportReply& reply, const fs::path& folder, const std::string& problem) {
  std::vector<std::string> names;
  for (const auto& [name, text] : reply.files) names.push_back(name);
  Print(context.out, "wrote {}: {}\n", folder.string(), fmt::format("{}", fmt::join(names, ", ")));
  for (const bool unknown : {true, false}) {
    Table table({unknown ? "not known" : "guess", "taken", "why"});
    bool any = false;
    for (const ImportQuestion& question : reply.questions) {
      if (question.unknown != unknown) continue;
      table.Add({question.key, question.guess, question.text});
      any = true;
    }
    if (!any) continue;
    Print(context.out, "\n");
    table.Print(context.out);
  }
  if (!reply.notes.empty()) Print(context.out, "\n");
  for (const std::string& note : reply.notes) Print(context.out, "{}\n", note);
  if (!problem.empty()) Print(context.out, "\nit does not load yet: {}\n", problem);
  Print(context.out, "\nchange a guess with --set KEY=VALUE or in {}; then: evo check {}\n", (folder / "task.json").string(),
        folder.string());
}

void RunInit(const CommandContext& context, const InitOptions& options) {
  ImportRequest request = Request(options);
  if (!options.out.empty()) RefuseExisting(options.out);
  context.open_scratch_folder();
  WorkerPool pool(UsualPool("import", {{"role", "import"}}, 1));
  ImportReply reply = Asked(pool, request, context.interrupt);
  const fs::path folder = options.out.empty() ? fs::path(reply.task) : fs::path(options.out);
  RefuseExisting(folder);
  if (!options.yes && ::isatty(STDIN_FILENO) != 0 && ::isatty(::fileno(context.out)) != 0) {
    AskQuestions(context.out, reply, request);
    reply = Asked(pool, request, context.interrupt);
  }
  const std::string problem = WriteImportedTask(folder, reply.files);
  Report(context, reply, folder, problem);
}

}  // namespace

void AddInit(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand("init", "Make a task of a .cu file with its host code");
  command->add_option("FILE", options->file, "A CUDA program, as it stands")->required();
  command->add_option("--kernel", options->kernels, "The kernel to take; several, separated by commas, run one after another")
      ->delimiter(',');
  command->add_option("--out", options->out, "The folder to write, which must not exist (default: the kernel's name)");
  command->add_option("-I", options->include_folders, "A folder in which local headers are looked for");
  command->add_option("--set", options->answers, "KEY=VALUE: the answer to a question, such as N=4096 or Y.shape=M,N")
      ->allow_extra_args(false);
  command->add_option("--reference", options->reference, "What is right: the kernel as it stands, or a reference.py to fill in")
      ->check(CLI::IsMember({"baseline", "python"}))
      ->capture_default_str();
  command->add_flag("--yes", options->yes, "Ask nothing and take every guess, also on a terminal");
  command->callback([&context, options] { RunInit(context, *options); });
}

}  // namespace evo
