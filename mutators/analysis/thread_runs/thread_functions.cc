#include "mutators/analysis/thread_runs/thread_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace evo {
namespace {

double Same(double x) { return x; }
double Exponential(double x) { return std::exp(x); }
double PowerOfTwo(double x) { return std::exp2(x); }
double Root(double x) { return std::sqrt(x); }
double InverseRoot(double x) { return 1 / std::sqrt(x); }
double Logarithm(double x) { return std::log(x); }
double BinaryLogarithm(double x) { return std::log2(x); }
double Tangent(double x) { return std::tanh(x); }
double ErrorFunction(double x) { return std::erf(x); }
double LogarithmOfOneMore(double x) { return std::log1p(x); }
double RoundedUp(double x) { return std::ceil(x); }
double RoundedDown(double x) { return std::floor(x); }
double Inverse(double x) { return 1 / x; }
double Absolute(double x) { return std::fabs(x); }
double IsInfinite(double x) { return std::isinf(x) ? 1 : 0; }

constexpr ThreadFunction Plain(std::string_view name, double (*compute)(double)) { return {name, compute}; }
constexpr ThreadFunction Converts(std::string_view name) { return {name, Same, false, false, false, true}; }
constexpr ThreadFunction Rounds(std::string_view name) { return {name, Same, false, false, true}; }
constexpr ThreadFunction Natural(std::string_view name) { return {name, Exponential, true}; }
constexpr ThreadFunction BaseTwo(std::string_view name) { return {name, PowerOfTwo, true, true}; }

constexpr std::array kThreadFunctions{Converts("__half2float"),
                                      Converts("__bfloat162float"),
                                      Rounds("__float2half"),
                                      Rounds("__float2half_rn"),
                                      Rounds("__float2bfloat16"),
                                      Rounds("__float2bfloat16_rn"),
                                      Plain("__int2float_rn", Same),
                                      Natural("expf"),
                                      Natural("exp"),
                                      Natural("__expf"),
                                      BaseTwo("exp2f"),
                                      BaseTwo("exp2"),
                                      Plain("sqrtf", Root),
                                      Plain("sqrt", Root),
                                      Plain("__fsqrt_rn", Root),
                                      Plain("rsqrtf", InverseRoot),
                                      Plain("rsqrt", InverseRoot),
                                      Plain("logf", Logarithm),
                                      Plain("log", Logarithm),
                                      Plain("log2f", BinaryLogarithm),
                                      Plain("log2", BinaryLogarithm),
                                      Plain("__log2f", BinaryLogarithm),
                                      Plain("ceilf", RoundedUp),
                                      Plain("ceil", RoundedUp),
                                      Plain("floorf", RoundedDown),
                                      Plain("floor", RoundedDown),
                                      Plain("tanhf", Tangent),
                                      Plain("tanh", Tangent),
                                      Plain("erff", ErrorFunction),
                                      Plain("erf", ErrorFunction),
                                      Plain("log1pf", LogarithmOfOneMore),
                                      Plain("__logf", Logarithm),
                                      Plain("__frcp_rn", Inverse),
                                      Plain("__frsqrt_rn", InverseRoot),
                                      Plain("fabsf", Absolute),
                                      Plain("fabs", Absolute),
                                      Plain("isinf", IsInfinite)};

}  // namespace

const ThreadFunction* ThreadFunctionNamed(std::string_view name) {
  const auto* const known =
      std::find_if(kThreadFunctions.begin(), kThreadFunctions.end(), [&](const ThreadFunction& one) { return one.name == name; });
  return known == kThreadFunctions.end() ? nullptr : known;
}

ThreadCallee::ThreadCallee(std::string_view called) : name(called), function(ThreadFunctionNamed(called)) {
  using enum Kind;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {{"abs", kAbsolute},
                                                          {"fmaxf", kLargest},
                                                          {"fmax", kLargest},
                                                          {"max", kLargest},
                                                          {"fminf", kSmallest},
                                                          {"fmin", kSmallest},
                                                          {"min", kSmallest},
                                                          {"__fdividef", kDivide},
                                                          {"__fmul_rn", kMultiply},
                                                          {"__fadd_rn", kAdd},
                                                          {"fmaf", kFused},
                                                          {"fma", kFused},
                                                          {"__fmaf_rn", kFused},
                                                          {"__ldg", kLoad},
                                                          {"__ldcg", kLoad},
                                                          {"__ldca", kLoad},
                                                          {"__ldcs", kLoad},
                                                          {"__syncthreads", kBlockBarrier},
                                                          {"__syncwarp", kWarpBarrier},
                                                          {"__float_as_int", kBitsOfFloat},
                                                          {"__float_as_uint", kBitsOfFloat},
                                                          {"__int_as_float", kFloatOfBits},
                                                          {"__uint_as_float", kFloatOfBits},
                                                          {"__threadfence", kNothing},
                                                          {"__threadfence_block", kNothing},
                                                          {"printf", kNothing},
                                                          {"__assert_fail", kNothing},
                                                          {"atomicAdd", kAtomicAdd},
                                                          {"atomicAdd_block", kAtomicAdd},
                                                          {"atomicSub", kAtomicSubtract},
                                                          {"atomicMax", kAtomicMax},
                                                          {"atomicMin", kAtomicMin},
                                                          {"atomicExch", kAtomicExchange},
                                                          {"atomicInc", kAtomicIncrement},
                                                          {"atomicCAS", kAtomicCompare}};
  const auto* const known =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& one) { return one.first == called; });
  if (function != nullptr)
    kind = kFunction;
  else if (known != std::end(kKinds))
    kind = known->second;
  else if (called.starts_with("__shfl") && called.ends_with("_sync"))
    kind = called == "__shfl_xor_sync"    ? kShuffleXor
           : called == "__shfl_down_sync" ? kShuffleDown
           : called == "__shfl_up_sync"   ? kShuffleUp
                                          : kShuffle;
}

}  // namespace evo
