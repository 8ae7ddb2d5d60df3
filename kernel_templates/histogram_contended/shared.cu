// The same kernel as histogram's.
#include "../histogram/shared.cu"
