"""Work for all cores: tasks shared among threads, while BLAS keeps to one thread for each of them.

NumPy releases the interpreter's lock inside its loops, so Python threads do compute side by side. A BLAS that splits
every small product over all cores on top would only get in their way.
"""

import os
import threading
from contextlib import contextmanager
from functools import cache

import numpy as np

from tinyattn.attention.blas import blas_threads


class Tasks:
    """An iterator that several workers share: each item goes to one of them, and none after one of them failed."""

    def __init__(self, items):
        self.failed = False
        self._items = iter(items)
        self._lock = threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            if self.failed:
                raise StopIteration
            return next(self._items)

    def parts(self, parts):
        """The parts of one long item, cut short when any worker has failed or Ctrl-C arrived."""
        for part in parts:
            if self.failed:
                return
            yield part

    def run(self, work):
        try:
            with np.errstate(all="ignore"):  # a pool's thread does not have the caller's settings, so nobody's count
                work(self)
        except BaseException:
            self.failed = True
            raise


def share(work, items, workers=None):
    """Calls work(tasks) in every worker at once; the iterator `tasks` gives each of the items to one of them.

    There are as many workers as threads that BLAS would use, so OPENBLAS_NUM_THREADS and threadpoolctl count, and at
    most one an item. The caller is one of them: Ctrl-C reaches it between two calls of NumPy, and stops the others.
    """
    from concurrent.futures import wait  # not with the package, whose import it would slow down by a fifth

    keep_memory()
    tasks = Tasks(items)
    with one_blas_thread() as cores:
        others = [_pool().submit(tasks.run, work) for _ in range(min(workers or cores, len(items)) - 1)]
        try:
            tasks.run(work)
            others = [other for other in others if not other.cancel()]  # the pool may never have come to it
            wait(others)
        except BaseException:
            tasks.failed = True
            wait([other for other in others if not other.cancel()])
            raise
    for other in others:
        other.result()


@cache
def keep_memory():
    """Has malloc keep up to 62 MiB of what is freed for the next call: new memory costs a fault for every page.

    glibc keeps twice the largest block that it has seen being freed (mallopt(3), M_MMAP_THRESHOLD), if below 32 MiB.
    This one is never written to. Other C libraries take no notice.
    """
    np.empty(31 * 2**20, np.uint8)


@cache
def _pool():
    from concurrent.futures import ThreadPoolExecutor

    if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
        os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(max_workers=max(4, os.cpu_count() or 1), thread_name_prefix="tinyattn")


_callers = 0
_threads_before = 1
_blas_lock = threading.Lock()


@contextmanager
def one_blas_thread():
    """BLAS at one thread inside, and as it was when the last of all callers has left; yields how many it had.

    Without control over BLAS (MKL, Accelerate, none) it yields 1: one worker, whose BLAS does as it likes.
    """
    global _callers, _threads_before
    get_threads, set_threads = blas_threads()
    entered = False
    try:
        with _blas_lock:
            if _callers == 0:
                _threads_before = get_threads()
            _callers, entered = _callers + 1, True
            set_threads(1)
        yield _threads_before
    finally:
        with _blas_lock:
            _callers -= entered
            if _callers == 0:
                set_threads(_threads_before)
