// attention/naive.cu, for bf16.
#define BF16 1
#include "../attention/naive.cu"
