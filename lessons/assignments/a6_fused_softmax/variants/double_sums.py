"""Sums in double, four numbers a read where rows allow it, static shared memory."""

KERNEL = r"""
template <class T, class F> __device__ T over_block(T mine, T* room, F f)
{
    for (int d = 16; d > 0; d /= 2) mine = f(mine, __shfl_xor_sync(0xffffffff, mine, d));
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    T all = room[0];
    for (int i = 1; i < blockDim.x / 32; ++i) all = f(all, room[i]);
    __syncthreads();
    return all;
}

extern "C" __global__ void __launch_bounds__(256) fused_softmax(
    const float* __restrict__ scores, const bool* __restrict__ keep, float* __restrict__ weights, const float factor,
    const int rows, const int columns)
{
    __shared__ __align__(16) float x[4096];
    __shared__ float peaks[8];
    __shared__ double totals[8];
    const size_t start = size_t(blockIdx.x) * columns;
    float peak = -3.0e38f;
    if (columns % 4 == 0 && (size_t)scores % 16 == 0) {
        for (int i = threadIdx.x; i < columns / 4; i += blockDim.x)
            ((float4*)x)[i] = ((const float4*)(scores + start))[i];
        __syncthreads();
        for (int i = threadIdx.x; i < columns; i += blockDim.x) x[i] *= factor;
    } else {
        for (int i = threadIdx.x; i < columns; i += blockDim.x) x[i] = scores[start + i] * factor;
    }
    int any = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        if (!keep || keep[start + i]) {
            peak = fmaxf(peak, x[i]);
            any = 1;
        }
    any = __syncthreads_or(any);
    if (!any) {
        for (int i = threadIdx.x; i < columns; i += blockDim.x) weights[start + i] = 0;
        return;
    }
    peak = over_block(peak, peaks, [](float a, float b) { return fmaxf(a, b); });
    double total = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        x[i] = !keep || keep[start + i] ? expf(x[i] - peak) : 0;
        total += x[i];
    }
    total = over_block(total, totals, [](double a, double b) { return a + b; });
    for (int i = threadIdx.x; i < columns; i += blockDim.x) weights[start + i] = float(x[i] / total);
}
"""


def launch(rows, columns):
    return (rows, 1, 1), (256, 1, 1), 0
