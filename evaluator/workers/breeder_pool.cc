#include "evaluator/workers/breeder_pool.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/workers/unconfined.h"

namespace evo {
namespace {

// Parsing a new source takes half a second, and each edit of a list a reparse of 50 ms. A parser that needs half a minute hangs.
constexpr std::chrono::milliseconds kBreedDeadline{30'000};

BredChild ToChild(const JobResult& result) {
  BredChild child;
  if (result.death) {
    child.failure = fmt::format("breed worker: {}", result.death->description);
    return child;
  }
  try {
    return result.reply->header.at("child").get<BredChild>();
  } catch (const std::exception& error) {
    child.failure = fmt::format("breed worker: {}", PlainText(error));
    return child;
  }
}

}  // namespace

std::vector<BredChild> BreederPool::Breed(std::vector<BreedRequest> requests, std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    children_.assign(requests.size(), {});
    missing_ = requests.size();
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Job job;
    job.request.header["request"] = requests[i];
    job.deadline = kBreedDeadline;
    pool_.Submit(std::move(job), [this, i](const JobResult& result) {
      const std::lock_guard lock(mutex_);
      children_[i] = ToChild(result);
      --missing_;
      changed_.notify_all();
    });
  }
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return missing_ == 0; })) {
    lock.unlock();
    pool_.Cancel();
    lock.lock();
    changed_.wait(lock, [this] { return missing_ == 0; });
  }
  lock.unlock();
  if (const std::string fatal = pool_.fatal(); !fatal.empty()) throw Error(fatal);
  return std::move(children_);
}

std::set<std::string> BreederPool::Unconfined(const std::stop_token& stop) { return UnconfinedIn(pool_.WaitReady(stop)); }

std::string BreederPool::Render(const Genome& genome) {
  BredChild child = std::move(Breed({BreedRequest{{genome}, {}, {}, 0, 0, 0}}, {}).front());
  if (!child.genome) throw Error(fmt::format("template {} cannot be rendered: {}", genome.template_name, child.failure));
  return std::move(child.source);
}

}  // namespace evo
