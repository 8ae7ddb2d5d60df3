#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/store.h"
#include "evaluator/messages/requests.h"
#include "evaluator/scheduling/worker_set.h"
#include "evaluator/workers/worker_pool.h"
#include "kernel_templates/task.h"

namespace evo {

// The command that starts a worker.
struct WorkerCommand {
  std::vector<std::string> argv;
  bool launched = false;  // it begins with a launcher (WorkerProcess)
};

// evo-worker from the folder of evo, after the words of a launcher if there are any, such as {"srun", "-n1"}.
WorkerCommand LaunchedBy(std::vector<std::string> launcher);
// The same with the words of EVO_LAUNCHER, if that is set.
WorkerCommand UsualWorker();
// "srun -n1" as words.
std::vector<std::string> SplitWords(const std::string& text);

// Starts the workers of a set by the usual command. Precondition: its numbers of workers are set.
void StartUsually(PipelineOptions& options);
// A pool of workers of the usual command.
WorkerPoolOptions UsualPool(std::string name, nlohmann::json init, int workers);
// The results of these jobs, in order. Throws Interrupted, and Error if the pool's workers cannot work at all.
std::vector<JobResult> AskWorkers(WorkerPool& pool, std::vector<Job> jobs, const std::stop_token& stop);

// Says of each layer of the confinement that the workers lack that it is not there, in a line each.
void PrintUnconfined(std::FILE* out, const std::set<std::string>& layers);

// Says where right answers come from, unless it is reference.cu, and how long one takes, if that was measured.
void PrintReference(std::FILE* out, const Task& task, const std::optional<ReferenceCost>& cost = std::nullopt);

// Refuses a search that could check no candidate, because its reference is too slow. Throws UsageError.
void RequireFastReference(const Task& task, const ReferenceCost& cost, const std::optional<std::chrono::seconds>& time_limit);

// A pool of breed workers for these templates.
WorkerPoolOptions BreedWorkers(const std::vector<TemplateText>& templates, int workers);

}  // namespace evo
