// attention/naive.cu, causal.
#define CAUSAL 1
#include "../attention/naive.cu"
