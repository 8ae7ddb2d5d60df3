// attention/naive.cu for rows of 128 elements, four query heads to a key head.
#define HEAD_DIM 128
#define KV_GROUP 4
#include "../attention/naive.cu"
