"""The total is added up by atomicAdd, so its last bits depend on which thread comes first."""

# ruff: noqa: F821
HINTS = {
    "question": "Is (a + b) + c always equal to a + (b + c) in float32?",
    "concept": "A sum in floating point depends on its order; with atomics that is the order of arrival.",
    "place": "Add up in a fixed order: shuffles within a warp, then the warps' totals one after another.",
}
LOSES = ("fused_softmax.orders",)

KERNEL = KERNEL.replace(
    "    total = sum_of_warp(total);\n"
    "    if (lane == 0) totals[warp] = total;\n"
    "    __syncthreads();\n"
    "    total = totals[0] + totals[1] + totals[2] + totals[3];\n",
    "    if (threadIdx.x == 0) totals[0] = 0.0f;\n"
    "    __syncthreads();\n"
    "    atomicAdd(&totals[0], total);\n"
    "    __syncthreads();\n"
    "    total = totals[0];\n",
)
