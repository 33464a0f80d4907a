"""The fused softmax: four warps a row, which stays in shared memory between its one read and one write."""

KERNEL = r"""
__device__ float minus_infinity() { return __int_as_float(0xff800000); }

__device__ float largest_of_warp(float x)
{
    for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, d));
    return x;
}

__device__ float sum_of_warp(float x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}

extern "C" __global__ void fused_softmax(
    const float* scores, const bool* keep, float* weights, float factor, int rows, int columns)
{
    extern __shared__ float kept[];
    __shared__ float peaks[4], totals[4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long start = (long long)blockIdx.x * columns;

    float peak = minus_infinity();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float x = scores[start + i] * factor;
        if (keep && !keep[start + i]) x = minus_infinity();
        kept[i] = x;
        peak = fmaxf(peak, x);
    }
    peak = largest_of_warp(peak);
    if (lane == 0) peaks[warp] = peak;
    __syncthreads();
    peak = fmaxf(fmaxf(peaks[0], peaks[1]), fmaxf(peaks[2], peaks[3]));
    float shift = peak == minus_infinity() ? 0.0f : peak;

    float total = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        kept[i] = expf(kept[i] - shift);
        total += kept[i];
    }
    total = sum_of_warp(total);
    if (lane == 0) totals[warp] = total;
    __syncthreads();
    total = totals[0] + totals[1] + totals[2] + totals[3];
    float inverse = total == 0.0f ? 0.0f : 1.0f / total;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) weights[start + i] = kept[i] * inverse;
}
"""


def launch(rows, columns):
    return rows, 128, 4 * columns
