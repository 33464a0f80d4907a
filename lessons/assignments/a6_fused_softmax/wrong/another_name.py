"""There is no kernel named fused_softmax."""

# ruff: noqa: F821
HINTS = {
    "question": "What is your kernel called?",
    "concept": "The launch finds a kernel by its name.",
    "place": "Keep the kernel's name and parameters as they are in the stub.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("void fused_softmax(", "void softmax(")
