"""The shared array has room for 1,024 numbers; rows may be longer."""

# ruff: noqa: F821
HINTS = {
    "question": "How long is the longest row?",
    "concept": "The size of a __shared__ array is fixed; dynamic shared memory is as large as the launch says.",
    "place": "Use extern __shared__, or an array of 4096 numbers.",
}
LOSES = ("fused_softmax.wide",)

KERNEL = KERNEL.replace("extern __shared__ float kept[];", "__shared__ float kept[1024];")
