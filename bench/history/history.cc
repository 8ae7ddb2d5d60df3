// Makes a database as large as those of long searches, and reads a run of it as `evo run --resume` does. bench/history/measure
// calls it and times the commands of evo on what it makes.
//
//   evo-bench-history make FILE RUNS CANDIDATES [PACE]
//     as many runs, each with as many candidates; at most PACE generations a second
//   evo-bench-history resume FILE
//     seconds and peak MiB of reading its latest run, and what that run can reuse
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "bench/history/made_search.h"
#include "cli/resumable_run.h"
#include "core/error.h"
#include "db/sqlite_store.h"
#include "evaluator/scheduling/evaluation_cache.h"
#include "evaluator/scheduling/search_history.h"

namespace evo {
namespace {

constexpr int kChildren = 100;
constexpr int kChampionEvery = 100;  // generations

// `pause`: the least time between two generations.
void Make(const std::string& file, int runs, int candidates, std::chrono::duration<double> pause) {
  SqliteStore store(file);
  auto next = std::chrono::steady_clock::now();
  for (int r = 0; r < runs; ++r) {
    MadeSearch search(static_cast<std::uint64_t>(r) + 1, kChildren);
    const RunId run = store.BeginRun(search.Run());
    for (int made = 0; made < candidates;) {
      std::this_thread::sleep_until(next);
      next = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(pause);
      const GenerationRecord record = search.Next();
      made += static_cast<int>(record.candidates.size());
      store.RecordGeneration(run, record);
      if (record.generation % kChampionEvery == kChampionEvery - 1) {
        const auto [candidate, check] = search.Champion();
        store.RecordChampion(run, candidate, check);
      }
    }
    store.EndRun(run, RunStatus::kFinished, "");
  }
}

// What `evo run --resume` reads: all generations, which it checks, the known evaluations, and each generation whole for the
// engine.
void Resume(const std::string& file) {
  const auto start = std::chrono::steady_clock::now();
  ResumableRun run = LoadResumableRun(file, {});
  SqliteStore store(file);
  const EvaluationCache cache(store.LoadKnown(
      run.record, [](const Damage&) {}, &run.generations.outlines()));
  const std::size_t counterexamples = store.LoadCounterexamples(run.record.task_digest).size();
  std::size_t generations = 0;
  run.generations.Take([&](const GenerationRecord&) { ++generations; });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:.3f} {:.0f} {} {}\n", seconds, static_cast<double>(usage.ru_maxrss) / 1024, generations, counterexamples);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  try {
    if (what == "make" && (argc == 5 || (argc == 6 && std::atoi(argv[5]) > 0))) {
      const std::chrono::duration<double> pause(argc == 6 ? 1.0 / std::atoi(argv[5]) : 0.0);
      evo::Make(argv[2], std::atoi(argv[3]), std::atoi(argv[4]), pause);
    } else if (what == "resume" && argc == 3) {
      evo::Resume(argv[2]);
    } else {
      fmt::print(stderr, "usage: evo-bench-history make FILE RUNS CANDIDATES [PACE] | evo-bench-history resume FILE\n");
      return 2;
    }
  } catch (const evo::Error& error) {
    fmt::print(stderr, "evo-bench-history: {}\n", error.what());
    return 1;
  }
  return 0;
}
