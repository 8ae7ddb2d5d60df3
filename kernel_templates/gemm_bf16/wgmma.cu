// gemm_fp16/wgmma.cu, for bf16.
#define BF16 1
#include "../gemm_fp16/wgmma.cu"
