#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/host_calls.h"
#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {

// What single places of host code say, without what names stand for.

// What the runtime stores in the variable when the host asks for the number of multiprocessors or of blocks on one.
std::optional<std::int64_t> AnswerOfDevice(const SourceProgram& program, const HostCalls& calls, const std::string& variable,
                                           int function);
// What a field of cudaDeviceProp is on a large GPU.
std::optional<std::int64_t> DeviceProperty(std::string_view field);
// The block that cudaOccupancyMaxPotentialBlockSize stores in its second argument.
std::optional<std::int64_t> SuggestedBlock(const SourceProgram& program, const HostCalls& calls, const std::string& variable,
                                           int function);
// Whether a launch of the function has the dim3 as its grid.
bool IsGrid(const SourceProgram& program, const HostCalls& calls, const std::string& name, int function);
// Whether a parameter is a dim3, a struct of the program or the address of one.
bool HasMembers(const SourceProgram& program, const std::string& parameter, int function);
// The values of the list that `sizes[i]` is one of: `int sizes[] = {64, 128}`. Empty if it is none.
std::vector<SourceRange> ListOf(const SourceProgram& program, const HostCalls& calls, const SourceRange& element, int function);
// The values of the list of this name; empty if there is none.
std::vector<SourceRange> ListNamed(const SourceProgram& program, const HostCalls& calls, const std::string& name, int function);
// The values of the list that `for (const auto& p : shapes)` goes through with this variable; empty if there is none.
std::vector<SourceRange> ElementsOfRange(const SourceProgram& program, const HostCalls& calls, const ProgramVariable& variable,
                                         int function);
// get_arg(argc, argv, "--width", 4096) without such an argument.
std::optional<HostExpression> DefaultAmong(const HostExpression& call);

// The number of a name in an enum of the program; nullopt if there is none, or if it is not written as a number.
std::optional<HostExpression> EnumeratorOf(const SourceProgram& program, std::string_view name);

// Whether both sides of `op == Op::kSum`, or of `!=`, are the same name of an enum; nullopt for other expressions.
std::optional<bool> AreSameEnumerator(const SourceProgram& program, const HostExpression& comparison);
// The condition of `if (n % 256 != 0) blocks++;` behind the declaration of the variable; nullopt if there is none.
std::optional<SourceRange> ConditionOfIncrement(const SourceProgram& program, const ProgramVariable& variable);
// Whether the function adds to the variable, `count++` or `count += n`.
bool IsCountedUp(const SourceProgram& program, std::string_view variable, int function);

// What a call of a method, `shape.count()`, comes to in terms of the object's fields and methods, where the method is one
// expression of them.
std::optional<HostExpression> MethodOf(const SourceProgram& program, const HostExpression& call);

// Where fields of structs get their values.
class HostFields {
 public:
  // The arguments must outlive the object.
  HostFields(const SourceProgram& program, const HostCalls& calls) : program_(program), calls_(calls) {}

  // The part path[at..] of a value of the type. `function`: where the value stands, then where the part stands.
  std::optional<SourceRange> PartOf(const SourceRange& value, const std::string& type, const std::vector<std::string>& path,
                                    std::size_t at, int& function, int depth = 0) const;
  // `p.inner.data` by its names.
  std::optional<SourceRange> PartOfVariable(const std::vector<std::string>& names, int& function, int depth = 0) const;

 private:
  std::optional<SourceRange> PartOfResult(std::string_view called, const std::vector<SourceRange>& arguments,
                                          const std::vector<std::string>& path, std::size_t at, int& function, int depth) const;
  std::optional<SourceRange> ElementOf(const SourceRange& value, int function) const;
  std::size_t PlaceOfField(const std::string& type, const std::string& field, std::size_t values) const;

  const SourceProgram& program_;
  const HostCalls& calls_;
};

}  // namespace evo
