#pragma once

#include <stop_token>

#include "evaluator/workers/job_runner.h"
#include "evaluator/workers/worker_process.h"

namespace evo {

// A worker may send anything: a field that is missing or of another type than expected reads as empty, or as false.
std::string TextField(const Message& message, const char* key);
bool FlagField(const Message& message, const char* key);
// For a message that the protocol does not allow at this point.
WorkerDeath MalformedReply(const Message& message);

// For {"type":"killed"}: what the worker needed was killed by something else.
WorkerDeath KilledFor(const Message& message);

// Makes the request of a job and sends it to a worker that is ready, or that has another job and takes this one after it. Does
// not wait for the worker.
void SendJob(WorkerProcess& worker, const Job& job);
// Follows the begin markers and deadlines of a job that was sent, once it is the worker's next one, and returns its reply or its
// death.
JobResult FollowJob(WorkerProcess& worker, const Job& job, const std::stop_token& stop);
// Asks a worker that a tool watches, and that has no job, to end. Returns the tool's report, or nothing where there is none at
// the deadline. The process is reaped.
std::string EndForReport(WorkerProcess& worker, SteadyTime deadline, const std::stop_token& stop);

}  // namespace evo
