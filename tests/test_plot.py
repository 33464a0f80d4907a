"""The figures' style: the same bytes every time, readable in grey, and nothing of the caller's changed."""

import io
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from tinyattn import plot


def png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def draw():
    x = 2.0 ** np.arange(10)
    figure, (left, right) = plot.axes(2)
    plot.theory(left, x, x, "theory")
    plot.measured(left, x, x * np.linspace(0.5, 1.5, 5)[:, None], label="points", series=1)
    plot.label(left, title="title", x="width", y="variance", log_x=2, log_y=10)
    plot.heatmap(right, [[0.0, 1.0, -np.inf], [0.5, np.nan, 0.25]], rows="ab", columns="xyz")
    return figure


def test_one_drawing_gives_the_same_bytes_whatever_the_users_own_style_is():
    first = png(draw())
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.facecolor": "red"}):
        second = png(draw())
    assert first == second
    assert len(first) < 300_000
    assert dict(matplotlib.rcParams) == before


def test_drawing_needs_no_window_system():
    program = (
        "import sys; from tinyattn import plot; f, ax = plot.axes(); plot.measured(ax, [1, 2], [3, 4]); "
        "f.savefig(sys.argv[1], format='png'); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, "/dev/null" if sys.platform != "win32" else "nul"], check=True)


def test_a_missing_matplotlib_costs_one_sentence_with_the_fix():
    program = "import sys; sys.modules['matplotlib'] = None; from tinyattn import plot"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "pip install matplotlib" in ended.stderr


def test_series_differ_without_their_colours():
    grey = [np.dot(to_rgb(colour), [0.299, 0.587, 0.114]) for colour in plot.COLOURS[:4]]
    assert np.diff(grey).min() > 0.1
    assert len(set(plot.MARKERS)) == len(plot.MARKERS) == len(plot.COLOURS) == len(set(plot.DASHES))


def test_the_band_holds_the_middle_of_the_seeds():
    samples = np.random.default_rng(0).permutation(np.arange(101.0))[:, None] * [1, 10]
    middle, low, high = plot.spread(samples)
    np.testing.assert_allclose([middle, low, high], [[50, 500], [10, 100], [90, 900]])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (0.25, "0.25"), (4096, "4,096"), (1e5, "$10^{5}$"), (3e-7, "$3\\times$$10^{-7}$"), (0, "0")],
)
def test_ticks_are_plain_numbers_until_they_grow_long(value, text):
    assert plot.number(value) == text


def test_a_short_logarithmic_axis_has_more_than_one_tick():
    _, ax = plot.axes()
    plot.theory(ax, [1, 2, 3], [0.03, 0.1, 0.3])
    plot.label(ax, log_y=10)
    low, high = ax.get_ylim()
    assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 3


def test_minus_infinity_is_written_and_hatched():
    _, ax = plot.axes()
    plot.heatmap(ax, [[1.0, -np.inf]])
    assert [text.get_text() for text in ax.texts] == ["1.00", "$-\\infty$"]
    assert [patch.get_hatch() for patch in ax.patches] == ["////"]
