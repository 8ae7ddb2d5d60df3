#include "core/vector_target.h"

namespace evo {

VectorTarget WidestVectorTarget() {
#if EVO_HAS_VECTOR_TARGETS
  static const VectorTarget widest = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return VectorTarget::kAvx512;
    return __builtin_cpu_supports("avx2") ? VectorTarget::kAvx2 : VectorTarget::kUsual;
  }();
  return widest;
#else
  return VectorTarget::kUsual;
#endif
}

}  // namespace evo
