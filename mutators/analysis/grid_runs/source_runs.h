#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/mutator.h"

namespace evo {

// With what numbers all launches of a source run.
struct LaunchTrial {
  LaunchRuns::Sizes sizes;
  std::map<std::string, double> times;                // of these buffers, elements are random numbers times this
  std::map<std::string, double> elements;             // of these, all elements are this
  bool samples = false;                               // whether of the last launch only some blocks or threads are run
  std::map<std::string, double> reals = {};           // what these arguments of launch lines are
  std::map<std::string, BufferContents> chosen = {};  // of these, also of integers, these elements are these numbers
  std::int64_t spread = 0;  // of the last launch so many elements are enough, of blocks or threads all over it; 0: all
};

// What they did.
struct LaunchedRun {
  std::map<std::string, BufferContents> read;    // of buffers, by what the launch lines call them, what was there at first
  std::map<std::string, BufferContents> stored;  // likewise, also of workspaces
  ThreadTrace knowledge;                         // factors, names and the like of all threads
  std::map<std::string, double> filled;          // what the rest of a buffer is, if an evo:memset says so
  std::map<std::string, std::set<std::int64_t>> integers;  // elements of buffers of integers that decided what it did
  std::map<std::string, std::set<std::int64_t>> updated;   // elements that atomic operations changed
  // Numbers that data was compared with, and whether such data was less, and more.
  std::map<double, std::pair<bool, bool>> compared;
  // After TellSums: of what the elements of buffers are sums, or of what sums they were computed.
  std::map<std::string, std::map<std::int64_t, SumPointer>> sums;
};

// The name of a buffer that is a variable at file scope begins with this: no argument has a blank in its name.
inline constexpr std::string_view kDeviceVariable = "device ";

// Turns of the loops of all threads, in all runs of a source: more take too long.
inline constexpr std::int64_t kMostLaunchedTurns = 3'000'000;

// Runs all launches of a source on numbers, each with all of its threads: what one leaves in buffers the next ones read. A buffer
// has the same elements for all kernels.
class SourceRuns {
 public:
  struct Link {
    const LaunchDirective* launch = nullptr;  // or
    const MemsetDirective* memset = nullptr;
    int kernel = -1;
    std::map<int, std::string> buffers;  // what is passed for parameters that are pointers
    std::map<int, Expression> reals;     // what is passed for real numbers, where the launch line says it
    std::unique_ptr<LaunchRuns> runs;
  };

  // The context must outlive the object.
  explicit SourceRuns(const MutationContext& context);

  // Whether it has some launches that may be run, and that may be an attention. If they only may not be run, why() says it.
  bool Find();
  // Whether it has launches that may be run, whatever they do; else why() says it.
  bool FindLaunches();
  // What buffers are called, in the order by which their random numbers are drawn; from now on it is another one.
  const std::vector<std::string>& buffers() const { return buffers_; }
  void SetBuffers(std::vector<std::string> buffers) { buffers_ = std::move(buffers); }
  // Whether the one launch of this kernel may be run by itself, whatever it computes: workspaces have some elements, too.
  bool FindOnly(const LaunchDirective& launch);
  // Before one of these: runs tell sums, and arrays in constant memory are what `evo:constant` brings there.
  // With `words`, integers of kernels that compute with nothing else are elements, too (ThreadSetting::words).
  void TellSums(bool words = false) { modes_.sums = true, modes_.words = words; }
  // After one of these: the buffer that a declaration is in one of the kernels; empty if it is none.
  std::string BufferOf(int declaration) const;
  const std::vector<Link>& links() const { return links_; }
  // The sizes that the launch lines name, each once.
  const std::vector<std::string>& names() const { return names_; }
  bool IsWorkspace(const std::string& name) const;
  // Whether blocks of a kernel that halves the number of its threads have as many as this size says.
  bool IsHalved(const std::string& size) const;
  // The largest integer that a launch line passes and that is no size.
  std::int64_t LargestArgument() const;
  // All launches. False, with the reason, if what they do is not understood.
  bool Run(const LaunchTrial& trial, LaunchedRun& run);
  // What the elements of a buffer are at first, in such a run.
  std::function<double(std::int64_t)> ElementsOf(const LaunchTrial& trial, const std::string& buffer) const;
  const std::string& why() const { return why_; }
  // Of how many elements, accessed at once, the run that was refused found some that do not begin at a multiple of that; or 0.
  std::int64_t misaligned() const { return refused_.misaligned; }
  // Which buffer of integers decided what the run that was refused computes; empty if none did.
  const std::string& integers() const { return refused_.integers; }
  // Whether other sizes would not help a run that was refused.
  bool is_final() const { return refused_.is_final; }
  // Whether it had too many threads or turns.
  bool is_too_large() const { return refused_.is_too_large; }
  // Of loops and statements, in all runs so far.
  std::int64_t turns() const { return turns_; }

 private:
  // What one launch does. A unit is a thread, or a block whose threads run together.
  struct Accesses;
  bool Refuse(std::string why);
  int NumberOf(const std::string& buffer) const;
  bool FindLaunch(const LaunchDirective& launch);
  void AddConstants(Link& link) const;
  void KeepBytes();
  void AddDeviceVariables(Link& link);
  bool KeepsDeviceVariables(const LaunchedRun& run);
  void FindBuffers();
  bool RunLaunch(Link& link, const LaunchTrial& trial, bool samples, LaunchedRun& run);
  bool RunUnits(Link& link, const LaunchTrial& trial, const LaunchRuns::Setting& setting, bool samples, Accesses& accesses,
                LaunchedRun& run);
  bool RunUnit(Link& link, const LaunchTrial& trial, const LaunchRuns::Setting& setting, std::int64_t unit, Accesses& accesses,
               LaunchedRun& run);
  bool Add(const Link& link, const ThreadTrace& trace, std::int64_t unit, Accesses& accesses, LaunchedRun& run);
  void Give(Link& link, const LaunchTrial& trial, const LaunchRuns::Setting& setting, LaunchedRun& run);
  void AddKnowledge(const ThreadTrace& trace, LaunchedRun& run);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  std::vector<Link> links_;
  std::vector<std::string> names_;
  std::vector<std::string> buffers_;
  std::set<std::string> changed_;  // buffers that may be stored to
  std::int64_t turns_ = 0;
  struct Refused {
    std::int64_t misaligned = 0;
    std::string integers;
    bool is_final = false, is_too_large = false;
  };
  Refused refused_;
  struct Modes {
    bool alone = false, sums = false, words = false;
  };
  Modes modes_;
  std::string why_;
};

}  // namespace evo
