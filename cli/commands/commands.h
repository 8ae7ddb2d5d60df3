#pragma once

#include <CLI/App.hpp>
#include <array>

#include "cli/command_context.h"

namespace evo {

// Every command adds itself to the program, and runs as a callback of the parser. A new command is a file in this folder, a line
// here, a line in kCommands and a line in cli/CMakeLists.txt.

// `evo init FILE.cu`: makes a task folder of a CUDA program, with a list of what it guessed.
void AddInit(CLI::App& app, CommandContext& context);
// `evo run`: evolves the kernels of a task. After an interrupted run context.exit_code is 130.
void AddRun(CLI::App& app, CommandContext& context);
// `evo best`: the fastest kernel that was shown right; with --export, as a self-contained .cu.
void AddBest(CLI::App& app, CommandContext& context);
// `evo verify [ID]`: all checks of a champion candidate on a stored candidate; stores the verdict.
void AddVerify(CLI::App& app, CommandContext& context);
// `evo check DIR`: whether a task is ready for a search. context.exit_code is 3 if something fails.
void AddCheck(CLI::App& app, CommandContext& context);
// `evo history`: what happened generation by generation and operator by operator; --runs lists the runs, --timing sums the
// clocks of the stages.
void AddHistory(CLI::App& app, CommandContext& context);
// `evo show ID`: everything known of one candidate.
void AddShow(CLI::App& app, CommandContext& context);
// `evo diff [A] [B]`: the rendered sources of two candidates as a unified diff; without B, against the template of A at its
// defaults; without both, of the best candidate.
void AddDiff(CLI::App& app, CommandContext& context);
// `evo lineage ID`: the way from a template to a candidate, edit by edit.
void AddLineage(CLI::App& app, CommandContext& context);
// `evo export --csv|--json`: every candidate of a run, for other programs.
void AddExport(CLI::App& app, CommandContext& context);
// `evo db merge|check|vacuum`: one database of several, whether one is whole, and smaller. context.exit_code is 1 if one is not.
void AddDb(CLI::App& app, CommandContext& context);
#ifdef EVO_HAS_PAGE
// `evo report`: what a run did, as a page in one file, as Markdown or as charts.
void AddReport(CLI::App& app, CommandContext& context);
// `evo serve`: the same page while the run goes on, on an address of this machine.
void AddServe(CLI::App& app, CommandContext& context);
#endif
// `evo study`: searches a landscape of parameters that was measured point by point, and says how soon the best point was found.
// Needs no device.
void AddStudy(CLI::App& app, CommandContext& context);
// `evo tasks`: the tasks that evo finds, with their templates and cases.
void AddTasks(CLI::App& app, CommandContext& context);
// `evo mutators`: every mutator with what it does; with a database, the reward of each there, in all runs or in one.
void AddMutators(CLI::App& app, CommandContext& context);
// `evo doctor`: what evo found on this machine, what is missing and how to get it. context.exit_code is 1 if evo cannot work
// without what is missing.
void AddDoctor(CLI::App& app, CommandContext& context);

// `evo completion bash|zsh`: a script for a shell; `evo manual`: manual pages. Both are made from the descriptions of --help.
void AddCompletion(CLI::App& app, CommandContext& context);

// In the order of `evo --help`.
inline constexpr std::array kCommands = {AddInit,   AddCheck, AddRun,     AddBest,     AddVerify, AddHistory,
                                         AddShow,   AddDiff,  AddLineage, AddExport,
#ifdef EVO_HAS_PAGE
                                         AddReport, AddServe,
#endif
                                         AddDb,     AddStudy, AddTasks,   AddMutators, AddDoctor, AddCompletion};

}  // namespace evo
