#include "mutators/parallelism/attention/mapped_group_text.h"

namespace evo {

const std::string_view kMappedType = R"(// What the driver calls CUtensorMap: how the copy engine sees a matrix.
struct alignas(128) @{TensorMap} {
  unsigned long long opaque[16];
};

)";

const std::string_view kMappedBlocks =
    R"(// Brings the map's box from this column and row on, and tells the barrier. What lies outside arrives as zeros.
__device__ __forceinline__ void @{CopyBox}(void* to, const @{TensorMap}* map, int column, int row, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(map),
                 "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(column), "r"(row)
               : "memory");
}

// The group that copies leaves registers to those that multiply. In sum they have what 384 threads with 168 each began with.
__device__ __forceinline__ void @{FewerRegisters}() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory"); }
__device__ __forceinline__ void @{MoreRegisters}() { asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory"); }

// Column and row of a tile: @{GROUP} rows of tiles, column by column, so that blocks which run at a time share rows and columns.
__device__ __forceinline__ int2 @{TilePlace}(int tile, int rows, int columns) {
  const int first = tile / (@{GROUP} * columns) * @{GROUP}, height = min(@{GROUP}, rows - first);
  const int within = tile % (@{GROUP} * columns);
  return make_int2(within / height, first + within % height);
}

// Copies a matrix to rows of a multiple of @{VECTOR} elements, as a tensor map needs them, with zeros at their ends.
__global__ void @{PadRows}(const void* from, @{bits}* to, int rows, int columns, int padded) {
  const int column = blockIdx.x * 256 + threadIdx.x;
  if (column >= padded) return;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const @{bits}* line = static_cast<const @{bits}*>(from) + static_cast<long long>(row) * columns;
    to[static_cast<long long>(row) * padded + column] = column < columns ? line[column] : 0;
  }
}

)";

const std::string_view kMappedBody = R"({
  // Two warp groups multiply, each half of a tile's rows, and one thread of a third orders the copies. Tiles are @{DEPTH} of k
  // deep; @{STAGES} of them are in shared memory or on their way there. Blocks stay and compute one tile after another, so that
  // copies go on while results are stored.
  extern __shared__ __align__(1024) unsigned char @{tiles}[];
  @{element_m} (*@{tile_m})[@{TILE_M} * @{DEPTH}] = reinterpret_cast<@{element_m} (*)[@{TILE_M} * @{DEPTH}]>(@{tiles});
  @{element_n} (*@{tile_n})[@{TILE_N} * @{DEPTH}] =
    reinterpret_cast<@{element_n} (*)[@{TILE_N} * @{DEPTH}]>(@{tile_m} + @{STAGES});
  @{sum}* @{staged} = reinterpret_cast<@{sum}*>(@{tile_n} + @{STAGES});
  unsigned long long* @{full} = reinterpret_cast<unsigned long long*>(@{staged} + 8 * 640);
  unsigned long long* @{empty} = @{full} + @{STAGES};
@{common}  const int @{steps} = (@{bound_k} + @{DEPTH} - 1) / @{DEPTH};
  const int @{rows} = (@{bound_m} + @{TILE_M} - 1) / @{TILE_M}, @{columns} = (@{bound_n} + @{TILE_N} - 1) / @{TILE_N};
  if (threadIdx.x == 0) {
    for (int @{stage} = 0; @{stage} < @{STAGES}; ++@{stage}) {
      @{MakeBarrier}(&@{full}[@{stage}], 1);
      @{MakeBarrier}(&@{empty}[@{stage}], 8);
    }
    @{ShowBarriers}();
  }
  __syncthreads();
  // The shuffle tells the compiler that the number is the same for a warp.
  const int @{group} = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  int @{slot} = 0;
  unsigned @{parity} = 0;
  if (@{group} == 2) {
    @{FewerRegisters}();
    if (threadIdx.x == 256) {
      for (int @{tile} = blockIdx.x; @{tile} < @{rows} * @{columns}; @{tile} += gridDim.x) {
        const int2 @{place} = @{TilePlace}(@{tile}, @{rows}, @{columns});
        for (int @{step} = 0; @{step} < @{steps}; ++@{step}) {
          @{WaitFor}(&@{empty}[@{slot}], @{parity} ^ 1);
          @{ExpectBytes}(&@{full}[@{slot}], (@{TILE_M} + @{TILE_N}) * 128);
@{copies_m}@{copies_n}          if (++@{slot} == @{STAGES}) {
            @{slot} = 0;
            @{parity} ^= 1;
          }
        }
      }
    }
  } else {
    @{MoreRegisters}();
    const int @{own_m} = @{group} * (@{TILE_M} / 2), @{warp} = threadIdx.x / 32, @{lane} = threadIdx.x % 32;
    @{sum}* @{own} = @{staged} + @{warp} * 640;
    @{sum} @{sums}[@{TILE_M} / 128][@{TILE_N} / 2];
    for (int @{tile} = blockIdx.x; @{tile} < @{rows} * @{columns}; @{tile} += gridDim.x) {
      const int2 @{place} = @{TilePlace}(@{tile}, @{rows}, @{columns});
@{first_m_line}@{first_n_line}      int @{before} = 0;
      for (int @{step} = 0; @{step} < @{steps}; ++@{step}) {
        @{WaitFor}(&@{full}[@{slot}], @{parity});
        @{BeginProducts}();
#pragma unroll
        for (int @{part_k} = 0; @{part_k} < @{DEPTH}; @{part_k} += @{PART}) {
#pragma unroll
          for (int @{part_m} = 0; @{part_m} < @{TILE_M} / 2; @{part_m} += 64) {
            @{MultiplyGroup}(@{sums}[@{part_m} / 64], @{described_m},
              @{described_n}, @{step} > 0 || @{part_k} > 0);
          }
        }
        @{CommitProducts}();
        // The products of the tile before are done.
        if (@{step} > 0 && @{lane} == 0) @{ArriveAt}(&@{empty}[@{before}]);
        @{before} = @{slot};
        if (++@{slot} == @{STAGES}) {
          @{slot} = 0;
          @{parity} ^= 1;
        }
      }
#pragma unroll
      for (int @{part_m} = 0; @{part_m} < @{TILE_M} / 2; @{part_m} += 64) @{FinishProducts}(@{sums}[@{part_m} / 64]);
      if (@{lane} == 0) @{ArriveAt}(&@{empty}[@{before}]);
      // The sums go through shared memory, so that neighbouring threads store neighbouring elements.
#pragma unroll
      for (int @{part_m} = 0; @{part_m} < @{TILE_M} / 2; @{part_m} += 64) {
#pragma unroll
        for (int @{part_n} = 0; @{part_n} < @{TILE_N}; @{part_n} += 32) {
#pragma unroll
          for (int @{e} = 0; @{e} < 16; ++@{e}) {
            @{own}[(@{lane} / 4 + @{e} / 2 % 2 * 8) * 40 + @{e} / 4 * 8 + @{lane} % 4 * 2 + @{e} % 2] =
              @{sums}[@{part_m} / 64][@{part_n} / 2 + @{e}];
          }
          __syncwarp();
#pragma unroll 4
          for (int @{t} = 0; @{t} < 16; ++@{t}) {
            @{typed_m} = @{first_m} + @{own_m} + @{part_m} + @{warp} % 4 * 16 + @{t};
            @{typed_n} = @{first_n} + @{part_n} + @{lane};
            if (@{name_m} >= @{guard_m} || @{name_n} >= @{guard_n}) continue;
            @{sum} @{accumulator} = @{own}[@{t} * 40 + @{lane}];
@{epilogue}          }
          __syncwarp();
        }
      }
    }
  }
})";

}  // namespace evo
