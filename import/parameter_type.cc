#include "import/parameter_type.h"

#include <array>
#include <cctype>
#include <string_view>

#include "import/element_type.h"

namespace evo {
namespace {

using TypeKind = ParameterType::Kind;

struct Named {
  std::string_view name;
  TypeKind kind;
  Dtype dtype;
};
constexpr auto kScalars = std::to_array<Named>({
    {"float", TypeKind::kReal, Dtype::kF32},
    {"double", TypeKind::kReal, Dtype::kF64},
    {"__half", TypeKind::kReal, Dtype::kF16},
    {"__nv_bfloat16", TypeKind::kReal, Dtype::kBF16},
    {"bool", TypeKind::kBool, Dtype::kU8},
    {"char", TypeKind::kInteger, Dtype::kI8},
    {"signed char", TypeKind::kInteger, Dtype::kI8},
    {"unsigned char", TypeKind::kInteger, Dtype::kU8},
    {"short", TypeKind::kInteger, Dtype::kI16},
    {"unsigned short", TypeKind::kInteger, Dtype::kU16},
    {"int", TypeKind::kInteger, Dtype::kI32},
    {"unsigned int", TypeKind::kInteger, Dtype::kU32},
    {"long", TypeKind::kInteger, Dtype::kI64},
    {"unsigned long", TypeKind::kInteger, Dtype::kU64},
    {"long long", TypeKind::kInteger, Dtype::kI64},
    {"unsigned long long", TypeKind::kInteger, Dtype::kU64},
});
constexpr auto kVectors = std::to_array<Named>({
    {"float", TypeKind::kReal, Dtype::kF32},
    {"double", TypeKind::kReal, Dtype::kF64},
    {"char", TypeKind::kInteger, Dtype::kI8},
    {"uchar", TypeKind::kInteger, Dtype::kU8},
    {"short", TypeKind::kInteger, Dtype::kI16},
    {"ushort", TypeKind::kInteger, Dtype::kU16},
    {"int", TypeKind::kInteger, Dtype::kI32},
    {"uint", TypeKind::kInteger, Dtype::kU32},
    {"long", TypeKind::kInteger, Dtype::kI64},
    {"ulong", TypeKind::kInteger, Dtype::kU64},
    {"longlong", TypeKind::kInteger, Dtype::kI64},
    {"ulonglong", TypeKind::kInteger, Dtype::kU64},
});

// Names of types whose bytes are anything.
constexpr std::array<std::string_view, 4> kBytes{"void", "std::byte", "cuda::std::byte", "byte"};

bool IsVector(std::string_view type, ParameterType& result) {
  if (type == "__half2" || type == "__nv_bfloat162") {
    result.kind = TypeKind::kReal;
    result.dtype = type == "__half2" ? Dtype::kF16 : Dtype::kBF16;
    return true;
  }
  if (type.empty() || type.back() < '1' || type.back() > '4') return false;
  for (const Named& one : kVectors) {
    if (one.name != type.substr(0, type.size() - 1)) continue;
    result.kind = one.kind;
    result.dtype = one.dtype;
    return true;
  }
  return false;
}

bool IsTemplateDependent(std::string_view type) {
  return type.find("type-parameter") != std::string_view::npos || type.starts_with("typename ");
}

}  // namespace

ParameterType ParseParameterType(const std::string& canonical) {
  ParameterType result;
  if (canonical.find_first_of("(&") != std::string::npos || IsTemplateDependent(canonical)) return result;
  result.pointer = IsPointerType(canonical);
  const std::string type = PointedType(canonical);
  if (type.empty() || IsPointerType(type)) return result;
  for (const Named& one : kScalars) {
    if (one.name != type) continue;
    result.kind = one.kind;
    result.dtype = one.dtype;
    return result;
  }
  result.vector = IsVector(type, result);
  if (result.vector) return result;
  for (const std::string_view one : kBytes) {
    if (one == type) return result;
  }
  const std::size_t colon = type.rfind(':');
  result.kind = TypeKind::kRecord;
  result.record = type.substr(colon == std::string::npos ? 0 : colon + 1);
  return result;
}

bool TakesBuffer(const ParameterType& type, Dtype dtype) {
  if (!type.pointer) return false;
  if (type.kind == TypeKind::kUnknown || type.kind == TypeKind::kRecord || type.vector) return true;
  const std::size_t size = ByteSize(type.dtype);
  const std::size_t given = ByteSize(dtype);
  if (type.kind == TypeKind::kBool) return given == 1;
  if (size == 1 || given == 1) return true;
  if (type.kind == TypeKind::kReal) return type.dtype == dtype;
  return given == 2 ? size >= given : size == given;
}

bool TakesScalar(const ParameterType& type, const ScalarType& scalar) {
  if (type.pointer || type.vector) return false;
  switch (type.kind) {
    case TypeKind::kReal:
      return type.dtype == scalar.dtype;
    case TypeKind::kBool:
      return ByteSize(scalar.dtype) == 1;
    case TypeKind::kInteger:
      return !IsFloating(scalar.dtype) && ByteSize(scalar.dtype) == ByteSize(type.dtype);
    default:
      return true;
  }
}

std::optional<std::string> ScalarNameOf(const ParameterType& type) {
  if (type.pointer || type.vector) return std::nullopt;
  if (type.kind == TypeKind::kBool) return "bool";
  if (type.kind != TypeKind::kReal && type.kind != TypeKind::kInteger) return std::nullopt;
  return std::string(ToString(type.dtype));
}

}  // namespace evo
