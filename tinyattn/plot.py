"""The one style of the figures: theory is a line, a measurement is points with a band. The only matplotlib import.

    figure, (left, right) = plot.axes(2)
    plot.theory(left, x, x, "theory: $d_k$")
    plot.measured(left, x, samples, label="normal entries")     # (seeds, len(x)), or a middle with low and high
    plot.label(left, title="...", x="key width $d_k$", y="variance", log_x=2, log_y=10)

Series differ in colour, in grey value, in marker and in dash. Figures are drawn without pyplot, so that no window
system is needed and a program's own plots stay as they are.
"""

import sys
from functools import wraps

import numpy as np

try:
    from matplotlib import figure as _figure
    from matplotlib import style as _style
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
except ImportError as error:
    from tinyattn.lesson import stop

    stop(f"figures need matplotlib, which does not import here ({error}): {sys.executable} -m pip install matplotlib")

COLOURS = ("#0b2f6b", "#a8321f", "#3d9a8b", "#e0a526", "#8c6bb1", "#9a9a9a")  # the first four differ most in grey
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
STYLE = {
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.edgecolor": "none",
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "hatch.linewidth": 0.5,
}


def style():
    """`with plot.style():` around direct calls of matplotlib gives them this style, whatever the user's own is."""
    return _style.context(["default", STYLE])


def _styled(function):
    @wraps(function)
    def inside(*args, **kwargs):
        with style():
            return function(*args, **kwargs)

    return inside


class Figure(_figure.Figure):
    """A figure that is also drawn in the style, since ticks are made while drawing."""

    savefig = _styled(_figure.Figure.savefig)


@_styled
def axes(n=1, columns=None, width=4.6, height=3.7, **options):
    """(figure, axes): one axes for n=1, else an array of n, `columns` to a row; width and height: inches for each."""
    columns = columns or min(n, 3)
    rows = -(-n // columns)
    figure = Figure(figsize=(width * columns, height * rows))
    panels = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for unused in panels[n:]:
        unused.remove()
    return figure, panels[0] if n == 1 else panels[:n]


@_styled
def theory(ax, x, y, label=None, series=None):
    """What the formula says: a line, black or in the colour and dash of a series."""
    colour, dash = ("black", "-") if series is None else (COLOURS[series], DASHES[series])
    ax.plot(x, y, color=colour, linestyle=dash, label=label, zorder=2)


@_styled
def measured(ax, x, y, low=None, high=None, label=None, series=0, join=False, bars=False):
    """What was measured: points, and a band from low to high. y of shape (seeds, len(x)) is taken to its `spread`.

    join=True connects the points by a thin line in the series' dash, for where no theory line guides the eye. bars=True
    draws a bar at each point instead of the band, for several series that lie on top of each other.
    """
    if np.ndim(y) == 2:
        y, low, high = spread(y)
    if bars:
        ax.vlines(x, low, high, color=COLOURS[series], linewidth=1, zorder=2)
    elif low is not None:
        ax.fill_between(x, low, high, color=COLOURS[series], alpha=0.22, linewidth=0, zorder=1)
    points = {"marker": MARKERS[series], "markeredgecolor": "white", "markeredgewidth": 0.6, "label": label}
    ax.plot(x, y, color=COLOURS[series], linestyle=DASHES[series] if join else "none", linewidth=1, zorder=3, **points)


def spread(samples, share=0.8):
    """(middle, low, high) over the seeds along axis 0: the median, and the band that holds `share` of them."""
    outside = (1 - share) / 2
    middle, low, high = np.quantile(samples, [0.5, outside, 1 - outside], axis=0)
    return middle, low, high


@_styled
def label(ax, title=None, x=None, y=None, log_x=None, log_y=None, legend="best", **limits):
    """Title, axis names with units, the base of logarithmic axes, limits (xlim=, ylim=) and the legend in one call.

    legend is the place of the legend, or a dict of matplotlib's options for it, or None.
    """
    if log_x:
        _logarithmic(ax, "x", log_x)
    if log_y:
        _logarithmic(ax, "y", log_y)
    ax.set(**{name: text for name, text in {"title": title, "xlabel": x, "ylabel": y}.items() if text}, **limits)
    if legend and ax.get_legend_handles_labels()[1]:
        ax.legend(**(legend if isinstance(legend, dict) else {"loc": legend}))


def _logarithmic(ax, which, base):
    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = axis.get_view_interval()
    within = (1, 2, 5) if base == 10 and high / low < 50 else (1,)  # a short axis needs more than one tick
    axis.set_major_locator(LogLocator(base, within, numticks=8))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def number(value):
    """A tick's text: 0.01, 64, 4,096, and powers of ten where that grows long."""
    if 1e-3 < abs(value) < 1e5 or value == 0:
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    exponent = np.floor(np.log10(abs(value)) + 1e-9)
    factor = value / 10**exponent
    return (f"${factor:.2g}\\times$" if abs(factor - 1) > 1e-6 else "") + f"$10^{{{exponent:.0f}}}$"


@_styled
def note(ax, x, y, text, **options):
    """Words inside the axes, at x and y in data units; `xytext` and `arrowprops` as in matplotlib's annotate."""
    ax.annotate(text, (x, y), **{"fontsize": 9, "zorder": 4, **options})


@_styled
def heatmap(ax, matrix, values="{:.2f}", low=None, high=None, rows=None, columns=None):
    """A matrix as shaded cells with the numbers in them; -inf is hatched. rows and columns name the cells' sides."""
    matrix = np.asarray(matrix, float)
    finite = matrix[np.isfinite(matrix)]
    low = finite.min(initial=0) if low is None else low
    high = finite.max(initial=low) if high is None else high
    top = high + 0.4 * (high - low or 1)  # leaves out the darkest greys
    ax.imshow(np.where(np.isfinite(matrix), matrix, np.nan), cmap="Greys", vmin=low, vmax=top)
    for (i, j), value in np.ndenumerate(matrix):
        if not np.isfinite(value):
            ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor="white", edgecolor="#999999", hatch="////"))
        dark = np.isfinite(value) and value > low + 0.75 * (high - low)
        text = values.format(value) if np.isfinite(value) else str(value).replace("-inf", "$-\\infty$")
        ax.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xticks(range(matrix.shape[1]), range(matrix.shape[1]) if columns is None else columns)
    ax.set_yticks(range(matrix.shape[0]), range(matrix.shape[0]) if rows is None else rows)


def window_system():
    """The backend that matplotlib picks for windows here, and whether it can open any."""
    from matplotlib import pyplot  # here alone: it picks the backend

    backend = pyplot.get_backend()
    return backend, backend.lower() not in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def show(path):
    """Opens a saved figure in a window and waits until it is closed; without a display it says where the file is."""
    from matplotlib import pyplot

    try:
        picture = pyplot.imread(path)
        window = pyplot.figure(path.stem, figsize=(picture.shape[1] / 100, picture.shape[0] / 100), dpi=100)
        window.figimage(picture)
        _, can_open = window_system()
        if can_open:
            pyplot.show(block=True)
        pyplot.close(window)
    except Exception as error:  # every window system has errors of its own for a missing display
        can_open = False
        print(f"({type(error).__name__}: {error})", file=sys.stderr)
    if not can_open:
        print(f"there is no display to open a window on: look at {path}", file=sys.stderr)
