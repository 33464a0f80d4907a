"""What can go wrong with an emulated kernel."""


class Unavailable(RuntimeError):
    """The emulator cannot run on this machine; the message says what to install."""


class KernelError(RuntimeError):
    """A fault in a kernel: `.kind`, `.kernel`, `.file`, `.line`, `.block`, `.thread` and, in words, `.detail`."""

    def __init__(self, kind, *, kernel=None, file=None, line=None, block=None, thread=None, detail=""):
        self.kind, self.kernel, self.file, self.line = kind, kernel, file, line
        self.block, self.thread, self.detail = block, thread, detail
        where = [f"kernel {kernel}"] if kernel else []
        where += [f"{file} line {line}" if line else file] if file else []
        where += [f"block {block}"] if block else []
        where += [f"thread {thread}"] if thread else []
        super().__init__(f"{kind}: {', '.join(where)}: {detail}")
