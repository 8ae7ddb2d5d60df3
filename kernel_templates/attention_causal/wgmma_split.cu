// attention/wgmma_split.cu, causal.
#define CAUSAL 1
#include "../attention/wgmma_split.cu"
