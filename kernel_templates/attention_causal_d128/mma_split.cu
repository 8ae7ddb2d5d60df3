// attention/mma_split.cu, causal and for rows of 128 elements.
#define CAUSAL 1
#define HEAD_DIM 128
#include "../attention/mma_split.cu"
