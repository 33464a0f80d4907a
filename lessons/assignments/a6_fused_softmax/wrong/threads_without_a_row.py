"""Threads beyond the last row are not stopped."""

HINTS = {
    "question": "With 5 rows and blocks of 16 threads, what do the last 11 threads do?",
    "concept": "A grid is made of whole blocks, so there are more threads than rows; the others must return.",
    "place": "Begin with: if (row >= rows) return;",
}
LOSES = ("fused_softmax.*",)

KERNEL = r"""
__device__ float minus_infinity() { return __int_as_float(0xff800000); }

extern "C" __global__ void fused_softmax(
    const float* scores, const bool* keep, float* weights, float factor, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
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
    return -(-rows // 16), 16, 0
