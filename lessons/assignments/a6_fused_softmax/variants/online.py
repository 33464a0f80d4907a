"""The online softmax: peak and total in one pass, merged through a tree in shared memory; another block size."""

KERNEL = r"""
__device__ float minus_infinity() { return __int_as_float(0xff800000); }

struct Part { float peak, total; };

__device__ Part merge(Part a, Part b)
{
    if (a.total == 0) return b;
    if (b.total == 0) return a;
    float peak = fmaxf(a.peak, b.peak);
    return {peak, a.total * expf(a.peak - peak) + b.total * expf(b.peak - peak)};
}

extern "C" __global__ void fused_softmax(
    const float* scores, const bool* keep, float* weights, float factor, int rows, int columns)
{
    extern __shared__ float line[];
    __shared__ float peaks[64], totals[64];
    int t = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* from = scores + (size_t)row * columns;
        Part mine = {0, 0};
        for (int i = t; i < columns; i += blockDim.x) {
            bool seen = keep ? keep[(size_t)row * columns + i] : true;
            line[i] = seen ? from[i] * factor : minus_infinity();
            if (seen) mine = merge(mine, {line[i], 1});
        }
        peaks[t] = mine.peak;
        totals[t] = mine.total;
        __syncthreads();
        for (int half = 32; half > 0; half /= 2) {
            if (t < half) {
                Part both = merge({peaks[t], totals[t]}, {peaks[t + half], totals[t + half]});
                peaks[t] = both.peak;
                totals[t] = both.total;
            }
            __syncthreads();
        }
        Part all = {peaks[0], totals[0]};
        for (int i = t; i < columns; i += blockDim.x)
            weights[(size_t)row * columns + i] = all.total == 0 ? 0 : expf(line[i] - all.peak) / all.total;
        __syncthreads();
    }
}
"""


def launch(rows, columns):
    return min(rows, 16), 64, 4 * columns
