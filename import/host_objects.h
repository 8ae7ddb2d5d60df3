#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/host_code.h"

namespace evo {

// Buffers that objects of the host own: classes that allocate in a constructor or a method, structs that a function fills.
class HostObjects {
 public:
  // The arguments must outlive the object.
  HostObjects(const SourceProgram& program, HostCode& host) : program_(program), host_(host) {}

  // Bytes of the buffer of an object, `x` or `x.data`; nullopt if nothing is known of it.
  std::optional<HostExpression> BytesOf(const HostCode::Pointer& pointer);
  // Whether a method that the host calls on the object copies its buffer.
  bool IsCopied(const HostCode::Pointer& pointer) const;

 private:
  const ProgramVariable* ObjectOf(const HostCode::Pointer& pointer) const;
  const HostCall* AllocationIn(const std::string& record, const std::string& field) const;
  const HostCall* MethodCallOn(const ProgramVariable& object, const ProgramFunction& method) const;
  std::optional<HostExpression> OfClass(const ProgramVariable& object, const HostCall& allocation);
  std::optional<HostExpression> OfParameter(const ProgramVariable& object, const ProgramFunction& method, std::size_t place,
                                            int depth);
  bool IsOfLeaves(const HostExpression& expression) const;
  std::optional<HostExpression> OfFunction(const ProgramVariable& object, const std::string& field);

  const SourceProgram& program_;
  HostCode& host_;
};

// What an allocation asks for, as it is written: rows of a pitched one have no padding. nullopt if it has too few arguments.
std::optional<HostExpression> BytesAskedFor(const SourceProgram& program, const HostCall& allocation);
// The bytes of a row, where a pitched allocation stores the distance of rows in the variable; nullptr if there is none.
const HostCall* PitchedRowsOf(const SourceProgram& program, const HostCode& host, const ProgramVariable& variable);

}  // namespace evo
