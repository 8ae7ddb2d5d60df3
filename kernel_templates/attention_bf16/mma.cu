// attention/mma.cu, for bf16.
#define BF16 1
#include "../attention/mma.cu"
