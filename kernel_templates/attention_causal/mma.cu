// attention/mma.cu, causal.
#define CAUSAL 1
#include "../attention/mma.cu"
