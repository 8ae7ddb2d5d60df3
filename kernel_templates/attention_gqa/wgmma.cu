// attention/wgmma.cu, 128 columns, four query heads to a key head.
#define HEAD_DIM 128
#define BLOCK_N 80
#define LAZY_RESCALE 1
#define EQUAL_SHARES 0
#define KV_GROUP 4
#include "../attention/wgmma.cu"
