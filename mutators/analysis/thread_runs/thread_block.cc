#include "mutators/analysis/thread_runs/thread_block.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <exception>
#include <utility>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Of the stack of a thread, which holds what stands around the expression that it computes: for Nesting::kMost levels.
// Sanitizers and code that is not optimised need more; clang has no macros that tell of the former.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EVO_HAS_LARGE_FRAMES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(EVO_HAS_LARGE_FRAMES) || !defined(__OPTIMIZE__)
constexpr std::size_t kFiberStackBytes = 1024 * 1024;
#else
constexpr std::size_t kFiberStackBytes = 256 * 1024;
#endif
constexpr std::size_t kFiberLanes = 32;

// Stacks of threads that have ended, for those that begin: mapping one and its first pages costs more than most threads do. Those
// of boost::context::pooled_fixedsize_stack have no page behind them that ends the process when a thread needs more.
class KeptStacks {
 public:
  KeptStacks() = default;
  KeptStacks(const KeptStacks&) = delete;
  KeptStacks& operator=(const KeptStacks&) = delete;
  ~KeptStacks() {
    for (boost::context::stack_context& stack : stacks_) allocator_.deallocate(stack);
  }
  boost::context::stack_context Take() {
    if (stacks_.empty()) return allocator_.allocate();
    const boost::context::stack_context stack = stacks_.back();
    stacks_.pop_back();
    return stack;
  }
  void Give(boost::context::stack_context& stack) {
    if (stacks_.size() < kMost)
      stacks_.push_back(stack);
    else
      allocator_.deallocate(stack);
  }

 private:
  static constexpr std::size_t kMost = 1024;
  boost::context::protected_fixedsize_stack allocator_{kFiberStackBytes};
  std::vector<boost::context::stack_context> stacks_;
};

// What a fiber asks for a stack; a fiber ends where it began, in one thread of the process.
struct KeptStack {
  static KeptStacks& Stacks() {
    thread_local KeptStacks stacks;
    return stacks;
  }
  boost::context::stack_context allocate() { return Stacks().Take(); }
  void deallocate(boost::context::stack_context& stack) noexcept { Stacks().Give(stack); }
};

// The threads of a block, each on a stack of its own.
class BlockFibers : private ThreadMeeting {
 public:
  BlockFibers(ThreadRun& run, std::vector<ThreadSetting> settings)
      : run_(run), settings_(std::move(settings)), traces_(settings_.size()), states_(settings_.size()) {
    exchange_.meeting = this;
    exchange_.stored.resize(settings_.size());
    exchange_.given.resize(settings_.size());
  }

  std::vector<ThreadTrace> Run() {
    for (std::size_t i = 0; i < settings_.size(); ++i) Start(i);
    bool went = true;
    while (went && !refused_) {
      went = false;
      for (std::size_t i = 0; i < states_.size() && !refused_; ++i) {
        if (states_[i].done || states_[i].waits != Waits::kNone) continue;
        went = true;
        Resume(i);
      }
      if (!refused_) Release();
    }
    const bool all_done = AllDone();
    // Who waits still gets no for an answer, and ends.
    over_ = true;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      while (!states_[i].done) Resume(i);
    }
    if (thrown_) std::rethrow_exception(thrown_);
    if (!all_done && !refused_) RefuseAll("its threads do not meet at barriers and shuffles");
    if (races_) RefuseAll("its threads race for an element of shared memory");
    if (refused_) RefuseAll(why_);
    for (ThreadTrace& trace : traces_) trace.race = exchange_.race;
    return std::move(traces_);
  }

 private:
  enum class Waits : std::uint8_t { kNone, kWarp, kBlock };
  struct State {
    boost::context::fiber thread, back;
    Waits waits = Waits::kNone;
    std::uint32_t mask = 0;
    bool done = false;
  };

  void Start(std::size_t i) {
    settings_[i].exchange = &exchange_;
    settings_[i].thread = i;
    states_[i].thread = boost::context::fiber(std::allocator_arg, KeptStack(), [this, i](boost::context::fiber&& back) {
      states_[i].back = std::move(back);
      try {
        traces_[i] = run_.Run(settings_[i]);
      } catch (...) {
        thrown_ = std::current_exception();
      }
      states_[i].done = true;
      return std::move(states_[i].back);
    });
  }

  void Resume(std::size_t i) {
    states_[i].thread = std::move(states_[i].thread).resume();
    if (!states_[i].done || over_ || refused_) return;
    if (traces_[i].refusal.empty() && !thrown_) return;
    refused_ = true;
    why_ = traces_[i].refusal;
  }

  bool Wait(std::size_t i, Waits waits, std::uint32_t mask) {
    if (over_) return false;
    states_[i].waits = waits;
    states_[i].mask = mask;
    states_[i].back = std::move(states_[i].back).resume();
    return !over_;
  }
  bool MeetBlock(std::size_t thread) override { return Wait(thread, Waits::kBlock, 0); }
  bool MeetWarp(std::size_t thread, std::uint32_t mask) override { return Wait(thread, Waits::kWarp, mask); }

  bool AllDone() const {
    return std::all_of(states_.begin(), states_.end(), [](const State& state) { return state.done; });
  }

  // Lets those go on that have met.
  void Release() {
    for (std::size_t first = 0; first < states_.size(); first += kFiberLanes) ReleaseWarp(first);
    const bool all = std::all_of(states_.begin(), states_.end(),
                                 [](const State& state) { return state.done || state.waits == Waits::kBlock; });
    if (!all) return;
    std::vector<std::size_t> threads;
    for (std::size_t i = 0; i < states_.size(); ++i) threads.push_back(i);
    Merge(threads);
    for (State& state : states_) state.waits = Waits::kNone;
  }

  void ReleaseWarp(std::size_t first) {
    const std::size_t end = std::min(first + kFiberLanes, states_.size());
    for (std::size_t i = first; i < end; ++i) {
      if (states_[i].done || states_[i].waits != Waits::kWarp) continue;
      const std::uint32_t mask = states_[i].mask;
      std::vector<std::size_t> lanes;
      bool all = true;
      for (std::size_t lane = first; lane < end; ++lane) {
        if ((mask >> (lane - first) & 1) == 0 || states_[lane].done) continue;
        lanes.push_back(lane);
        all = all && states_[lane].waits == Waits::kWarp && states_[lane].mask == mask;
      }
      if (!all) continue;
      Merge(lanes);
      for (const std::size_t lane : lanes) states_[lane].waits = Waits::kNone;
    }
  }

  // All threads see from now on what these have stored.
  void Merge(const std::vector<std::size_t>& threads) {
    if (!exchange_.shared.Merge(exchange_.stored, threads)) races_ = true;
  }

  void RefuseAll(const std::string& why) {
    std::int64_t misaligned = 0;
    for (const ThreadTrace& trace : traces_) misaligned = std::max(misaligned, trace.misaligned);
    for (ThreadTrace& trace : traces_) trace.refusal = why, trace.misaligned = misaligned;
  }

  ThreadRun& run_;
  std::vector<ThreadSetting> settings_;
  std::vector<ThreadTrace> traces_;
  std::vector<State> states_;
  ThreadExchange exchange_;
  bool over_ = false, refused_ = false, races_ = false;
  std::string why_;
  std::exception_ptr thrown_;
};

}  // namespace

std::vector<ThreadTrace> RunBlock(ThreadRun& run, std::vector<ThreadSetting> threads, std::int64_t most_turns) {
  const bool spent = StepBudget::IsSpent();
  if (spent || run.turns_together() > most_turns) {
    std::vector<ThreadTrace> refused(threads.size());
    for (ThreadTrace& trace : refused)
      trace.refusal = spent ? StepBudget::kSpent : "its threads take too many turns to be run together";
    return refused;
  }
  run.LimitSteps();
  const std::int64_t steps = run.steps();
  std::vector<ThreadTrace> traces = BlockFibers(run, std::move(threads)).Run();
  StepBudget::Spend(run.steps() - steps);
  std::int64_t turns = 0;
  for (const ThreadTrace& trace : traces) turns += trace.turns;
  run.AddTurnsTogether(turns);
  return traces;
}

bool NeedsBlock(const SyntaxTree& tree, int kernel) {
  const auto nodes = Subtree(tree, kernel);
  if (std::any_of(nodes.begin(), nodes.end(), [&](int one) { return tree.node(one).kind_name == "attribute(shared)"; }))
    return true;
  const auto calls = NodesOfKind(tree, "CallExpr");
  return std::any_of(calls.begin(), calls.end(), [&](int call) {
    const int function = tree.node(call).function;
    if (function >= 0 && function != kernel && IsKernel(tree, function)) return false;  // of another kernel
    const std::string_view callee = LibraryCallee(tree, call);
    return callee.starts_with("__sync") || callee.starts_with("__shfl");
  });
}

bool IsTunedBlock(const MutationContext& context, int kernel) {
  return NeedsBlock(context.tree, kernel) && context.kernel_template.text.find("__launch_bounds__") != std::string::npos;
}

bool IsKnownElsewhere(const MutationContext& context, int kernel) {
  if (!NeedsBlock(context.tree, kernel)) return false;
  const std::string& name = context.tree.node(kernel).name;
  const bool edited = std::any_of(context.genome.edits.begin(), context.genome.edits.end(), [&](const Edit& edit) {
    return std::any_of(edit.anchors.begin(), edit.anchors.end(), [&](const Anchor& anchor) { return anchor.function == name; });
  });
  const Parameters defaults = context.kernel_template.space.Defaults();
  return edited || std::any_of(defaults.begin(), defaults.end(), [&](const auto& one) {
           const auto value = context.genome.parameters.find(one.first);
           return value != context.genome.parameters.end() && value->second != one.second;
         });
}

}  // namespace evo
