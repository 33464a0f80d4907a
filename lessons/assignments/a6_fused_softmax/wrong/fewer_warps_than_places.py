"""The block has fewer warps than places are read in shared memory: some hold nothing."""

HINTS = {
    "question": "Who writes the places of warps that are not there?",
    "concept": "Shared memory holds rubbish until it is written.",
    "place": "Read only as many places as the block has warps, blockDim.x / 32.",
}
LOSES = ("fused_softmax.*",)


def launch(rows, columns):
    return rows, 64, 4 * columns
