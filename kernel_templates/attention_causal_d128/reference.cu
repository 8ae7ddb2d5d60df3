// The reference of the task attention, causal.
#define CAUSAL 1
#include "../attention/reference.cu"
