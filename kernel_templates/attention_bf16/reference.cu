// The reference of the task attention, for bf16.
#define BF16 1
#include "../attention/reference.cu"
