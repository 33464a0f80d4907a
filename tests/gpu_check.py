"""Everything that only a GPU can tell, in one command and under two minutes; needs NumPy, CuPy and this repository.

    python tests/gpu_check.py                      checks and measures, writes tests/gpu/DEVICE.json
    python tests/gpu_check.py --figure FILE.json   draws figures/gpu_softmax.png from it (needs matplotlib)
    python tests/gpu_check.py --device emulated    the checks alone, on the CPU: to see that this script is in order

Checked: every softmax kernel and tiled attention against float64, attention by every path and the table of ops on the
GPU against the CPU, streams, views that are not packed; tiled attention also against PyTorch, where it has the GPU.
Measured, in turns: bandwidth (bytes read and written once each, by the clock) of the fused softmax, of a copy on the
device, of CuPy's own softmax and, where they are installed, PyTorch's and Triton's, for rows of 64 to 65,536 numbers.
Please commit the JSON.
"""

import argparse
import hashlib
import json
import math
import platform
import sys
import time
import traceback
from importlib import metadata
from pathlib import Path

import numpy as np
from op_table import TABLE
from softmax_budget import chain_of, gradient_error, weights_error

import tinyattn as ta
from tinyattn import kernels
from tinyattn.attention import step3_softmax
from tinyattn.backend import import_cupy, to_device

HERE = Path(__file__).resolve().parent
SOURCE = Path(step3_softmax.__file__).with_suffix(".cu")
DTYPES = ("float32", "float16")
ROUNDS = 15
GOAL_COPY, GOAL_TORCH, GOAL_BYTES = 0.9, 1.0, 2**28


def normal(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# -------------------------------------------------------------------------------------------------------- checks


def check_ladder(device):
    """softmax_naive, softmax_warp and softmax_block against float64."""
    rows, columns = 37, 1000
    scores = normal(rows, columns)
    launches = {
        "softmax_naive": (2, 32, (rows, columns), columns),
        "softmax_warp": (10, (32, 4), (rows, columns), 4 * (columns / 32 + 10)),
        "softmax_block": (rows, 128, (columns,), 4 * (columns / 128 + 10)),
    }
    errors = {}
    for name, (grid, block, sizes, chain) in launches.items():
        x, weights = to_device(scores, device), to_device(np.zeros_like(scores), device)
        kernels.load(SOURCE, device).get_function(name)(grid, block, (x, weights, *sizes))
        errors[name] = weights_error(to_device(weights, "cpu"), scores, chain)
    return errors


def check_fused(device):
    """The engine's kernels and their gradients, by dtype, row length and mask."""
    errors = {}
    for dtype in DTYPES:
        for columns in (1, 33, 64, 257, 1000, 1024, 1025, 4100, 20_000, 25_000, 65_536):
            rows = 3 if columns > 1100 else 200
            for kind in ("none", "keep", "bias"):
                scores, upstream = normal(rows, columns, dtype=dtype), normal(rows, columns, dtype=dtype, seed=1)
                bias = normal(1, columns, seed=2) if kind == "bias" else None
                keep = np.random.default_rng(3).random((rows, columns)) > 0.5 if kind == "keep" else None
                if keep is not None:
                    keep[0] = False
                x = ta.Tensor(scores, requires_grad=True, device=device)
                moved = [None if m is None else to_device(m, device) for m in (bias, keep)]
                weights = step3_softmax.fused_softmax(x, moved[0], keep=moved[1], factor=0.7)
                weights.backward(to_device(upstream, device))
                w, chain = weights.numpy(), chain_of(columns)
                errors[f"{dtype} {columns} {kind}"] = max(
                    weights_error(w, scores, chain, factor=0.7, bias=bias, keep=keep),
                    gradient_error(to_device(x.grad, "cpu"), w, upstream, chain, factor=0.7),
                )
    return errors


def check_attention(device):
    """scaled_dot_product_attention and its gradients against the CPU, as shares of the tolerance."""
    cases = {
        "plain": {},
        "causal": {"is_causal": True},
        "keep": {"attn_mask": np.random.default_rng(5).random((7, 11)) > 0.4},
        "bias": {"attn_mask": normal(2, 1, 7, 11, seed=6).astype("float32")},
        "window": {"window": (2, 1)},
        "dropout": {"dropout_p": 0.3, "rng": 3},
    }
    tolerance = {"float64": 1e-12, "float32": 5e-6, "float16": 5e-3}
    errors = {}
    for dtype, limit in tolerance.items():
        inputs = [normal(2, 3, 7, 5, dtype=dtype), normal(2, 3, 11, 5, dtype=dtype), normal(2, 3, 11, 6, dtype=dtype)]
        for method in ("steps", "tiled", "auto"):
            for name, case in cases.items():
                sides = []
                for where in ("cpu", device):
                    leaves = [ta.Tensor(x, requires_grad=True, device=where) for x in inputs]
                    case_there = {k: to_device(v, where) if isinstance(v, np.ndarray) else v for k, v in case.items()}
                    output = ta.scaled_dot_product_attention(*leaves, method=method, **case_there)
                    output.backward(to_device(normal(2, 3, 7, 6, dtype=dtype, seed=9), where))
                    sides.append([output.numpy(), *(to_device(leaf.grad, "cpu") for leaf in leaves)])
                worst = max(np.abs(a.astype(float) - b.astype(float)).max() for a, b in zip(*sides, strict=True))
                errors[f"{dtype} {method} {name}"] = float(worst / limit)
    return errors


def check_tiled(device):
    """Attention without the table, output and gradients: against float64, and on a GPU against PyTorch's own."""
    torch = torch_on_gpu() if device == "cuda" else None
    errors = {}
    for dtype, tolerance in (("float32", 2e-5), ("float16", 5e-3)):
        for n, width, is_causal in ((130, 64, False), (130, 64, True), (257, 128, True)):
            arrays = [normal(2, 3, n, width, dtype=dtype, seed=seed) for seed in range(4)]

            def run(method, where, precision, arrays=arrays, is_causal=is_causal):
                leaves = [ta.Tensor(x, requires_grad=True, dtype=precision, device=where) for x in arrays[:3]]
                output = ta.scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method)
                output.backward(to_device(arrays[3].astype(precision), where))
                return [output.numpy(), *(to_device(leaf.grad, "cpu") for leaf in leaves)]

            ours, others = run("tiled", device, dtype), {"float64": run("steps", "cpu", np.float64)}
            if torch:
                leaves = [torch.tensor(x, device="cuda", requires_grad=True) for x in arrays[:3]]
                output = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=is_causal)
                output.backward(torch.tensor(arrays[3], device="cuda"))
                others["PyTorch"] = [x.detach().cpu().numpy() for x in (output, *(leaf.grad for leaf in leaves))]
            for name, theirs in others.items():
                worst = max(np.abs(a.astype(float) - b).max() for a, b in zip(ours, theirs, strict=True))
                errors[f"{dtype} {n} {width} {'causal ' * is_causal}{name}"] = float(worst / tolerance)
    return errors


def torch_on_gpu():
    """PyTorch, if it is installed with a GPU."""
    try:
        import torch
    except ImportError as error:
        print(f"  left out: {error}")
        return None
    return torch if torch.cuda.is_available() else None


def check_ops(device):
    """The table of ops of the tests: each row on this device against the CPU, value and gradients, in float64."""
    errors = {}
    for row in TABLE:
        random = np.random.default_rng(7)
        arrays = [random.normal(size=x) if isinstance(x, tuple) else x for x in row.inputs]
        sides = []
        for where in ("cpu", device):
            leaves = [ta.Tensor(x, requires_grad=True, device=where) for x in arrays]
            output = row.call(*leaves)
            if output.requires_grad:
                output.backward(to_device(normal(*output.shape, dtype="float64", seed=8), where))
            grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
            sides.append([output.numpy(), *(to_device(grad, "cpu") for grad in grads)])
        worst = max(np.abs(a - b).max(initial=0) for a, b in zip(*sides, strict=True))
        errors[f"{row.function.__name__} {row.note}".strip()] = float(worst / 1e-11)
    return errors


def check_views(device):
    """Transposed, sliced, broadcast and misaligned arrays give what their packed copies give."""
    x = to_device(normal(40, 6, 129), device)
    views = {
        "transposed": x.transpose(2, 1, 0),
        "sliced": x[:, :, ::2],
        "reversed": x[::-1, :, ::-1],
        "misaligned": x.ravel()[1 : 1 + 64 * 400].reshape(400, 64),
        "broadcast": x[:1] + 0 * x if device != "cuda" else sys.modules["cupy"].broadcast_to(x[:1], x.shape),
    }
    errors = {}
    for name, view in views.items():
        got, packed = (
            ta.softmax(ta.as_tensor(view, device=device)),
            ta.softmax(ta.as_tensor(view.copy(order="C"), device=device)),
        )
        # packs of four and single numbers are added up in another order
        errors[name] = float(np.abs(got.numpy() - packed.numpy()).max() / 1e-6)
    return errors


def check_streams(device):
    """A kernel between two CuPy operations on a stream of its own."""
    if device != "cuda":
        return {}
    cupy = sys.modules["cupy"]
    scores = cupy.asarray(normal(4000, 3000))
    expected = ta.softmax(ta.as_tensor(scores * 2 + 1)).data * 3
    with cupy.cuda.Stream(non_blocking=True) as stream:
        got = ta.softmax(ta.as_tensor(scores * 2 + 1)).data * 3
        stream.synchronize()
    return {"non-blocking": 0.0 if bool((got == expected).all()) else 2.0}


CHECKS = (check_ladder, check_fused, check_attention, check_tiled, check_ops, check_views, check_streams)


def run_checks(device):
    """{check: {"worst": share of its tolerance, "case": where, "cases": how many}}; an exception counts as infinite."""
    results = {}
    for check in CHECKS:
        name, start = check.__name__.removeprefix("check_"), time.perf_counter()
        try:
            errors = check(device)
        except Exception:  # whatever happens here is the finding; the other checks shall run
            traceback.print_exc()
            errors = {"raised " + traceback.format_exc().strip().splitlines()[-1]: math.inf}
        case = max(errors, key=errors.get, default="none")
        results[name] = {"worst": errors.get(case, 0.0), "case": case, "cases": len(errors)}
        verdict = "ok" if results[name]["worst"] <= 1 else "WRONG"
        print(
            f"{verdict:6} {name:10} {len(errors):4} cases, the worst at {results[name]['worst']:.2g} of its tolerance "
            f"({case}), {time.perf_counter() - start:.1f} s"
        )
    return results


# ----------------------------------------------------------------------------------------------------- bandwidth


def contenders(cupy, scores, out):
    """{name: function without arguments}: each computes the softmax of scores, or copies it, on the current stream."""
    rows, columns = scores.shape
    keep = cupy.ones((1, columns), bool)
    number = cupy.zeros(rows, np.int32)
    bias = cupy.zeros((1, columns), np.float32)

    def fused(*masks):
        return lambda: step3_softmax._launch("fused", 1, (scores, out), (np.float32(0.5), *masks))

    def composed():
        powers = cupy.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    functions = {
        "copy": lambda: cupy.copyto(out, scores),
        "fused": fused(None, None, None),
        "fused, keep": fused(keep, None, number),
        "fused, bias": fused(None, bias, number),
        "CuPy composed": composed,
    }
    try:
        import torch

        if torch.cuda.is_available():
            tensor = torch.from_dlpack(scores)
            functions["PyTorch"] = lambda: torch.softmax(tensor, -1)
            functions["Triton"] = triton_softmax(torch, tensor)
    except ImportError as error:
        print(f"  left out: {error}")
    return {name: function for name, function in functions.items() if function}


def triton_softmax(torch, tensor):
    """One row a program, held whole; None where Triton is not installed."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit
    def kernel(x_pointer, y_pointer, columns, BLOCK: tl.constexpr):
        row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
        x = tl.load(x_pointer + row * columns + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        y = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_pointer + row * columns + i, y / tl.sum(y, axis=0), mask=i < columns)

    result, (rows, columns) = torch.empty_like(tensor), tensor.shape
    block = triton.next_power_of_2(columns)
    warps = min(32, max(4, block // 1024))
    return lambda: kernel[(rows,)](tensor, result, columns, BLOCK=block, num_warps=warps)


def milliseconds(cupy, functions):
    """{name: a time for each round}: the contenders take turns, so that a change of the clock meets them all."""
    taken = {name: [] for name in functions}
    for turn in range(ROUNDS + 2):  # two to warm up
        for name, function in functions.items():
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            function()
            end.record()
            end.synchronize()
            if turn >= 2:
                taken[name].append(cupy.cuda.get_elapsed_time(begin, end))
    return taken


def measure(cupy, sizes=(GOAL_BYTES, 2**30)):
    """Rows of results: dtype, columns, bytes of one table, contender, median and quartiles of GB/s."""
    results = []
    free = cupy.cuda.Device().mem_info[0]
    for size in sizes:
        if free < 8 * size:
            print(f"  tables of {size >> 20} MiB are left out: {free >> 20} MiB of GPU memory are free")
            continue
        for dtype in DTYPES:
            for columns in (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
                if size != sizes[0] and columns not in (1024, 4096, 65536):
                    continue
                rows = size // (columns * np.dtype(dtype).itemsize)
                scores = cupy.empty((rows, columns), dtype)
                scores[:] = cupy.asarray(normal(1, columns, dtype=dtype))
                out = cupy.empty_like(scores)
                functions = contenders(cupy, scores, out)
                for name, taken in milliseconds(cupy, functions).items():
                    low, middle, high = np.percentile([2 * scores.nbytes / t / 1e6 for t in taken], (25, 50, 75))
                    results.append(
                        {
                            "dtype": dtype, "columns": columns, "bytes": size, "contender": name,
                            "GB/s": middle, "GB/s low": low, "GB/s high": high,
                        }
                    )  # fmt: skip
                line = {r["contender"]: r["GB/s"] for r in results[-len(functions) :]}
                print(f"  {size >> 20} MiB {dtype} x {columns}: " + ", ".join(f"{k} {v:.0f}" for k, v in line.items()))
                del scores, out, functions
                cupy.get_default_memory_pool().free_all_blocks()
    return results


def goals(results):
    """The fused softmax beside the copy and PyTorch: the smallest ratio of bandwidths over all row lengths."""
    speed = {(r["dtype"], r["columns"], r["bytes"], r["contender"]): r["GB/s"] for r in results}
    found = {}
    for other, goal in (("copy", GOAL_COPY), ("PyTorch", GOAL_TORCH)):
        ratios = {
            key[:3]: value / speed[*key[:3], other]
            for key, value in speed.items()
            if key[3] == "fused" and (*key[:3], other) in speed
        }
        if ratios:
            worst = min(ratios, key=ratios.get)
            least, met = ratios[worst], ratios[worst] >= goal
            found[other] = {"goal": goal, "least": least, "at": list(worst), "met": met}
            print(f"{'met' if met else 'MISSED'}: fused >= {goal} x {other}: {least:.3f} at {worst}")
    return found


def machine(cupy):
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    packages = ("numpy", "cupy-cuda13x", "cupy-cuda12x", "torch", "triton")
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "device": properties["name"].decode(),
        "compute capability": cupy.cuda.Device().compute_capability,
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
        "python": platform.python_version(),
        "versions": versions,
    }


# -------------------------------------------------------------------------------------------------------- figure


def draw(path, folder):
    """The bandwidths of one JSON: a panel for each dtype, against the length of a row."""
    from tinyattn import plot

    found = json.loads(path.read_text(encoding="utf-8"))
    rows = [r for r in found["bandwidth"] if r["bytes"] == found["bandwidth"][0]["bytes"]]
    names = [name for name in dict.fromkeys(r["contender"] for r in rows) if name != "copy"]
    figure, panels = plot.axes(len(DTYPES))
    for panel, dtype in zip(panels, DTYPES, strict=True):
        for series, name in enumerate(["copy", *names]):
            mine = [r for r in rows if (r["dtype"], r["contender"]) == (dtype, name)]
            columns, middle = [r["columns"] for r in mine], [r["GB/s"] for r in mine]
            if name == "copy":
                plot.theory(panel, columns, middle, "copy on the device")
            else:
                low, high = [r["GB/s low"] for r in mine], [r["GB/s high"] for r in mine]
                plot.measured(panel, columns, middle, low, high, label=name, series=series - 1)
        share = min(
            a["GB/s"] / b["GB/s"]
            for a in rows
            for b in rows
            if (a["contender"], b["contender"]) == ("fused", "copy")
            and (a["dtype"], a["columns"]) == (dtype, b["columns"]) == (b["dtype"], b["columns"])
        )
        plot.label(
            panel,
            title=f"{found['machine']['device']}, {dtype}: fused at least {share:.0%} of a copy",
            x="numbers in a row", y="GB/s read and written", log_x=2,
        )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "gpu_softmax.png")
    print(f"wrote {folder / 'gpu_softmax.png'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    parser.add_argument("--out", type=Path, help="where to write the JSON (default: tests/gpu/DEVICE.json)")
    parser.add_argument("--figure", type=Path, metavar="JSON", help="draw this file and do nothing else")
    parser.add_argument("--figures", type=Path, default=HERE.parent / "figures", help="folder of the figure")
    options = parser.parse_args()
    if options.figure:
        return draw(options.figure, options.figures)
    found = {"kernels": hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}
    if options.device == "cuda":
        try:
            cupy = import_cupy()
        except RuntimeError as reason:
            sys.exit(f"gpu_check: {reason}")
        found["machine"] = machine(cupy)
        print(json.dumps(found["machine"]))
    found["checks"] = run_checks(options.device)
    if options.device == "cuda":
        found["bandwidth"] = measure(cupy)
        found["goals"] = goals(found["bandwidth"])
        name = "".join(c if c.isalnum() else "_" for c in found["machine"]["device"]).strip("_")
        path = options.out or HERE / "gpu" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {path}")
    return int(any(result["worst"] > 1 for result in found["checks"].values()))


if __name__ == "__main__":
    sys.exit(main())
