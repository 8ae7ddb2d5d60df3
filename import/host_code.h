#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/host_expression.h"
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
};

// What an expression of the host comes down to: a name whose value is a constant, or is not known.
struct HostLeaf {
  enum class Origin { kMacro, kFileConstant, kVariable, kParameter, kLoop, kComponent };  // kComponent: x of a dim3
  std::string name;  // that of the program; two of the same name in different functions get different labels
  Origin origin = Origin::kVariable;
  int function = -1;
  std::optional<Number> value;
  std::string place;  // "line 12"
};

// What the host code says: calls, launches, and what names stand for.
class HostCode {
 public:
  explicit HostCode(const SourceProgram& program);

  const std::vector<HostLaunch>& launches() const { return launches_; }
  const std::vector<HostCall>& calls() const { return calls_; }

  // The expression in terms of leaves: variables with one initialiser, parameters with one caller's argument, macros and
  // one-line functions are replaced by what they stand for. `function`: where it stands.
  HostExpression Resolve(const HostExpression& expression, int function);
  HostExpression Resolve(const SourceRange& range, int function);
  // The parts of a grid or block: one to three expressions. Empty if it was not understood.
  std::vector<HostExpression> Dimensions(const SourceRange& range, int function);
  // By label, in the order in which they were met.
  const std::map<std::string, HostLeaf>& leaves() const { return leaves_; }
  Variables Values() const;

  // The variable that a pointer argument comes from, followed through the callers: {function, name}.
  struct Pointer {
    int function = -1;
    std::string name;
    bool offset = false;  // something is added to it on the way
    std::string index;    // `src` of buffers[src], one of an array of pointers
    bool operator==(const Pointer& other) const {
      return function == other.function && name == other.name && index == other.index;
    }
  };
  Pointer Origin(const SourceRange& range, int function) const;
  // Whether a cudaMemcpy reads it.
  bool IsCopiedFrom(const Pointer& pointer) const;
  // Bytes that a cudaMalloc or a similar call asks for this pointer; nullopt if there is none.
  std::optional<HostExpression> BytesOf(const Pointer& pointer);
  // The calls of functions whose name begins so that mention the pointer in their first argument.
  std::vector<const HostCall*> CallsOn(const Pointer& pointer, std::string_view prefix) const;

 private:
  // An argument that a caller passes, and the function in which it stands.
  struct Passed {
    SourceRange range;
    int function = -1;
  };

  void ReadCalls();
  void ReadEqualities();
  void ReadAssignments();
  std::size_t ReadLaunch(std::size_t at);
  std::vector<SourceRange> SplitArguments(std::size_t open, std::size_t close) const;
  std::optional<HostExpression> ResolveName(const std::string& name, int function, int depth);
  std::optional<HostExpression> ResolveCall(const HostExpression& call, int function, int depth);
  std::optional<HostExpression> ResolveComponent(const HostExpression& member, int function);
  std::vector<HostExpression> DimensionsOf(const std::string& name, int& function);
  HostExpression Resolved(const HostExpression& expression, int function, int depth);
  bool HasMembers(const std::string& parameter, int function) const;
  HostExpression Equal(const std::string& label) const;
  std::optional<HostExpression> Chosen(const HostExpression& part) const;
  HostExpression Leaf(const std::string& name, HostLeaf::Origin origin, int function, std::optional<Number> value,
                      const std::string& place);
  const ProgramVariable* FindVariable(const std::string& name, int function) const;
  std::string IndexOf(const SourceRange& range, int function) const;
  std::optional<SourceRange> DefaultOf(const ProgramParameter& parameter) const;
  std::optional<Passed> ArgumentOfCaller(const std::string& parameter, int function) const;

  const SourceProgram& program_;
  std::vector<HostCall> calls_;
  std::vector<HostLaunch> launches_;
  std::map<std::pair<int, std::string>, std::vector<SourceRange>> assignments_;  // "grid.x" too
  std::map<std::string, HostLeaf> leaves_;
  std::map<std::pair<int, std::string>, std::string> labels_;
  std::uint32_t before_ = 0;                  // variables have the values that they have at this offset; 0: their first
  std::map<std::string, std::string> equal_;  // labels of which the host demands that they are equal
};

}  // namespace evo
