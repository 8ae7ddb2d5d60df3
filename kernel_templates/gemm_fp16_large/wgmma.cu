// The Hopper template of the task gemm_fp16.
#include "../gemm_fp16/wgmma.cu"
