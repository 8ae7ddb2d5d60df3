// attention/wgmma.cu, causal.
#define CAUSAL 1
#include "../attention/wgmma.cu"
