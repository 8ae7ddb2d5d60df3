#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mutators/analysis/launch_runs.h"
#include "mutators/mutator.h"

namespace evo {

// What all launches of a source did with numbers.
struct ChainRun {
  std::map<std::string, BufferContents> read;    // of buffers, by what the launch lines call them
  std::map<std::string, BufferContents> stored;  // likewise, and of workspaces
  ThreadTrace knowledge;                         // factors, limits, names and the like of all threads
};

// Runs all launches of a source on numbers, each with all of its threads: what one leaves in workspaces the next ones read.
class ChainRuns {
 public:
  struct Link {
    const LaunchDirective* launch = nullptr;
    int kernel = -1;
    std::map<int, std::string> buffers;  // what is passed for parameters that are pointers
    std::unique_ptr<LaunchRuns> runs;
  };

  // The context must outlive the object.
  explicit ChainRuns(const MutationContext& context) : context_(context), tree_(context.tree) {}

  // Whether it has some launches that may be run, each of a kernel of its own.
  bool Find();
  const std::vector<Link>& links() const { return links_; }
  // The sizes that the launch lines name, each once.
  const std::vector<std::string>& names() const { return names_; }
  bool IsWorkspace(const std::string& name) const;
  // All launches with these sizes. False, with the reason, if what they do is not understood.
  bool Run(const LaunchRuns::Sizes& sizes, ChainRun& run);
  // From now on all elements of these buffers are these numbers.
  void Fill(const std::map<std::string, double>& buffers);
  const std::string& why() const { return why_; }

 private:
  struct Accesses;
  bool Refuse(std::string why);
  bool Add(const Link& link, const ThreadTrace& trace, std::int64_t unit, Accesses& accesses, ChainRun& run);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  std::vector<Link> links_;
  std::vector<std::string> names_;
  std::string why_;
};

}  // namespace evo
