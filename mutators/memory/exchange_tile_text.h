#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel_templates/launch_line.h"
#include "mutators/mutator.h"

namespace evo {

// A tile has as many elements each way as a warp has lanes; its threads take it a part at a time. One column more keeps columns
// apart in the banks.
inline constexpr int kTile = 32, kTileRows = 8;

// What the threads of a kernel do for their element.
struct TileWork {
  int kernel = -1;
  const LaunchDirective* launch = nullptr;
  std::vector<int> statements;  // declarations before a guard among them
  int store = -1;               // `out[a] = value`, the last of them
  int target = -1, value = -1;
};

// The two axes of a tile: how a thread's place becomes the indices, and the launch.
struct TileAxes {
  std::string fast, slow;  // indices, as the declarations of a place: `const int x = {};`
  std::string fast_type, slow_type;
  std::string fast_first, slow_first;  // where the block begins
  std::vector<std::string> conditions;
  std::string before;  // lines in front of the two passes
  std::string inside;  // a declaration behind the conditions, and what it must fulfil
  std::string inside_condition;
  std::vector<std::string> grid;
  std::set<int> declared;   // statements that the axes take the place of
  bool loads_fast = false;  // loads go along the fast axis and stores along the slow one, or the other way round
};

// Whether a declaration is in the statements of the work.
bool IsInStatements(const SyntaxTree& tree, const TileWork& work, int declaration);
// The statements that declare what the address of an element, or a part of it, needs; nullopt if these load, or if their
// variables change.
std::optional<std::set<int>> StatementsFor(const SyntaxTree& tree, const TileWork& work, int address);
// The kernel as two passes over a tile in shared memory.
Proposal WrittenTile(const SyntaxTree& tree, const TileWork& work, const TileAxes& axes);

}  // namespace evo
