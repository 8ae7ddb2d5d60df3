// attention/warp.cu, causal.
#define CAUSAL 1
#include "../attention/warp.cu"
