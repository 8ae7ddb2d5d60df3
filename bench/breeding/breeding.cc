// How long it takes to make a child, for each operator and template, given a parent that has been parsed; how long to parse a new
// parent; and, apart from that, crossover and the forms that minimisation asks for, which have to find each edit in the text that
// the ones before it left.
//
//   ninja -C build/release evo-bench-breeding && build/release/bin/evo-bench-breeding [TASK ..]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json_error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "mutators/breeding/breeding_station.h"
#include "mutators/genetic/crossover.h"
#include "platform/installation.h"

namespace evo {
namespace {

namespace fs = std::filesystem;
using Times = std::vector<double>;  // ms

constexpr int kChildren = 12;  // of each operator and parent
constexpr int kEdits = 3;      // of the parents, as champions have them
constexpr int kTexts = 8;      // parsed anew

// CPU time of the process: libclang parses in a thread of its own, and what else the machine does is not to count.
double CpuMilliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
double Milliseconds(Work work) {
  const double start = CpuMilliseconds();
  work();
  return CpuMilliseconds() - start;
}

double Quantile(Times times, double part) {
  if (times.empty()) return std::nan("");
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
}
double Median(const Times& times) { return Quantile(times, 0.5); }
double Mean(const Times& times) {
  return times.empty() ? std::nan("") : std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}
void Append(Times& to, const Times& from) { to.insert(to.end(), from.begin(), from.end()); }

struct Operator {
  Times children;
  Times inapplicable;
};

struct Measured {
  double first_parse = 0;
  Times parses;  // of texts with other parameters
  std::map<std::string, Operator> operators;
  Times forms;  // of minimisation
};

// A genome with a few source edits, each on what the one before it left.
Genome Edited(BreedingStation& station, const MutatorSet& mutators, Genome genome, std::uint64_t seed) {
  std::vector<std::pair<std::string, double>> edits;
  for (const auto& mutator : mutators.all()) {
    if (mutator->reads_source() && !mutator->mostly_wrong()) edits.emplace_back(mutator->name(), mutator->weight());
  }
  for (int i = 0; i < kEdits; ++i) {
    const BredChild child = station.Breed({{genome}, {}, edits, seed, 1, static_cast<std::uint64_t>(i)});
    if (child.genome) genome = *child.genome;
  }
  return genome;
}

Measured Measure(const KernelTemplate& kernel_template, const SyntaxPaths& paths) {
  Measured measured;
  GenomeRenderer renderer(paths);
  const Genome start{kernel_template.name, kernel_template.digest, kernel_template.space.Defaults(), {}};
  measured.first_parse = Milliseconds([&] { renderer.TreeOf(RenderParameters(kernel_template.text, start.parameters)); });
  Rng rng(1);
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = RenderParameters(kernel_template.text, kernel_template.space.Draw(rng).value_or(start.parameters)) +
                             fmt::format("// {}\n", i);
    measured.parses.push_back(Milliseconds([&] { renderer.TreeOf(text); }));
  }
  BreedingStation station({kernel_template}, paths);
  const MutatorSet mutators;
  const Genome parent = Edited(station, mutators, start, 7);
  const Genome other = Edited(station, mutators, start, 8);
  const std::string source = station.Breed({{parent}, {}, {}, 0, 0, 0}).source;
  for (const auto& mutator : mutators.all()) {
    const std::string name(mutator->name());
    for (std::uint64_t i = 0; i < kChildren; ++i) {
      const BreedRequest request{{parent, other}, {source}, {{name, 1.0}}, i, 2, i};
      BredChild child;
      const double ms = Milliseconds([&] { child = station.Breed(request); });
      Operator& op = measured.operators[name];
      // The first call parses the parent.
      if (i == 0 && &mutator == &mutators.all().front()) continue;
      (child.genome ? op.children : op.inapplicable).push_back(ms);
    }
  }
  for (std::size_t without = 0; without < parent.edits.size(); ++without) {
    Genome less = parent;
    less.edits.erase(less.edits.begin() + static_cast<std::ptrdiff_t>(without));
    measured.forms.push_back(Milliseconds([&] { station.Breed({{less}, {}, {}, 0, 0, 0}); }));
  }
  return measured;
}

std::string Number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value); }

void PrintTemplate(const std::string& name, const Measured& measured, const MutatorSet& mutators) {
  Times parameters, edits, checked, inapplicable;
  for (const auto& mutator : mutators.all()) {
    const Operator& op = measured.operators.at(std::string(mutator->name()));
    Append(inapplicable, op.inapplicable);
    if (mutator->name() == kCrossover) continue;
    Append(!mutator->reads_source() ? parameters : mutator->mostly_wrong() ? checked : edits, op.children);
  }
  const Times& crossover = measured.operators.at(std::string(kCrossover)).children;
  fmt::print("| {} | {} | {} | {} | {} / {} | {} | {} | {} | {} |\n", name, Number(measured.first_parse),
             Number(Median(measured.parses)), Number(Mean(parameters)), Number(Mean(edits)), Number(Quantile(edits, 0.99)),
             Number(Mean(inapplicable)), Number(Mean(checked)), Number(Mean(crossover)), Number(Mean(measured.forms)));
  std::fflush(stdout);
}

void PrintOperators(const std::map<std::string, Operator>& operators) {
  fmt::print(
      "\n| operator | children | ms: mean | median | slowest | a draw that does not apply, ms |\n| --- | --- | --- | --- | --- | "
      "--- |\n");
  for (const auto& [name, op] : operators) {
    fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", name, op.children.size(), Number(Mean(op.children)),
               Number(Median(op.children)), Number(Quantile(op.children, 1)), Number(Mean(op.inapplicable)));
  }
}

int Main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  const auto cuda = CudaRoot();
  if (!cuda) throw Error("no CUDA toolkit; set CUDA_HOME");
  const SyntaxPaths paths{*cuda, ShareDirectory() / "clang", ShareDirectory() / "syntax"};
  const MutatorSet mutators;
  std::map<std::string, Operator> all;
  fmt::print("ms of CPU time, of parents with {} edits, parsed before\n\n", kEdits);
  fmt::print(
      "| template | first parse | parse | parameter child | edit child: mean / 99% | draw that does not apply | child of an "
      "operator that is mostly wrong | crossover | "
      "minimised form |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const fs::path& folder : FindTasks({ShareDirectory() / "kernel_templates"})) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), folder.filename().string()) == wanted.end()) continue;
    for (const KernelTemplate& one : LoadTemplates(folder)) {
      const Measured measured = Measure(one, paths);
      PrintTemplate(folder.filename().string() + "/" + one.name, measured, mutators);
      for (const auto& [name, op] : measured.operators) {
        Append(all[name].children, op.children);
        Append(all[name].inapplicable, op.inapplicable);
      }
    }
  }
  PrintOperators(all);
  return 0;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  try {
    return evo::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", evo::PlainText(error));
    return 1;
  }
}
