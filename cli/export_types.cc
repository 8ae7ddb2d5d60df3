#include "cli/export_types.h"

namespace evo {

const char* TypeName(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return "double";
    case Dtype::kF32:
      return "float";
    case Dtype::kF16:
      return "__half";
    case Dtype::kBF16:
      return "__nv_bfloat16";
    case Dtype::kI64:
      return "long long";
    case Dtype::kI32:
      return "int";
    case Dtype::kI16:
      return "short";
    case Dtype::kI8:
      return "signed char";
    case Dtype::kU64:
      return "unsigned long long";
    case Dtype::kU32:
      return "unsigned";
    case Dtype::kU16:
      return "unsigned short";
    default:
      return "unsigned char";
  }
}

const char* MapType(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return "FLOAT64";
    case Dtype::kF32:
      return "FLOAT32";
    case Dtype::kF16:
      return "FLOAT16";
    case Dtype::kBF16:
      return "BFLOAT16";
    case Dtype::kI64:
      return "INT64";
    case Dtype::kI32:
      return "INT32";
    case Dtype::kU64:
      return "UINT64";
    case Dtype::kU32:
      return "UINT32";
    case Dtype::kI16:
    case Dtype::kU16:
      return "UINT16";
    default:
      return "UINT8";
  }
}

}  // namespace evo
