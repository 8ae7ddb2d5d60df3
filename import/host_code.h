#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/host_calls.h"
#include "import/host_expression.h"
#include "import/host_leaves.h"
#include "import/source_program.h"

namespace evo {

// What the host code says: calls, launches, and what names stand for.
class HostCode {
 public:
  explicit HostCode(const SourceProgram& program);

  const std::vector<HostLaunch>& launches() const { return calls_.launches(); }
  const std::vector<HostCall>& calls() const { return calls_.calls(); }

  // The expression in terms of leaves: variables with one initialiser, parameters with one caller's argument, macros and
  // one-line functions are replaced by what they stand for. `function`: where it stands.
  HostExpression Resolve(const HostExpression& expression, int function);
  HostExpression Resolve(const SourceRange& range, int function);
  // The parts of a grid or block: one to three expressions. Empty if it was not understood.
  std::vector<HostExpression> Dimensions(const SourceRange& range, int function);
  // By label.
  const std::map<std::string, HostLeaf>& leaves() const { return leaves_.all(); }
  Variables Values() const { return leaves_.Values(); }

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
  // The pointer that a field of a struct gets, `p.data`, where the host sets it; else the field itself.
  Pointer OfField(const std::string& variable, const std::string& field, int function) const;
  // Whether a cudaMemcpy reads it.
  bool IsCopiedFrom(const Pointer& pointer) const;
  // Bytes that a cudaMalloc or a similar call asks for this pointer; nullopt if there is none.
  std::optional<HostExpression> BytesOf(const Pointer& pointer);
  // The calls of functions whose name begins so that mention the pointer in their first argument.
  std::vector<const HostCall*> CallsOn(const Pointer& pointer, std::string_view prefix) const;

 private:
  void ReadEqualities();
  std::optional<HostExpression> ResolveName(const std::string& name, int function, int depth);
  std::optional<HostExpression> ResolveCall(const HostExpression& call, int function, int depth);
  std::optional<HostExpression> ResolveComponent(const HostExpression& member, int function);
  std::vector<HostExpression> DimensionsOf(const std::string& name, int& function);
  HostExpression Resolved(const HostExpression& expression, int function, int depth);
  bool HasMembers(const std::string& parameter, int function) const;
  std::optional<HostExpression> Chosen(const HostExpression& part) const;
  std::string IndexOf(const SourceRange& range, int function) const;
  std::optional<SourceRange> FieldInitialiser(const std::string& variable, const std::string& field, int function) const;
  std::optional<std::int64_t> OfDevice(const std::string& variable, int function) const;

  const SourceProgram& program_;
  HostCalls calls_;
  HostLeaves leaves_;
  std::uint32_t before_ = 0;  // variables have the values that they have at this offset; 0: their first
};

}  // namespace evo
