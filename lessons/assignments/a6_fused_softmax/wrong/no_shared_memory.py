"""The launch asks for too little dynamic shared memory."""

HINTS = {
    "question": "How many bytes does extern __shared__ float row[] have?",
    "concept": "Dynamic shared memory is as large as the launch says, in bytes: 4 for each float.",
    "place": "In launch, return 4 * columns as the third number.",
}
LOSES = ("fused_softmax.*",)


def launch(rows, columns):
    return rows, 128, columns
