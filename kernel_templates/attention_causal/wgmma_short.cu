// attention/wgmma_short.cu, causal. With SPECULATE 1 racecheck reports hazards in causal forms, see docs/attention.md.
#define CAUSAL 1
#define SPECULATE 0
#include "../attention/wgmma_short.cu"
