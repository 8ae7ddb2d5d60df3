#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "evaluator/workers/worker_pool.h"
#include "platform/installation.h"

namespace evo {

inline constexpr std::chrono::milliseconds kShort{300};          // deadline for a worker that hangs
inline constexpr std::chrono::milliseconds kLongDeadline{5000};  // never reached unless something is wrong

inline WorkerPoolOptions Options(const std::string& fault) {
  WorkerPoolOptions options;
  options.name = "faulty";
  options.argv = {(ProgramDirectory() / "fault_injection_worker").string()};
  options.init = {{"role", "faulty"}, {"fault", fault}};
  options.start_pause = std::chrono::milliseconds(5);
  return options;
}

inline std::future<JobResult> Submitted(WorkerPool& pool, const nlohmann::json& request,
                                        std::chrono::milliseconds deadline = kLongDeadline) {
  auto promise = std::make_shared<std::promise<JobResult>>();
  Job job;
  job.request.header = request;
  job.deadline = deadline;
  pool.Submit(std::move(job), [promise](JobResult result) { promise->set_value(std::move(result)); });
  return promise->get_future();
}

inline JobResult Answer(WorkerPool& pool, const nlohmann::json& request, std::chrono::milliseconds deadline = kLongDeadline) {
  return Submitted(pool, request, deadline).get();
}

inline int Pid(const JobResult& result) { return result.reply ? result.reply->header.at("pid").get<int>() : 0; }

}  // namespace evo
