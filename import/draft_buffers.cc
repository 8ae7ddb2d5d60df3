#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "import/device_text.h"
#include "import/draft_parts.h"
#include "import/pointer_offsets.h"
#include "import/subscript_extents.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Pointer = HostCode::Pointer;

// Of a further launch.
void AddUse(DraftBuffer& buffer, const ParameterUse& use) {
  buffer.later_read = buffer.later_read || (buffer.use.written && use.read && !use.written);
  buffer.use.read |= use.read;
  buffer.use.written |= use.written;
  buffer.use.atomic |= use.atomic;
  buffer.use.partial |= use.partial;
  buffer.use.nonnegative |= use.nonnegative;
}

// `name[..] = ..` before anything else is done with it but `name += ..`, perhaps by way of `float* other = name + ..`.
bool IsStoredFirst(const std::vector<std::string_view>& tokens, std::string_view name) {
  auto at = std::find(tokens.begin(), tokens.end(), name);
  if (const auto place = at - tokens.begin(); at != tokens.end() && place > 2 && *(at - 1) == "=" && *(at - 3) == "*") {
    const std::string_view other = *(at - 2);
    const std::vector<std::string_view> behind(std::find(at, tokens.end(), ";"), tokens.end());
    return other != name && std::find(behind.begin(), behind.end(), name) == behind.end() && IsStoredFirst(behind, other);
  }
  while (at != tokens.end() && at + 1 != tokens.end() && *(at + 1) == "+=") {
    const auto end = std::find(at, tokens.end(), ";");
    if (std::find(at + 1, end, name) != end) return false;
    at = std::find(end, tokens.end(), name);
  }
  if (at == tokens.end() || ++at == tokens.end() || *at != "[") return false;
  int depth = 0;
  for (; at != tokens.end(); ++at) {
    depth += (*at == "[") - (*at == "]");
    if (depth == 0) break;
  }
  if (at == tokens.end() || ++at == tokens.end() || *at != "=") return false;
  const auto end = std::find(at, tokens.end(), ";");
  return std::find(at, end, name) == end;
}

// Whether all launches of a kernel pass a null pointer at a place where it only reads, such as for a mask that the host leaves
// out. The kernel asks whether there is one.
bool IsAlwaysNull(const DraftContext& c, const TakenLaunch& one, std::size_t index) {
  const std::string& name = one.kernel->parameters[index].name;
  return !one.use.parameters.at(name).written && std::all_of(c.launches.begin(), c.launches.end(), [&](const TakenLaunch& other) {
    return other.kernel != one.kernel || (other.launch != nullptr && index < other.launch->arguments.size() &&
                                          IsNullWord(c.host.Origin(other.launch->arguments[index], other.launch->function).name));
  });
}

}  // namespace

std::string DraftBuffers::FreshName(std::string name) const {
  const auto taken = [&](const std::string& one) {
    return std::any_of(buffers_.begin(), buffers_.end(), [&](const DraftBuffer& buffer) { return buffer.name == one; }) ||
           std::any_of(c_.draft.arguments.begin(), c_.draft.arguments.end(),
                       [&](const auto& argument) { return argument.name == one; }) ||
           c_.names.IsSize(one) ||
           std::any_of(c_.loops.begin(), c_.loops.end(), [&](const TakenLoop& loop) { return loop.step == one; });
  };
  if (name.empty()) name = "unnamed";  // `const float* /*unused*/`
  while (taken(name)) name += "_";
  return name;
}

DraftBuffer& DraftBuffers::BufferOf(const TakenLaunch& one, std::size_t index) {
  Pointer pointer{-2, one.kernel->parameters[index].name, false};
  if (one.launch != nullptr && index < one.launch->arguments.size()) {
    const Pointer origin = c_.host.Origin(one.launch->arguments[index], one.launch->function);
    if (!origin.name.empty()) pointer = origin;
  }
  const bool null = IsNullWord(pointer.name) && IsAlwaysNull(c_, one, index);
  if (null) pointer = {-2, one.kernel->parameters[index].name, false};
  const auto found =
      std::find_if(buffers_.begin(), buffers_.end(), [&](const DraftBuffer& buffer) { return buffer.pointer == pointer; });
  if (found != buffers_.end()) return *found;
  DraftBuffer buffer;
  buffer.pointer = pointer;
  buffer.name = FreshName(one.kernel->parameters[index].name);
  buffer.type = PointedType(one.types[index]);
  buffer.constant = true;
  const ParameterUse& use = one.use.parameters.at(one.kernel->parameters[index].name);
  if (null) {
    buffer.bytes = HostExpression::Integer(ElementTypeOf(c_.program, buffer.type).value_or(ElementType{"f32", 1}).bytes());
    c_.draft.nulls[one.kernel->name].insert(pointer.name);
    c_.draft.notes.push_back(fmt::format("the host passes no {}, and {} has no use for it", pointer.name, one.kernel->name));
    buffers_.push_back(std::move(buffer));
    return buffers_.back();
  }
  buffer.first_writes = use.written && !use.read && !use.partial;
  buffer.first_partial = use.written && !use.atomic && (use.read || use.partial);
  buffer.stored_first = IsStoredFirst(c_.program.Tokens(one.kernel->body), one.kernel->parameters[index].name);
  buffer.bytes = c_.host.BytesOf(pointer);
  if (!c_.host.CallsOn(pointer, "cudaMallocPitch").empty())
    c_.draft.notes.push_back(fmt::format("rows of {} have no padding, which cudaMallocPitch may add", buffer.name));
  if (IsNullWord(pointer.name) && use.written && !one.grid.empty()) {
    // A kernel that may leave something for each block, such as its sum, and is asked for nothing.
    buffer.none = true;
    const auto element = ElementTypeOf(c_.program, buffer.type).value_or(ElementType{"f32", 1});
    buffer.bytes = Simplified(HostExpression::Binary("*", Product(one.grid), HostExpression::Integer(element.bytes())));
  }
  buffers_.push_back(std::move(buffer));
  return buffers_.back();
}

// A launch line passes whole buffers, so that what one launch gets of one allocation would be the same buffer.
void DraftBuffers::RefuseParts(const std::string& name, const TakenLaunch& one) const {
  throw UsageError(fmt::format("{}: {} gets several parts of what {} points to; allocate a buffer for each of them",
                               c_.program.PlaceOf(one.launch->range.begin), one.kernel->name, name));
}

// Constants that all launches of a kernel add to what they pass for a parameter are added by the kernel.
void DraftBuffers::AddOffset(const TakenLaunch& one, std::size_t index, const DraftBuffer& buffer) {
  if (one.launch == nullptr || index >= one.launch->arguments.size()) return;
  const auto offset_of = [&](const TakenLaunch& launch) -> std::optional<std::string> {
    const bool passed = launch.launch != nullptr && index < launch.launch->arguments.size();
    if (!passed) return std::nullopt;
    return ConstantOffset(c_.host, c_.program, launch.launch->arguments[index], launch.launch->function, c_.device.words);
  };
  const Pointer origin = c_.host.Origin(one.launch->arguments[index], one.launch->function);
  if (!origin.offset || !origin.index.empty()) return;
  const std::optional<std::string> offset = offset_of(one);
  const bool same = std::all_of(c_.launches.begin(), c_.launches.end(), [&](const TakenLaunch& other) {
    return other.kernel != one.kernel || offset_of(other) == offset;
  });
  const std::string& name = one.kernel->parameters[index].name;
  const std::string& type = one.types[index];
  const std::string fixed = type.substr(std::min(type.size(), type.find('*') + 1));
  std::string note = fmt::format("the host passes {} with an offset, which is left out", buffer.name);
  if (offset && same && !name.empty() && fixed.find("const") == std::string::npos) {
    c_.draft.offsets[one.kernel->name][name] = *offset;
    note = fmt::format("the host passes {} with an offset of {}, which {} adds", buffer.name, *offset, one.kernel->name);
  } else {
    for (std::size_t i = 0; i < one.launch->arguments.size(); ++i) {
      const bool other_part = IsPointerType(one.types[i]) &&
                              c_.program.Text(one.launch->arguments[i]) != c_.program.Text(one.launch->arguments[index]);
      if (other_part && c_.host.Origin(one.launch->arguments[i], one.launch->function) == origin) RefuseParts(origin.name, one);
    }
  }
  if (std::find(c_.draft.notes.begin(), c_.draft.notes.end(), note) == c_.draft.notes.end()) c_.draft.notes.push_back(note);
}

void DraftBuffers::Read() {
  for (const TakenLaunch& one : c_.launches) {
    for (std::size_t i = 0; i < one.kernel->parameters.size(); ++i) {
      for (const ProgramParameter& field : FlatFieldsOf(c_.program, PointedType(one.types[i]))) {
        if (IsPointerType(field.type) && !IsPointerType(one.types[i])) AddField(one, i, field);
      }
      if (!IsPointerType(one.types[i])) continue;
      DraftBuffer& buffer = BufferOf(one, i);
      AddOffset(one, i, buffer);
      const ParameterUse& use = one.use.parameters.at(one.kernel->parameters[i].name);
      AddUse(buffer, use);
      buffer.constant = buffer.constant && one.types[i].starts_with("const ");
      for (const std::string& stride : use.strides) {
        const auto value = one.values.find(stride);
        buffer.strides.insert(value == one.values.end() ? stride : value->second.Text());
      }
      for (const std::string& bound : use.bounds) {
        const auto value = one.values.find(bound);
        if (value != one.values.end() && value->second.IsKnown()) buffer.bounds.push_back(value->second);
        if (bound == "gridDim.x" && one.grid.size() == 1 && one.grid[0].IsKnown()) buffer.bounds.push_back(one.grid[0]);
      }
      buffer.use.indexes.insert(use.indexes.begin(), use.indexes.end());
      buffer.use.columns.insert(use.columns.begin(), use.columns.end());
      for (SubscriptShape& shape : ShapesBySubscripts(c_.program, one, i)) buffer.shapes.push_back(std::move(shape));
    }
  }
}

// Elements of dtype, from the bytes that the host allocates.
std::vector<std::string> DraftBuffers::Shape(const DraftBuffer& buffer, const ElementType& element, bool& known) const {
  known = buffer.bytes && buffer.bytes->IsKnown();
  if (!buffer.bytes) return GuessedShape(buffer, element);
  const HostExpression bytes = c_.names.Unpadded(*buffer.bytes);
  bool divided = false;
  std::vector<HostExpression> dimensions;
  std::int64_t number = 1;
  for (const HostExpression& factor : Factors(bytes)) {
    if (factor.kind == Kind::kName && factor.text.starts_with("sizeof ")) {
      // Of the elements, or of what they are made of: `n * sizeof(half)` for a pointer to half2.
      const int size = SizeOfType(factor.text.substr(7));
      const bool of_others = size > 0 && size != element.bytes();
      divided = divided || !of_others;
      if (of_others) number *= size;
    } else if (factor.kind == Kind::kNumber && !factor.number.is_real) {
      number *= factor.number.integer;
    } else {
      dimensions.push_back(factor);
    }
  }
  known = std::all_of(dimensions.begin(), dimensions.end(), [](const auto& one) { return one.IsKnown(); });
  if (!known) return GuessedShape(buffer, element);
  // `n * 64 * sizeof(half)` for a pointer to half2, where 64 is a constant of the file.
  for (auto one = dimensions.begin(); !divided && number % element.bytes() != 0 && one != dimensions.end();) {
    const auto constant = ValueOf(ParseHostExpression({c_.names.Text(*one)}), {});
    if (constant) number *= constant->integer;
    one = constant ? dimensions.erase(one) : one + 1;
  }
  if (!divided && number % element.bytes() == 0) {
    number /= element.bytes();
    divided = true;
  }
  if (!divided && dimensions.size() == 1 && number == 1) {
    return {fmt::format("({}) / {}", c_.names.Text(dimensions[0]), element.bytes() / element.count)};
  }
  // A number that is also passed as what is a size now: `Layer layer(784, 512)` and `batch * 784`.
  for (const DraftSize& size : c_.draft.sizes) {
    const bool same = size.of_call && number % size.value == 0 && number > 1;
    if (!same) continue;
    dimensions.push_back(HostExpression::Name(size.name));
    number /= size.value;
  }
  if (number != 1 || dimensions.empty()) {
    if (dimensions.empty()) {
      dimensions.push_back(HostExpression::Integer(number));
    } else {
      dimensions.front() = HostExpression::Binary("*", dimensions.front(), HostExpression::Integer(number));
    }
  }
  // What subscripts multiply by is the length of a row: the last dimension.
  const auto row =
      std::find_if(dimensions.begin(), dimensions.end(), [&](const auto& one) { return buffer.strides.contains(one.Text()); });
  if (row != dimensions.end()) std::rotate(row, row + 1, dimensions.end());
  std::vector<std::string> shape;
  for (const HostExpression& one : dimensions) shape.push_back(c_.names.Text(one));
  if (element.count > 1) shape.push_back(std::to_string(element.count));
  return shape;
}

std::vector<std::string> DraftBuffers::GuessedShape(const DraftBuffer& buffer, const ElementType& element) const {
  std::vector<std::string> shape = AgreedShape(buffer.shapes, c_.names, c_.draft);
  if (!shape.empty()) {
    if (element.count > 1) shape.push_back(std::to_string(element.count));
    return shape;
  }
  std::string row;
  // Names of the BLAS: C[M, N] = A[M, K] B[K, N].
  if (c_.names.IsSize("M") && c_.names.IsSize("N") && c_.names.IsSize("K")) {
    if (buffer.use.written) return {"M", "N"};
    if (buffer.strides.contains("K")) return {"M", "K"};
    if (buffer.strides.contains("N")) return {"K", "N"};
  }
  if (buffer.strides.empty() && !buffer.bounds.empty()) {
    shape.push_back(c_.names.InSizes(buffer.bounds.front(), c_.draft).Text());
    if (element.count > 1) shape.push_back(std::to_string(element.count));
    return shape;
  }
  for (const DraftSize& size : c_.draft.sizes) {
    if (buffer.strides.contains(size.name)) row = size.name;
  }
  for (const DraftSize& size : c_.draft.sizes) {
    if (size.name != row && shape.size() < 2) shape.push_back(size.name);
  }
  if (!row.empty()) shape.push_back(row);
  if (shape.empty()) shape.push_back("1024");
  if (element.count > 1) shape.push_back(std::to_string(element.count));
  return shape;
}

std::string DraftBuffers::NameOf(const Pointer& pointer) const {
  const auto found =
      std::find_if(buffers_.begin(), buffers_.end(), [&](const DraftBuffer& one) { return one.pointer == pointer; });
  return found == buffers_.end() ? "" : found->name;
}

Pointer DraftBuffers::FieldPointer(const TakenLaunch& one, std::size_t index, const ProgramParameter& field) const {
  if (one.launch == nullptr || index >= one.launch->arguments.size())
    return {-3, one.kernel->parameters[index].name + "." + field.name, false, ""};
  return c_.host.OfField(one.launch->arguments[index], PointedType(one.types[index]), field.name, one.launch->function);
}

void DraftBuffers::AddField(const TakenLaunch& one, std::size_t index, const ProgramParameter& field) {
  const std::string& parameter = one.kernel->parameters[index].name;
  const auto use = one.use.parameters.find(parameter + "." + field.name);
  DraftBuffer buffer;
  buffer.pointer = FieldPointer(one, index, field);
  const auto known =
      std::find_if(buffers_.begin(), buffers_.end(), [&](const DraftBuffer& other) { return other.pointer == buffer.pointer; });
  if (known != buffers_.end()) {
    const bool parts = buffer.pointer.offset || known->pointer.offset;
    if (parts && known->kernel == one.kernel) RefuseParts(buffer.pointer.name, one);
    if (use != one.use.parameters.end()) AddUse(*known, use->second);
    known->constant = known->constant && field.type.starts_with("const ");
    return;
  }
  std::string name = parameter + "_" + field.name;
  std::replace(name.begin(), name.end(), '.', '_');
  buffer.name = FreshName(std::move(name));
  buffer.type = PointedType(field.type);
  buffer.constant = field.type.starts_with("const ");
  buffer.kernel = one.kernel;
  buffer.bytes = c_.host.BytesOf(buffer.pointer);
  if (use != one.use.parameters.end()) buffer.use = use->second;
  buffer.first_writes = buffer.use.written && !buffer.use.read && !buffer.use.partial;
  buffer.first_partial = buffer.use.written && !buffer.use.atomic && (buffer.use.read || buffer.use.partial);
  // What other fields of the struct say of a row's length.
  for (const ProgramParameter& other : FlatFieldsOf(c_.program, PointedType(one.types[index]))) {
    const auto value = one.values.find(parameter + "." + other.name);
    const bool length = other.name == "stride" || other.name == "pitch" || other.name == "width" || other.name == "ld" ||
                        other.name == "cols" || other.name == "columns";
    if (length && value != one.values.end()) buffer.strides.insert(value->second.Text());
  }
  buffers_.push_back(std::move(buffer));
}

}  // namespace evo
