"""What the measurements of kernels share: exported files and templates, launched and timed in one process with PyTorch."""
