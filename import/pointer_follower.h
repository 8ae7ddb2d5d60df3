#pragma once

#include <set>
#include <string>

#include "import/kernel_use.h"

namespace evo {

// Follows a pointer that a kernel gets through its variables, structs and device functions to what is done with its elements.
// The uses that it returns say whether elements are read and written, and whether only at edges and by atomic functions.
class PointerFollower {
 public:
  // The arguments must outlive the object.
  PointerFollower(const SourceProgram& program, const ProgramFunction& kernel)
      : program_(program), tree_(program.tree()), kernel_(kernel) {}

  // Of the pointer that is declared there.
  ParameterUse Of(int declaration);
  // Of a pointer in the struct that is declared there.
  ParameterUse OfField(int declaration, const std::string& field);

 private:
  const SyntaxNode& Node(int index) const { return tree_.node(index); }
  bool IsFirst(int node) const { return Node(Node(node).parent).children.front() == node; }
  void Begin();
  ParameterUse End();
  void FollowStruct(int declaration, const std::string& field, int depth);
  void CallMethod(int call, const std::string& method, const std::string& field, int depth);
  void Follow(int declaration, int depth);
  void Climb(int at, int depth, bool element);
  void Alias(int left, int depth);
  void Read(bool element);
  void Write(int at, bool also_read);
  bool IsBehindReturnsAtEdges(int at) const;
  void Call(int call, int argument, int depth, bool element);

  const SourceProgram& program_;
  const SyntaxTree& tree_;
  const ProgramFunction& kernel_;
  ParameterUse use_;
  std::set<int> seen_;  // declarations
  int writes_ = 0;
  int conditional_writes_ = 0;
};

}  // namespace evo
