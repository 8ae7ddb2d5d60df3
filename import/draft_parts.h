#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/device_text.h"
#include "import/draft_builder.h"
#include "import/draft_names.h"
#include "import/element_type.h"
#include "import/subscript_extents.h"

namespace evo {

inline constexpr int kFewestSteps = 4;  // of a loop of launches whose length the host does not fix
inline constexpr int kMostSteps = 16;   // of one that has as many steps as the host's numbers say, however many these are

// A buffer that the launches use.
struct DraftBuffer {
  HostCode::Pointer pointer;
  std::string name;
  std::string type;                         // of an element
  ParameterUse use;                         // of all launches together
  bool first_writes = false;                // the first launch writes it and does not read it
  bool first_partial = false;               // it writes it, but perhaps a part only, and may read what it has written
  const ProgramFunction* kernel = nullptr;  // of the struct that has it as a field
  bool stored_first = false;                // the first mention in the first kernel stores an element
  bool constant = false;                    // const in every kernel
  std::optional<HostExpression> bytes;
  std::set<std::string> strides;       // expressions of the host
  std::vector<HostExpression> bounds;  // of subscripts
  std::vector<SubscriptShape> shapes;  // by subscripts
  bool later_read = false;             // by a launch after the one that writes it
  bool none = false;                   // the host passes a null pointer for what would be written
};

// What the parts of a draft are made from. Outlives them.
struct DraftContext {
  const SourceProgram& program;
  HostCode& host;
  const std::vector<TakenLaunch>& launches;
  const std::vector<TakenLoop>& loops;
  const DeviceText& device;
  Answers& answers;
  DraftNames& names;
  TaskDraft& draft;
  std::vector<const HostLaunch*> not_reached;  // with the host's values
};

// The buffers of a draft: which there are, and what the program says of them.
class DraftBuffers {
 public:
  explicit DraftBuffers(DraftContext& context) : c_(context) {}

  // Reads them from the launches.
  void Read();
  const std::vector<DraftBuffer>& all() const { return buffers_; }
  // The name of the buffer that a launch passes at this place.
  const std::string& NameAt(const TakenLaunch& one, std::size_t index) { return BufferOf(one, index).name; }
  // Empty if there is no such buffer.
  std::string NameOf(const HostCode::Pointer& pointer) const;
  // A name that no size, buffer or argument has.
  std::string FreshName(std::string name) const;
  // The name of the one to which a field of a struct points that a launch passes.
  std::string NameOfField(const TakenLaunch& one, std::size_t index, const ProgramParameter& field) const {
    return NameOf(FieldPointer(one, index, field));
  }

  // As in a task, or "workspace".
  std::string Role(const DraftBuffer& buffer) const;
  // The byte to which the host sets a buffer that the kernels add to.
  std::optional<std::int64_t> Memset(const DraftBuffer& buffer) const;
  // How many elements of an output the host looks at, from the first; empty: all.
  std::string Counted(const DraftBuffer& buffer) const;
  // Dimensions in elements of the dtype. `known`: the host's allocation says them.
  std::vector<std::string> Shape(const DraftBuffer& buffer, const ElementType& element, bool& known) const;

 private:
  HostCode::Pointer FieldPointer(const TakenLaunch& one, std::size_t index, const ProgramParameter& field) const;
  void AddField(const TakenLaunch& one, std::size_t index, const ProgramParameter& field);
  DraftBuffer& BufferOf(const TakenLaunch& one, std::size_t index);
  [[noreturn]] void RefuseParts(const std::string& name, const TakenLaunch& one) const;
  void AddOffset(const TakenLaunch& one, std::size_t index, const DraftBuffer& buffer);
  const TakenLoop* SwapsOf(const DraftBuffer& buffer) const;
  std::optional<std::string> PartOf(const DraftBuffer& buffer, const HostExpression& bytes, const ElementType& element) const;
  std::string CountedAfter(const TakenLoop& loop, const DraftBuffer& buffer) const;
  std::string CopiedPart(const DraftBuffer& buffer, const std::vector<const HostCall*>& copies) const;
  std::vector<const HostCall*> CopiesOf(const HostCode::Pointer& pointer) const;
  bool IsUsedElsewhere(const DraftBuffer& buffer) const;
  bool IsScratch(const DraftBuffer& buffer) const;
  bool IsBetween(const DraftBuffer& buffer) const;
  bool IsBetweenBlocks(const DraftBuffer& buffer) const;
  std::vector<std::string> GuessedShape(const DraftBuffer& buffer, const ElementType& element) const;

  DraftContext& c_;
  std::vector<DraftBuffer> buffers_;
};

// Writes the lines after `evo:`, and adds the scalars that launches need.
class LaunchWriter {
 public:
  LaunchWriter(DraftContext& context, DraftBuffers& buffers) : c_(context), buffers_(buffers) {}

  std::string LaunchLine(const TakenLaunch& one);
  void AddSteps(const std::vector<std::string>& lines);

 private:
  std::string ScalarText(const TakenLaunch& one, std::size_t index);
  std::string IntegerText(const std::string& name, const std::optional<HostExpression>& expression, bool guarded);
  std::string RealScalar(const std::string& name, const std::string& dtype, const std::optional<HostExpression>& expression);
  std::string StructText(const TakenLaunch& one, std::size_t index, const std::string& type);
  std::string TemplateText(const TakenLaunch& one) const;
  HostExpression WithSizesOfTypes(const HostExpression& expression, const TakenLaunch& one) const;
  std::string BoundOfAxis(const TakenLaunch& one, char axis) const;
  std::vector<HostExpression> GridOf(const TakenLaunch& one);
  std::string Dimensions(const std::vector<HostExpression>& parts, const std::string& key, const std::string& fallback,
                         const TakenLaunch& one);

  DraftContext& c_;
  DraftBuffers& buffers_;
};

// Makes the task's arguments of the buffers, and those that fill __constant__ variables.
class ArgumentMaker {
 public:
  ArgumentMaker(DraftContext& context, const DraftBuffers& buffers) : c_(context), buffers_(buffers) {}

  void AddArgument(const DraftBuffer& buffer);
  void AddConstants();

 private:
  std::vector<std::string> Generators(const DraftBuffer& buffer, const DraftArgument& argument);
  std::string Terms(const DraftArgument& argument, bool atomic) const;
  std::string LongestShape(bool of_inputs) const;
  std::string Check(const DraftArgument& argument, bool atomic);

  DraftContext& c_;
  const DraftBuffers& buffers_;
};

}  // namespace evo
