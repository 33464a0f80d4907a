"""One warp a row, several rows a block, the row in registers between its read and its write."""

KERNEL = r"""
#define FULL 0xffffffffu
#define LOW __int_as_float(0xff800000)

extern "C" __global__ void fused_softmax(
    const float* scores, const bool* keep, float* weights, float factor, int rows, int columns)
{
    const float low = LOW;
    long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float x[128];  // 4,096 columns for 32 lanes

    float peak = low;
    for (int n = 0, i = threadIdx.x; i < columns; ++n, i += 32) {
        x[n] = keep && !keep[row * columns + i] ? low : factor * scores[row * columns + i];
        peak = max(peak, x[n]);
    }
    for (int d = 1; d < 32; d *= 2) peak = max(peak, __shfl_xor_sync(FULL, peak, d));
    if (peak == low) peak = 0;

    float total = 0;
    for (int n = 0, i = threadIdx.x; i < columns; ++n, i += 32) total += x[n] = __expf(x[n] - peak);
    for (int d = 16; d > 0; d >>= 1) total += __shfl_down_sync(FULL, total, d);
    total = __shfl_sync(FULL, total, 0);
    for (int n = 0, i = threadIdx.x; i < columns; ++n, i += 32)
        weights[row * columns + i] = total > 0 ? x[n] / total : 0;
}
"""


def launch(rows, columns):
    return (rows + 3) // 4, (32, 4), 0
