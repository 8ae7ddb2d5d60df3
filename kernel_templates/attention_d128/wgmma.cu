// attention/wgmma.cu, 128 columns: three groups have the registers for 80 keys at a time.
#define HEAD_DIM 128
#define BLOCK_N 80
#include "../attention/wgmma.cu"
