// scale: candidate 6 of run 1, evolved by evo 0.1.0 from template scale (task scale, seed 18364758544493064720)
//
// Compile: nvcc -gencode arch=compute_90a,code=sm_90a -c FILE
// Parameters: BLOCK=256
// Promise: unproven edits: use_fmaf in scale
// Arguments:
//   x: in f32 [n]
//   y: out f32 [n]
// Launches of case small (n=100000), in this order:
//   scale(x, y, 100000) grid(391, 1, 1) block(256, 1, 1) shared 0 bytes
// Launches of case large (n=1000000), in this order:
//   scale(x, y, 1000000) grid(3907, 1, 1) block(256, 1, 1) shared 0 bytes
// Measured on NVIDIA H200 (cuda, sm_90a), L2 hot:
//   this kernel, case small: median 1.260 us, p10 1.247 us, p90 1.285 us, 3 samples
//   this kernel, case large: median 2.910 us, p10 2.881 us, p90 2.968 us, 3 samples
//   baseline, case small: median 2.010 us, p10 1.990 us, p90 2.050 us, 3 samples
//   baseline, case large: median 4.020 us, p10 3.980 us, p90 4.100 us, 3 samples
// Speed-up over the baseline scale: 1.449: 2.202 us, the baseline 3.191 us (re-timed, alternating with the baseline)
// Verdict: held-out ok (ragged, huge)
//   reference: model.py, 0.25 ms for an answer to a small input
//   fresh data: 1.010 times as long as on data that repeats
// Lineage (candidate, time in us, operator, change):
//   1 3.175 default: template scale, BLOCK=64
//   2 3.014 set_parameter: BLOCK=128
//   3 2.537 use_fmaf: replace an if in scale by `if (i < n) y[i] = x[i] + x[i];`
//   6 2.191 set_parameter: BLOCK=256

#ifndef BLOCK
#define BLOCK 256
#endif
// evo:param BLOCK 64 128 256
// evo:launch scale(x, y, n) grid(ceil_div(n, BLOCK)) block(BLOCK)
extern "C" __global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
