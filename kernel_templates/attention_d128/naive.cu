// attention/naive.cu for rows of 128 elements.
#define HEAD_DIM 128
#include "../attention/naive.cu"
