// attention/wgmma.cu, causal, 128 columns: three groups have the registers for 80 keys at a time. The other defaults are the fastest at 4,096 keys.
#define CAUSAL 1
#define HEAD_DIM 128
#define BLOCK_N 80
#define LAZY_RESCALE 1
#define EQUAL_SHARES 0
#define RESIDENT 1000000
#include "../attention/wgmma.cu"
