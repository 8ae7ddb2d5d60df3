// The naive template of the task gemm.
#include "../gemm/naive.cu"
