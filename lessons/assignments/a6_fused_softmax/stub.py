"""Assignment a6: the fused softmax as a CUDA kernel. handout.md says what it must do.

Complete the kernel and its launch; keep their names, and the kernel's parameters.
"""

KERNEL = r"""
__device__ float minus_infinity() { return __int_as_float(0xff800000); }

extern "C" __global__ void fused_softmax(
    const float* scores, const bool* keep, float* weights, float factor, int rows, int columns)
{
}
"""


def launch(rows: int, columns: int) -> tuple[int | tuple[int, ...], int | tuple[int, ...], int]:
    """The grid, the block, and the bytes of dynamic shared memory for a table of that size."""
    raise NotImplementedError
