#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {

// A variable, or a local array, that a loop sums up or takes the largest or smallest of, and does nothing else with.
struct Accumulation {
  int declaration = -1;
  std::string combine;     // "+", or the function: "fmaxf"
  std::string length;      // of an array, as spelled; empty for a scalar
  bool from_zero = false;  // of a scalar sum: it is zero when the loop begins
};

// A loop whose iterations may be shared out among threads that all know the same: what it leaves behind are accumulations and
// stores to elements that the counter picks.
struct SharedLoop {
  CountedLoop counted;
  std::vector<Accumulation> accumulations;
  bool stores = false;
};

// A kernel in which every thread does a row by itself, and nothing but its own row: `row = blockIdx.x * BLOCK + threadIdx.x`.
// If all threads of a warp or block do the same row, sharing its loops, results stay the same but for the order of sums.
struct RowKernel {
  ThreadIndex index;
  std::vector<SharedLoop> loops;      // in source order, none within another; at least one
  std::vector<int> stores;            // statements outside of them that store to memory: for one thread
  bool reads_what_it_stores = false;  // through a kernel parameter
};

// A kernel is there twice if there are two ways of picking the loops.
std::vector<RowKernel> RowKernels(const MutationContext& context);

// How the threads of a row call themselves, and how many they are.
struct RowThreads {
  std::string name;
  std::string count;
};
// The changes that share a loop out, but for what puts the accumulations together. Threads beyond the first begin sums
// at zero.
std::vector<Proposal::Change> ShareLoop(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads);
// Leaves a store to the first thread.
Proposal::Change StoreOnce(const SyntaxTree& tree, int store, const RowThreads& threads);
// `a = a + b` in the accumulation's way, as a statement.
std::string Combined(const std::string& combine, const std::string& a, const std::string& b);

}  // namespace evo
