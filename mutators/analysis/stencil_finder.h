#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/launch_runs.h"
#include "mutators/analysis/stencil.h"

namespace evo {

// Finds out whether a kernel is a stencil by running its threads. stencil.cc has what its text must be, stencil_finder.cc the
// launches and what follows from them.
class StencilFinder {
 public:
  // How far a neighbour may be away along an axis.
  static constexpr std::int64_t kFurthestNeighbour = 4;
  // `found` has the kernel, its launch line and its statements; `candidates`: variables that may have a role; `counters`: those
  // of the loops that stay. The context must outlive the object.
  StencilFinder(const MutationContext& context, Stencil found, std::vector<int> candidates, std::vector<int> counters);
  // Why the kernel is no stencil, or nothing.
  std::variant<Stencil, std::string> Find();
  // Whether its threads read elements as far away as each other, so that it may be taken for a stencil.
  bool plausible() const { return plausible_; }

 private:
  using Place = std::array<std::int64_t, 3>;
  using Setting = LaunchRuns::Setting;
  // A thread that stores an element.
  struct Thread {
    std::map<int, std::int64_t> values;
    std::int64_t element = 0;
    std::vector<ThreadTrace::Touch> touches;
  };
  // A launch, and the threads of it that were run.
  struct Launch {
    Setting setting;
    std::vector<Thread> threads;
    std::array<std::int64_t, 2> lengths{1, 1};
    Place low{}, end{1, 1, 1};  // of what is read
  };
  // What an expression read, and how far away that was.
  struct Seen {
    const ThreadTrace::Touch* touch = nullptr;
    Place away{};
  };
  // A number of the kernel, and what it is in the two small launches.
  struct Candidate {
    Stencil::Number number;
    std::array<std::int64_t, 2> values;
  };

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  const std::string& NameOf(int declaration) const { return tree_.node(declaration).name; }
  bool IsPlausible();
  bool RunAll(std::size_t number);
  bool AddThread(Launch& launch, std::int64_t thread);
  std::vector<Candidate> CandidatesOf(std::int64_t furthest) const;
  std::optional<Stencil::Number> NumberOf(std::int64_t first, std::int64_t second) const;
  std::int64_t ValueOf(const Stencil::Number& number, const Setting& setting) const;

  Place PlaceOf(const Launch& launch, std::int64_t element) const;
  std::set<int> Neighbouring(bool always) const;
  bool FindLengths();
  bool FindStores();
  bool FindReads();
  bool FindSites();
  bool FindSite(int node);
  std::vector<Seen> SeenAt(int node, bool inner) const;
  std::optional<Stencil::Offset> Fit(int node, const std::vector<Seen>& seen, std::size_t axis) const;
  Place OffsetsIn(const Stencil::Site& site, const ThreadTrace::Touch& touch) const;
  bool Explains(const Launch& launch, const Thread& thread, const ThreadTrace::Touch& touch, const Stencil::Site& site) const;
  bool IsInner(const Launch& launch, const Thread& thread) const;
  bool FindRoles();
  void FindTables();
  std::optional<Stencil::Table> TableOf(int buffer) const;
  bool Agrees(const Launch& launch, const Stencil::Table& table) const;
  std::int64_t ValueIn(const Stencil::Role& role, const Launch& launch, const Thread& thread) const;
  bool RunLarge();
  bool IsDecidedBySizes();

  const MutationContext& context_;
  const SyntaxTree& tree_;
  Stencil found_;
  std::vector<int> candidates_;
  std::vector<int> counters_;
  LaunchRuns runs_;
  std::set<int> written_;
  std::array<Launch, 2> launches_;
  std::vector<std::int64_t> threads_;  // of the first launch, in the order of its Launch::threads
  bool plausible_ = false;
  std::size_t touched_ = 0;  // by both launches
  std::set<int> stored_;     // buffers
  std::int64_t largest_number_ = 0;
  std::set<std::string> names_;  // macros and constants that were used
  std::string why_;
};

}  // namespace evo
