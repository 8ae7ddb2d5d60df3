# Shared by the scripts beside it; sourced by bash, never run.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$repository/build/release
program=$(basename "$0")

Fail() {
  echo "$program: $1" >&2
  exit 1
}

# The CUDA toolkit's folder, looked for where evo looks (platform/installation.h). Nothing is printed if there is none.
CudaRoot() {
  local nvcc root
  nvcc=$(command -v nvcc || true)
  for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${nvcc:+$(dirname "$(dirname "$(readlink -f "${nvcc:-/}")")")}" /usr/local/cuda; do
    if [[ -n $root && -f $root/include/cuda_runtime.h ]]; then
      echo "$root"
      return
    fi
  done
}

# Configure [PRESET [OPTION...]]: the build folder of a preset of CMakePresets.json, release if none is named. Options go to cmake.
Configure() {
  local preset=${1:-release} options=("${@:2}" -DCUDAToolkit_ROOT="$(CudaRoot)")
  build=$repository/build/$preset
  # ccache sees through precompiled headers only if it may overlook their times and macros.
  if command -v ccache >/dev/null; then options+=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"); fi
  mkdir -p "$build"
  if ! (cd "$repository" && cmake --preset "$preset" "${options[@]}") >"$build/configure.log" 2>&1; then
    tail -n 20 "$build/configure.log" >&2
    Fail "configuring failed (the end of $build/configure.log is above)"
  fi
}

# Build TARGET...: everything if none is named. Precondition: Configure. A preset is one configuration, tests included: building a part of it first and then the rest
# compiles nothing twice.
Build() {
  NINJA_STATUS='[%f/%t] ' ninja -C "$build" "$@" || Fail "building failed (see above)"
}
