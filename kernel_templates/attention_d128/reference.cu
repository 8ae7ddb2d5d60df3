// The reference of the task attention; it takes rows of any length.
#include "../attention/reference.cu"
