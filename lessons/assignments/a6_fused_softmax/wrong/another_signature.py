"""The kernel's parameters are not those of the stub."""

# ruff: noqa: F821
HINTS = {
    "question": "Which type has each parameter, and in which order do they come?",
    "concept": "Arguments are passed by position; an array of float32 needs a float*.",
    "place": "Keep the kernel's name and parameters as they are in the stub.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("float* weights", "double* weights")
