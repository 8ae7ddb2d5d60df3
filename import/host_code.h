#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/host_calls.h"
#include "import/host_expression.h"
#include "import/host_leaves.h"
#include "import/host_loops.h"
#include "import/source_program.h"

namespace evo {

// log2(n), rounded as whole numbers are, or nullopt if it is `real` and not whole. Of a power of two all forms are the same; then
// the names in n are added to those that have to be powers of two in all cases. `values`: of names.
std::optional<HostExpression> RoundedLogarithm(const HostExpression& call, bool real, const Variables& values,
                                               std::set<std::string>& powers_of_two);

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
  std::optional<SourceRange> DefaultOf(const ProgramParameter& parameter) const { return calls_.DefaultOf(parameter); }
  // The loops around launches, and what their variables are in them.
  const std::vector<HostLoop>& loops() const { return loops_; }
  struct LoopMeaning {
    std::string variable;                          // of the condition; empty if it is not understood
    std::optional<HostExpression> count;           // iterations
    bool geometric = false;                        // that variable is multiplied or divided
    bool plain = false;                            // it counts from 0
    std::map<std::string, HostExpression> values;  // of the loop's variables that follow a rule, by label
    std::set<std::string> labels;                  // of all its variables
    std::set<std::string> halved;                  // names in what is halved again and again
    std::set<std::string> doubled_to;              // names in the bound of what is doubled
  };
  // `step`: the name of the iteration's number, which the values depend on.
  LoopMeaning MeaningOf(std::size_t loop, const std::string& step);
  // The calls that lead to a launch from a function that nothing calls, the launch last.
  std::vector<const HostCall*> PathTo(const HostLaunch& launch) const { return calls_.PathTo(launch); }

  // Names that have to be powers of two, such as that in whose logarithm the host trusts.
  const std::set<std::string>& powers_of_two() const { return powers_of_two_; }
  // By label.
  const std::map<std::string, HostLeaf>& leaves() const { return leaves_.all(); }
  Variables Values() const { return leaves_.Values(); }
  // From now on one label stands for the other.
  void SetEqual(const std::string& label, const std::string& other) { leaves_.SetEqual(label, other); }

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
  Pointer OfField(const SourceRange& argument, const std::string& type, const std::string& field, int function,
                  int depth = 0) const;
  // The value of a field, "n" or "inner.n", of a struct that a launch passes; nullopt if nothing is known of it.
  std::optional<HostExpression> FieldValue(const SourceRange& argument, const std::string& type, const std::string& field,
                                           int function);
  // Whether a cudaMemcpy reads it.
  bool IsCopiedFrom(const Pointer& pointer);
  // thrust::device_vector<type> v(values..), of which the pointer is the data.
  struct DeviceVector {
    std::string type;
    std::vector<SourceRange> values;
  };
  std::optional<DeviceVector> VectorOf(const Pointer& pointer) const;
  // Bytes that a cudaMalloc or a similar call asks for this pointer; nullopt if there is none.
  std::optional<HostExpression> BytesOf(const Pointer& pointer, int depth = 0);
  // An expression of a function in terms of what one call of it passes.
  HostExpression InCall(const HostExpression& expression, int callee, const HostCall& call, int depth);
  // The calls of functions whose name begins so that mention the pointer in their first argument.
  std::vector<const HostCall*> CallsOn(const Pointer& pointer, std::string_view prefix) const;

 private:
  HostExpression ValueOfField(const SourceRange& value, const std::string& field, int function, int depth);
  void ReadEqualities();
  std::optional<HostExpression> ResolveName(const std::string& name, int inside, int depth);
  std::optional<HostExpression> ResolveCall(const HostExpression& call, int function, int depth);
  std::optional<HostExpression> ResolveComponent(const HostExpression& member, int function);
  std::vector<HostExpression> DimensionsOf(const std::string& name, int& function);
  HostExpression Resolved(const HostExpression& expression, int function, int depth);
  HostExpression ResolvedAt(const SourceRange& range, int function, int depth);
  HostExpression ResolvedAt(const SourceRange& place, const HostExpression& expression, int function, int depth);
  HostExpression ResolvedFrom(std::uint32_t place, const HostExpression& expression, int function);
  std::optional<HostExpression> StepOf(const std::string& name, int function);
  std::optional<HostExpression> Chosen(const HostExpression& part) const;
  std::optional<HostExpression> SizeOf(const HostExpression& vector, int function, int depth);
  std::optional<HostExpression> FieldDefault(const HostExpression& member, int function, int depth);
  std::optional<HostExpression> BytesByHelper(const Pointer& pointer);
  std::optional<HostExpression> BytesOfVector(const Pointer& pointer);

  const SourceProgram& program_;
  HostCalls calls_;
  HostLeaves leaves_;
  std::vector<HostLoop> loops_, plain_loops_;
  std::vector<HostLoop> separate_;  // TakeSeparate
  std::uint32_t at_ = 0;            // where the expression that is resolved stands; 0: outside of loops
  std::uint32_t before_ = 0;        // variables have the values that they have at this offset; 0: their first
  std::set<std::string> powers_of_two_;
  std::set<std::string> expanding_;  // functions, macros and dim3 variables that are being replaced by what they stand for
  int steps_ = 0;                    // of the expression that is resolved
};

}  // namespace evo
