// The reference of the task attention, with four query heads to a key head.
#define KV_GROUP 4
#include "../attention/reference.cu"
