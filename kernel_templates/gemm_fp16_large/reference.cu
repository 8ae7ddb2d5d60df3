// The reference of the task gemm_fp16.
#include "../gemm_fp16/reference.cu"
