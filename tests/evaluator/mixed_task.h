#pragma once

namespace evo {

// A task with inputs of many types and small shapes, for what draws inputs. N is 12.
inline constexpr const char* kMixedTask = R"json({
  "name": "mixed", "summary": "inputs of many types", "sizes": ["N"],
  "arguments": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["N / 4", "4"], "generators": ["normal", "uniform(-1,1)"]},
    {"name": "h", "role": "in", "dtype": "f16", "shape": ["9"], "generators": ["normal"]},
    {"name": "b", "role": "inout", "dtype": "bf16", "shape": ["2"], "generators": ["normal"], "check": {"l2": 0.01, "max": 0.1}},
    {"name": "i", "role": "in", "dtype": "i32", "shape": ["2", "6"], "generators": ["index<N * 2"]},
    {"name": "j", "role": "in", "dtype": "i64", "shape": ["3", "4"], "generators": ["index<N | 1"]},
    {"name": "p", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["permutation"]},
    {"name": "o", "role": "in", "dtype": "i32", "shape": ["5"], "generators": ["offsets<N"]},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "check": {"l2": 1e-6, "max": 1e-5}}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 12}},
    "search": [{"name": "a", "sizes": {"N": 12}}], "search_cpu": [{"name": "b", "sizes": {"N": 12}}],
    "held_out": [{"name": "c", "sizes": {"N": 12}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 12}}]
  },
  "baseline": "k", "bytes": "8 * N", "operations": "N"
})json";

inline constexpr const char* kMixedReference = "// evo:launch k(x, b, y) grid(1) block(1)\n";

}  // namespace evo
