// attention/mma_split.cu, for bf16.
#define BF16 1
#include "../attention/mma_split.cu"
