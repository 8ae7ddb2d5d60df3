// attention/warp.cu, four query heads to a key head; a row of 128 elements takes eight lanes.
#define HEAD_DIM 128
#define KV_GROUP 4
#define LANES 8
#include "../attention/warp.cu"
