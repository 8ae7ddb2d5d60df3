#include "evaluator/workers/breeder_pool.h"

#include <fmt/format.h>

#include <filesystem>
#include <future>
#include <numeric>
#include <thread>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/workers/unconfined.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

// Parsing a new source takes half a second, and each edit of a list a reparse of 50 ms. A parser that needs half a minute hangs.
constexpr std::chrono::milliseconds kBreedDeadline{30'000};
// How often a full disk is tried.
constexpr int kMostAttempts = 10;
constexpr std::chrono::seconds kPause{1};

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
  std::vector<std::size_t> all(requests.size());
  std::iota(all.begin(), all.end(), 0);
  {
    const std::lock_guard lock(mutex_);
    children_.assign(requests.size(), {});
  }
  BreedSome(requests, all, stop);
  // A parser that finds no room for a temporary file ends its process, which says nothing of the child.
  for (int attempts = 0; !stop.stop_requested(); ++attempts) {
    const std::vector<std::size_t> lacked_room = LackedRoom();
    if (lacked_room.empty()) break;
    if (attempts == kMostAttempts) throw DiskFull(std::filesystem::temp_directory_path());
    std::this_thread::sleep_for(kPause);
    BreedSome(requests, lacked_room, stop);
  }
  return std::move(children_);
}

// The children without an answer because there was no room for temporary files.
std::vector<std::size_t> BreederPool::LackedRoom() const {
  std::vector<std::size_t> lacked;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (!children_[i].genome && SaysDiskIsFull(children_[i].failure)) lacked.push_back(i);
  }
  return lacked;
}

void BreederPool::BreedSome(const std::vector<BreedRequest>& requests, const std::vector<std::size_t>& which,
                            const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    missing_ = which.size();
  }
  for (const std::size_t i : which) {
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
}

std::set<std::string> BreederPool::Unconfined(const std::stop_token& stop) { return UnconfinedIn(pool_.WaitReady(stop)); }

std::string BreederPool::KindOf(const std::string& template_name) {
  Job job;
  job.request.header["kind_of"] = template_name;
  job.deadline = kBreedDeadline;
  std::promise<std::string> kind;
  pool_.Submit(std::move(job), [&kind](const JobResult& result) {
    std::string told;
    if (result.reply && result.reply->header.contains("kind")) told = result.reply->header.at("kind").get<std::string>();
    kind.set_value(told);
  });
  return kind.get_future().get();
}

std::string BreederPool::Render(const Genome& genome) {
  BredChild child = std::move(Breed({BreedRequest{{genome}, {}, {}, 0, 0, 0}}, {}).front());
  if (!child.genome) throw Error(fmt::format("template {} cannot be rendered: {}", genome.template_name, child.failure));
  return std::move(child.source);
}

}  // namespace evo
