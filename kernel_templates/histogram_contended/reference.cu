// The same computation as histogram's.
#include "../histogram/reference.cu"
