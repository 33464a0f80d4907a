"""Takes rights away from the process that will run a student's code. Standard library only; imported by the worker.

`confine` returns the names of the protections that hold. Each is tried and none is assumed: a container may forbid
namespaces, a kernel may lack Landlock, a laptop's user cannot change its uid. SECURITY.md says what each one stops.
"""

import contextlib
import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Iterable
from typing import Any

NOBODY = 65534
_NEW_USER, _NEW_PID, _NEW_NET, _NEW_IPC, _NEW_MOUNT = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000
_READ_ONLY, _NO_SUID, _NO_DEV, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_DETACH = 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same numbers on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 2, 4, 8, 1 << 14

# Refused system calls: new processes and programs, the network, other processes, namespaces, and rare corners.
_REFUSED: dict[str, dict[str, Any]] = {
    "x86_64": {
        "audit": 0xC000003E, "clone": 56, "clone3": 435, "exec": (59, 322), "fork": (57, 58),
        "other": (41, 53, 62, 101, 109, 112, 155, 161, 165, 166, 200, 234, 248, 249, 250, 272, 298, 308, 310, 311, 321,
                  323, 424, 425, 434, 438, 440),
    },
    "aarch64": {
        "audit": 0xC00000B7, "clone": 220, "clone3": 435, "exec": (221, 281), "fork": (),
        "other": (39, 40, 41, 51, 97, 117, 129, 130, 131, 154, 157, 198, 199, 217, 218, 219, 241, 268, 270, 271, 280,
                  282, 424, 425, 434, 438, 440),
    },
}  # fmt: skip


class _Unavailable(OSError):
    """The kernel refused a protection."""


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _must(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise _Unavailable(code, os.strerror(code))
    return result


def namespaces() -> list[str]:
    """Puts this process's next child into namespaces of its own: processes, network, IPC and mounts."""
    libc, uid, gid = _libc(), os.getuid(), os.getgid()
    wanted = _NEW_PID | _NEW_NET | _NEW_IPC | _NEW_MOUNT
    try:
        _must(libc.unshare(wanted if uid == 0 else wanted | _NEW_USER))
        if uid != 0:
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
    except (OSError, AttributeError):
        return []
    return ["process namespace", "network namespace"]


def libraries() -> list[str]:
    """Where the interpreter's library and the shared libraries are."""
    stdlib = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    own = [f"{sys.base_prefix}/{name}" for name in ("lib", "lib64")]
    return [*dict.fromkeys([*stdlib, *own, "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"])]


def libraries_alone() -> list[str]:
    """What is in these folders, but for third-party packages, which lie among it."""
    stdlib = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    found = []
    for place in libraries():
        with contextlib.suppress(OSError):
            found += [
                entry.path
                for entry in (os.scandir(place) if os.path.isdir(place) else ())
                if entry.name not in ("site-packages", "dist-packages")
                and (place in stdlib or not entry.name.startswith("python"))
            ]
    return [*found, "/etc/ld.so.cache"]


def private_root(folder: str, keep: Iterable[str], scratch_mib: int) -> list[str]:
    """Makes `folder` the root of the file system; of everything else only `keep` stays, read-only, at its own path."""
    libc = _libc()
    packages = [os.path.join(sysconfig.get_path("stdlib"), name) for name in ("site-packages", "dist-packages")]
    packages += [f"/usr/lib/python3/{name}" for name in ("site-packages", "dist-packages")]

    def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
        encoded = [text.encode() if text is not None else None for text in (source, target, kind, options)]
        _must(libc.mount(encoded[0], encoded[1], encoded[2], flags, encoded[3]))

    def bind(path: str) -> None:
        target = folder + path
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "a"):
                pass
        mount(path, target, None, _BIND | _RECURSIVE)
        with contextlib.suppress(
            OSError
        ):  # a user namespace may not lift flags that it inherited; Landlock still holds
            mount(None, target, None, _BIND | _REMOUNT | _READ_ONLY | _NO_SUID | _NO_DEV)

    try:
        mount(None, "/", None, _RECURSIVE | _PRIVATE)
        mount("tmpfs", folder, "tmpfs", _NO_SUID | _NO_DEV, f"size={scratch_mib}m,mode=755")
        for path in libraries():
            if os.path.exists(path) and not os.path.exists(folder + path):
                bind(path)
        for path in packages:
            if os.path.isdir(folder + path):
                mount("tmpfs", folder + path, "tmpfs", _NO_SUID | _NO_DEV, "size=1m,mode=755")
        for path in keep:
            bind(path)
        os.mkdir(folder + "/here")
        os.chmod(folder + "/here", 0o777)
        os.chdir(folder)
        _must(libc.pivot_root(b".", b"."))
        _must(libc.umount2(b".", _DETACH))
        os.chdir("/here")
    except (OSError, AttributeError):
        os.chdir("/")
        return []
    return ["private root"]


def drop_rights() -> list[str]:
    """Becomes an unprivileged user if root, and gives up every capability."""
    names = []
    if os.getuid() == 0 and can_read_as_nobody():
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            names.append("other user")
    with contextlib.suppress(OSError, AttributeError):
        none = struct.pack("6I", 0, 0, 0, 0, 0, 0)
        _must(_libc().capset(struct.pack("Ii", 0x20080522, 0), none))
        names.append("no capabilities")
    return names


def can_read_as_nobody() -> bool:
    """Whether every folder on the way to the standard library lets any user through."""
    path = os.path.realpath(sysconfig.get_path("stdlib"))
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def limits(memory: int | None, seconds: int, file_size: int, processes: int) -> list[str]:
    """Limits on memory, processor time, files, open files, processes and core dumps."""
    wanted = [
        ("RLIMIT_AS", memory),
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_FSIZE", file_size),
        ("RLIMIT_NOFILE", 64),
        ("RLIMIT_NPROC", processes),
        ("RLIMIT_CORE", 0),
    ]
    held = True
    for name, value in wanted:
        if value is None:
            continue
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (ValueError, OSError, AttributeError):
            held = False
    return ["limits"] if held else ["some limits"]


def landlock(readable: Iterable[str], writable: Iterable[str], run_programs: bool) -> list[str]:
    """Makes other files unreadable, every file unwritable, and TCP and signals to others impossible (Linux 5.13+)."""
    if sys.platform != "linux":
        return []
    libc = _libc()
    libc.syscall.restype = ctypes.c_long
    try:
        version = _must(libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1))
        handled = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
        rules = struct.pack("QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        ruleset = _must(libc.syscall(_LANDLOCK_CREATE, rules, ctypes.c_size_t(size), 0))
        read = _READ_FILE | _READ_DIR | (_EXECUTE if run_programs else 0)
        for path, access in [*((p, read) for p in readable), *((p, handled) for p in writable)]:
            with contextlib.suppress(FileNotFoundError, PermissionError):
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
                if not os.path.isdir(path):
                    access &= _READ_FILE | _EXECUTE
                rule = struct.pack("=Qi", access & handled, place)
                _must(libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0))
                os.close(place)
        _must(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0))
        os.close(ruleset)
    except OSError:
        return []
    return [f"Landlock {version}"]


def no_new_rights() -> None:
    """No set-user-id program gives rights back (Landlock and seccomp ask for it); no life beyond the warden's."""
    with contextlib.suppress(OSError, AttributeError):
        _must(_libc().prctl(38, 1, 0, 0, 0))
        _must(_libc().prctl(1, signal.SIGKILL, 0, 0, 0))


def adopt_orphans() -> None:
    """Makes this process the parent of every descendant whose own parent dies, so that it can end them."""
    with contextlib.suppress(OSError, AttributeError):
        _must(_libc().prctl(36, 1, 0, 0, 0))


def refuse_calls(run_programs: bool) -> list[str]:
    """A seccomp filter: no new process, program, socket, trace, namespace or session; threads stay possible."""
    calls = _REFUSED.get(platform.machine())
    if calls is None:
        return []
    load, jump_equal, jump_above, jump_set, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, absent = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
    code: list[tuple[int, int, int, int]] = [
        (load, 0, 0, 4), (jump_equal, 1, 0, calls["audit"]), (give, 0, 0, refuse),
        (load, 0, 0, 0), (jump_above, 0, 1, 0x40000000), (give, 0, 0, refuse),
    ]  # fmt: skip
    if not run_programs:
        # clone may make threads only; clone3 hides its flags behind a pointer, and glibc falls back when it is absent.
        code += [
            (jump_equal, 0, 1, calls["clone3"]), (give, 0, 0, absent),
            (jump_equal, 0, 4, calls["clone"]), (load, 0, 0, 16), (jump_set, 1, 0, 0x10000), (give, 0, 0, refuse),
            (give, 0, 0, allow),
        ]  # fmt: skip
    for number in (*calls["other"], *(() if run_programs else (*calls["exec"], *calls["fork"]))):
        code += [(jump_equal, 0, 1, number), (give, 0, 0, refuse)]
    code.append((give, 0, 0, allow))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    try:
        _must(_libc().prctl(22, 2, header, 0, 0))
    except (OSError, AttributeError):
        return []
    return ["no processes or sockets"] if not run_programs else ["no sockets"]


def confine(policy: dict[str, Any], folder: str, packages: list[str], separate: bool) -> list[str]:
    """Applies everything that this machine allows, in the order in which one protection permits the next."""
    keep = [*packages, *policy["read"], *policy["modules"]]
    names = private_root(folder, keep, policy["scratch_mib"]) if separate else []
    names += drop_rights()
    processes = 4096 if policy["run_programs"] else 64  # of this user, whose other programs may count too
    names += limits(policy["memory"], policy["seconds"], policy["scratch_mib"] << 20, processes)
    no_new_rights()
    here = [os.getcwd()]
    readable = libraries() if "private root" in names else libraries_alone()  # the private root has no packages in them
    names += landlock([*readable, *keep, *here], here if policy["scratch"] else [], policy["run_programs"])
    names += refuse_calls(policy["run_programs"])
    return names
