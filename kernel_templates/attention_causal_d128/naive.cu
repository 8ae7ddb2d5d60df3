// attention/naive.cu for rows of 128 elements, causal.
#define HEAD_DIM 128
#define CAUSAL 1
#include "../attention/naive.cu"
