// The same kernel as histogram's.
#include "../histogram/naive.cu"
