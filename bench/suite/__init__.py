"""The benchmark suite: kernels as CUDA C++, OpenCL C, plain C, C written over lanes, and Numba."""
