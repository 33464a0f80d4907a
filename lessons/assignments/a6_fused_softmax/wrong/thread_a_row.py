"""Each thread works on a row of its own, so neighbouring threads read numbers that lie a row apart."""

HINTS = {
    "question": "How many sectors of 32 bytes does a warp touch when it reads one number in each of 32 rows?",
    "concept": "Let neighbouring threads read neighbouring numbers: 32 of them lie in 4 sectors instead of 32.",
    "place": "Give a row to a warp or to a block, and let thread t take the columns t, t + 32, ...",
}
LOSES = ("fused_softmax.bytes", "fused_softmax.bytes_once_written", "fused_softmax.bytes_once_read")

KERNEL = r"""
__device__ float minus_infinity() { return __int_as_float(0xff800000); }

extern "C" __global__ void fused_softmax(
    const float* scores, const bool* keep, float* weights, float factor, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    scores += row * columns;
    weights += row * columns;
    if (keep) keep += row * columns;

    float peak = minus_infinity(), total = 0.0f;
    for (int i = 0; i < columns; ++i)
        if (!keep || keep[i]) peak = fmaxf(peak, scores[i] * factor);
    for (int i = 0; i < columns; ++i)
        if (!keep || keep[i]) total += expf(scores[i] * factor - peak);
    for (int i = 0; i < columns; ++i)
        weights[i] = !keep || keep[i] ? expf(scores[i] * factor - peak) / total : 0.0f;
}
"""


def launch(rows, columns):
    return -(-rows // 32), 32, 0
