#pragma once

// nvcuda::wmma on the cpu device: m16n16k16, m32n8k16 and m8n32k16 of half or bfloat16 with half or float accumulators. As on a
// GPU a fragment's elements are spread over the lanes: element i of a lane is number i * 32 + lane of the matrix in row-major
// order.

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int M, int N, int K>
struct evo_cpu_shape;
template <int M, int N, int K>
struct evo_cpu_shape<matrix_a, M, N, K> {
  static constexpr int rows = M, columns = K;
};
template <int M, int N, int K>
struct evo_cpu_shape<matrix_b, M, N, K> {
  static constexpr int rows = K, columns = N;
};
template <int M, int N, int K>
struct evo_cpu_shape<accumulator, M, N, K> {
  static constexpr int rows = M, columns = N;
};

// The warp operations are not inlined: they stand in loops that templates unroll, and each copy would cost compile time.
template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct fragment {
  static_assert(K == 16 && M * N == 256, "not supported on the cpu device: this wmma shape");
  using element_type = T;
  using storage_element_type = T;
  using shape = evo_cpu_shape<Use, M, N, K>;
  static constexpr int num_elements = shape::rows * shape::columns / 32;
  static constexpr int num_storage_elements = num_elements;
  T x[num_elements];
};

template <typename Use, int M, int N, int K, typename T, typename Layout, typename V>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& value) {
  for (T& element : f.x) element = static_cast<T>(value);
}

template <typename F>
inline size_t evo_cpu_offset(int i, unsigned stride, bool row_major_order) {
  const int number = i * 32 + static_cast<int>(evo_cpu_current->lane);
  const int row = number / F::shape::columns;
  const int column = number % F::shape::columns;
  return row_major_order ? static_cast<size_t>(row) * stride + column : static_cast<size_t>(column) * stride + row;
}

template <typename Use, int M, int N, int K, typename T, typename Layout>
__attribute__((noinline)) inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const T* from, unsigned stride) {
  evo_cpu_runtime->sync_warp(0xffffffffu);
  for (int i = 0; i < f.num_elements; ++i) {
    f.x[i] = from[evo_cpu_offset<fragment<Use, M, N, K, T, Layout>>(i, stride, std::is_same_v<Layout, row_major>)];
  }
}

template <int M, int N, int K, typename T>
__attribute__((noinline)) inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* from, unsigned stride,
                                                       layout_t layout) {
  evo_cpu_runtime->sync_warp(0xffffffffu);
  for (int i = 0; i < f.num_elements; ++i)
    f.x[i] = from[evo_cpu_offset<fragment<accumulator, M, N, K, T>>(i, stride, layout == mem_row_major)];
}

template <int M, int N, int K, typename T>
__attribute__((noinline)) inline void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& f, unsigned stride,
                                                        layout_t layout) {
  evo_cpu_runtime->sync_warp(0xffffffffu);
  for (int i = 0; i < f.num_elements; ++i)
    to[evo_cpu_offset<fragment<accumulator, M, N, K, T>>(i, stride, layout == mem_row_major)] = f.x[i];
}

// Gathers a matrix from the lanes' fragments, as floats in row-major order.
template <typename F>
EVO_CPU_UNCHECKED inline void evo_cpu_gather(float* matrix, F* const* lanes) {
  for (int lane = 0; lane < 32; ++lane) {
    if constexpr (std::is_same_v<typename F::element_type, __half>) {
      constexpr int together = F::num_elements < 8 ? F::num_elements : 8;
      static_assert(F::num_elements % together == 0);
      for (int i = 0; i < F::num_elements; i += together) {
        unsigned short bits[8] = {};
        float values[8];
        std::memcpy(bits, &lanes[lane]->x[i], together * 2);
        evo_cpu::HalvesToFloats(values, bits);
        for (int j = 0; j < together; ++j) matrix[(i + j) * 32 + lane] = values[j];
      }
    } else {
      for (int i = 0; i < F::num_elements; ++i) matrix[i * 32 + lane] = static_cast<float>(lanes[lane]->x[i]);
    }
  }
}

// Every lane posts where its fragments are; the last to arrive multiplies for all.
template <int M, int N, int K, typename D, typename A, typename B, typename LA, typename LB, typename C>
EVO_CPU_UNCHECKED __attribute__((noinline)) inline void mma_sync(fragment<accumulator, M, N, K, D>& d,
                                                                 const fragment<matrix_a, M, N, K, A, LA>& a,
                                                                 const fragment<matrix_b, M, N, K, B, LB>& b,
                                                                 const fragment<accumulator, M, N, K, C>& c) {
  struct Posted {
    fragment<accumulator, M, N, K, D>* d;
    const fragment<matrix_a, M, N, K, A, LA>* a;
    const fragment<matrix_b, M, N, K, B, LB>* b;
    const fragment<accumulator, M, N, K, C>* c;
  };
  const Posted mine{&d, &a, &b, &c};
  const Posted* address = &mine;
  std::memcpy(evo_cpu::WarpSlot(evo_cpu_current->lane), &address, sizeof address);
  if (!evo_cpu_runtime->arrive_warp(0xffffffffu)) return;
  const fragment<matrix_a, M, N, K, A, LA>* all_a[32];
  const fragment<matrix_b, M, N, K, B, LB>* all_b[32];
  const fragment<accumulator, M, N, K, C>* all_c[32];
  fragment<accumulator, M, N, K, D>* all_d[32];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Posted* posted;
    std::memcpy(&posted, evo_cpu::WarpSlot(lane), sizeof posted);
    all_a[lane] = posted->a;
    all_b[lane] = posted->b;
    all_c[lane] = posted->c;
    all_d[lane] = posted->d;
  }
  alignas(64) float left[M * K], right[K * N], sum[M * N];
  evo_cpu_gather(left, all_a);
  evo_cpu_gather(right, all_b);
  evo_cpu_gather(sum, all_c);
  for (int row = 0; row < M; ++row) {
    for (int k = 0; k < K; ++k) {
      const float factor = left[row * K + k];
      for (int column = 0; column < N; ++column) sum[row * N + column] += factor * right[k * N + column];
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < M * N / 32; ++i) all_d[lane]->x[i] = static_cast<D>(sum[i * 32 + lane]);
  }
  evo_cpu_runtime->release_warp(0xffffffffu);
}

}  // namespace wmma
}  // namespace nvcuda
