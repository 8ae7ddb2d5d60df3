#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/block_runs/block_numbers.h"
#include "mutators/analysis/block_runs/thread_roles.h"
#include "mutators/analysis/rows/shared_loop.h"

namespace evo {

// What the threads of a group have while a kernel is written down for single threads, and what a single thread has at the same
// place: both run on numbers, several times.
class LoneState {
 public:
  // The tree and the roles outlive the object. `row` is the variable that has the number of the row.
  LoneState(const SyntaxTree& tree, int kernel, const ThreadRoles& roles, std::vector<RowGroup> groups, std::string row);
  bool empty() const { return runs_.empty(); }
  // Whether a block has several rows.
  bool of_warps() const;
  const std::string& row() const { return row_; }
  // Why the runs cannot go on; empty if they can.
  std::string refusal() const;

  // The text of a node for a single thread; nullopt if that does not know what it names.
  std::optional<std::string> Text(int node);
  // Declarations of what a single thread has in the place of shared memory and of variables of the group.
  std::string Declarations() const;

  // Whether all that a node reads is what a single thread has. What it has written before does not count. `why` is filled in if
  // not; without it nothing is read.
  bool ReadsAlike(int node, std::string* why);
  bool IsLike(int node, bool reads);
  bool IsTracked(int variable) const { return tracked_.contains(variable); }

  // From now on a variable, or an element of shared memory, is the same for all threads that are on, and for a single one: a
  // constant expression if `value` is one.
  void SetAlike(int node, int value);
  // The variable is declared without a value.
  void SetUnset(int variable);
  // Each thread has a part of what a loop accumulates now. False if it is not a sum or an extreme.
  bool SetTotals(const SharedLoop& loop, std::string& why);
  // All threads that are on execute a statement together; a variable that does not change is declared.
  bool Run(int statement);
  void Declare(int variable);
  // Gives a single thread, at a statement, what statements of all have computed, as far as it is read from a node on.
  void TakeResults(int statement, int from, std::string& text);

  bool AllOn() const;
  bool FirstOn() const;
  bool Restrict(int condition, bool inverse);
  void Restore();
  // Whether a condition is true for the first thread alone; whether a variable is the number of the row; what the threads have
  // for an expression, if it is the same number for all or the first's and the next ones.
  bool IsOfFirst(int condition);
  bool IsRow(int variable);
  std::optional<double> StartOf(int expression);
  bool IsNumberOfThreads(int expression);

 private:
  struct Value {
    int node = -1;                // the variable, or an element
    std::string name;             // as a single thread's code names it
    bool of_all = false;          // whether it is combined of all turns of a loop
    bool stands_for = false;      // whether its numbers only stand for one that is not known
    std::vector<double> numbers;  // in each run
  };

  std::string KeyOf(int node) const;
  const std::string& CellName(int cell);
  std::string UnusedPlace(const std::string& wanted, int node);
  std::optional<std::vector<double>> BeginOf(int variable) const;
  void SetTotal(int variable, const std::vector<std::vector<double>>& own, std::vector<double> totals);
  bool IsSeen(int variable, int statement) const;
  void TakeResult(int statement, int node, std::string& text);

  const SyntaxTree& tree_;
  int kernel_;
  const ThreadRoles& roles_;
  std::vector<std::unique_ptr<BlockNumbers>> runs_;
  std::string row_;
  std::mt19937 random_{11};
  std::map<std::string, Value> values_;          // by KeyOf()
  std::map<std::string, std::string> declared_;  // names of places, and their types
  std::map<int, std::string> renamed_;           // variables that statements of all declare
  bool worked_ = false;                          // whether statements of all have computed anything since
  std::set<int> tracked_;                        // variables that may differ between threads
};

}  // namespace evo
