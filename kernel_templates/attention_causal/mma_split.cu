// attention/mma_split.cu, causal.
#define CAUSAL 1
#include "../attention/mma_split.cu"
