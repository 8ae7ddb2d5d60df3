// The naive template of the task gemm_fp16.
#include "../gemm_fp16/naive.cu"
