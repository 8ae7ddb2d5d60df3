// attention/wgmma_short.cu, causal.
#define CAUSAL 1
#include "../attention/wgmma_short.cu"
