#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/source_program.h"

namespace evo {

// A call in host code. Arguments are ranges of the text.
struct HostCall {
  std::string name;   // without its qualification
  int function = -1;  // that calls; index into SourceProgram::functions()
  SourceRange range;
  std::vector<SourceRange> arguments;
};

// `kernel<template arguments><<<configuration>>>(arguments)`
struct HostLaunch : HostCall {
  std::vector<SourceRange> template_arguments;
  std::vector<SourceRange> configuration;  // grid, block, shared bytes, stream
  bool cooperative = false;
};

// The calls, launches and assignments of host code. They are read from the tokens, since the tree lacks them where a header is
// missing.
// The key of what is assigned to a variable: that of a member has its class.
inline std::string KeyOf(const ProgramVariable& variable) {
  return variable.record.empty() ? variable.name : variable.record + "::" + variable.name;
}

class HostCalls {
 public:
  // `program` must outlive the object.
  explicit HostCalls(const SourceProgram& program);

  const std::vector<HostLaunch>& launches() const { return launches_; }
  const std::vector<HostCall>& calls() const { return calls_; }
  // What is assigned to the variable in the function, in order: "grid.x" too. To one of the file (function -1): anywhere.
  const std::vector<SourceRange>& AssignedTo(const std::string& variable, int function) const;

  // What a function that gets the struct `variable` of another function assigns to its field; nullptr if there is none.
  const SourceRange* AssignedThrough(const std::string& variable, const std::string& field, int function) const;

  // An argument that a caller passes, or a value that a function assigns, and the function in which it stands.
  struct Passed {
    SourceRange range;
    int function = -1;
  };
  // What a function that gets a variable by reference assigns to it, `choose(n, blocks)`, where the variable's own function only
  // declares it; nullopt if there is none.
  std::optional<Passed> SetByReference(const ProgramVariable& variable) const;
  // What the first caller of the function passes for the parameter; nullopt if there is none.
  std::optional<Passed> PassedFor(const std::string& parameter, int function) const;
  // The first call of the function by another one, or the one for which that warms up; nullptr if there is none.
  const HostCall* CallerOf(int function) const;
  // The calls that lead to a launch from a function that nothing calls, the launch last.
  std::vector<const HostCall*> PathTo(const HostLaunch& launch) const;
  // Whether a function is called more than once.
  bool IsHelper(int function) const;
  // What a parameter is without an argument; nullopt if it has to have one.
  std::optional<SourceRange> DefaultOf(const ProgramParameter& parameter) const;
  // The arguments between the brackets at tokens `open` and `close`.
  std::vector<SourceRange> Split(std::size_t open, std::size_t close) const;

 private:
  void ReadCalls();
  void ReadConstructions();
  void ReadLaunchCalls();
  void ReadAssignments();
  std::size_t ReadLaunch(std::size_t at);
  std::size_t NameOfCall(std::size_t open) const;
  bool IsWarmUpFor(const HostCall& call, const HostCall& later) const;

  const SourceProgram& program_;
  std::vector<HostCall> calls_;
  std::vector<HostLaunch> launches_;
  std::map<std::pair<int, std::string>, std::vector<SourceRange>> assignments_;
};

}  // namespace evo
