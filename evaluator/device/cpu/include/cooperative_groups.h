#error "not supported on the cpu device: <cooperative_groups.h>"
