#pragma once

// How a loop is compiled for several instruction sets, one of which is chosen when it runs. A function that is inlined into one
// with a target is compiled for that target.
#if defined(__x86_64__)
#define EVO_HAS_VECTOR_TARGETS 1
#define EVO_TARGET_AVX2 [[gnu::target("avx2")]]
#ifdef __clang__
#define EVO_TARGET_AVX512 [[gnu::target("avx512f,avx512dq,avx512vl")]]
#else
#define EVO_TARGET_AVX512 [[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]]
#endif
#else
#define EVO_HAS_VECTOR_TARGETS 0
#endif

namespace evo {

enum class VectorTarget { kUsual, kAvx2, kAvx512 };

// The widest that this processor has.
VectorTarget WidestVectorTarget();

}  // namespace evo
