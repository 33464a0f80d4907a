"""The command line, driven as a person drives it: arguments, pipes, a terminal, Ctrl-C."""

import codecs
import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tinyattn import lesson, library, quiz

ROOT = Path(__file__).parents[1]

GOOD = """# %% [markdown]
# # 01 Noise and its mean
#
# **Predict** the variance of a mean of 100 draws.

# %%
import numpy as np

from tinyattn import plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

# %% [markdown]
# Now measure it, on the × axis.

# %%
means = np.random.default_rng(0).normal(size=(200, 100)).mean(axis=1)
print(f"measured {means.var():.3f}")

# %%
figure, ax = plot.axes()
plot.measured(ax, np.arange(200), means)
lesson.save(figure, {"mean": means})
lesson.verdict("the variance is 1/n", abs(means.var() * 100 - 1) < 0.5, f"{means.var():.3f}")
lesson.verdict("the mean is one", abs(means.mean() - 1) < 0.5, f"{means.mean():.1f}")
"""
FAILS = """# %% [markdown]
# # 02 Broken
# %%
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)
# %%
print("about to fail")
1 / 0
"""
SLEEPS = """# %% [markdown]
# # 03 Sleeps
# %%
import time
from pathlib import Path

from tinyattn.lesson import Lesson

lesson = Lesson(__file__)
# %%
try:
    print("asleep", flush=True)
    time.sleep(60)
    print("awake")
finally:
    Path("cleaned up").touch()
"""
NEEDS = """# %% [markdown]
# # 05 Needs a compiler
# %%
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)
lesson.need(False, "there is no compiler: install one")
print("not reached")
"""
QUIZ = """
[[question]]
prompt = "Which one is two?"
options = ["one", "two", "three"]
answer = 1
explanations = ["That is less than two.", "It is.", "That is more than two."]

[[question]]
prompt = "Is zero even?"
options = ["yes", "no"]
answer = 0
explanations = ["Zero is twice zero.", "An odd number is one more than twice another."]
"""
ON_OTHER_LESSONS = """
import sys
from pathlib import Path

if sys.stdin.isatty():
    import fcntl, termios
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C arrives as it does in a terminal
from tinyattn import cli, library
lessons = Path(sys.argv.pop(1))
library.folder = lambda: lessons
sys.exit(cli.main())
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a lesson that works, one that fails and one that takes long, and a quiz."""
    lessons = tmp_path / "some lessons"
    (lessons / "quiz").mkdir(parents=True)
    for name, text in {
        "01_noise.py": GOOD,
        "02_broken.py": FAILS,
        "03_sleeps.py": SLEEPS,
        "quiz/01.toml": QUIZ,
    }.items():
        (lessons / name).write_text(text, encoding="utf-8")
    return lessons


@pytest.fixture
def command(folder, tmp_path):
    """The command `tinyattn` on the folder's lessons, as a list that arguments are added to; run it in tmp_path."""
    return [sys.executable, "-c", ON_OTHER_LESSONS, str(folder)]


@pytest.fixture
def call(command, tmp_path):
    """call(*arguments): the finished process, run in tmp_path with no input."""

    def call(*arguments, stdin="", **options):
        options = {
            "cwd": tmp_path,
            "input": stdin,
            "capture_output": True,
            "encoding": "utf-8",
            "timeout": 60,
        } | options
        return subprocess.run([*command, *arguments], **options, check=False)

    return call


def environment(**changes):
    """This environment, with variables changed or, where they are None, left out."""
    return {name: value for name, value in (os.environ | changes).items() if value is not None}


# ------------------------------------------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["dance"], "invalid choice: 'dance'"),
        (["lessons", "7"], "there is no lesson 7: choose from 1, 2, 3"),
        (["lessons", "1", "0"], "there is no lesson 0"),
        (["lessons", "-1"], "-1"),
        (["lessons", "one"], "invalid int value: 'one'"),
        (["lessons", "--fast"], "unrecognized arguments: --fast"),
        (["lessons", "--device", "tpu"], "invalid choice: 'tpu'"),
        (["lessons", "--figures"], "--figures: expected one argument"),
        (["lessons", "1", "--figures", "file"], "cannot write figures to file"),
        (["lessons", "1", "--figures", "file/below"], "cannot write figures to file/below: Not a directory"),
        (["lessons", "7", "--figures", "new"], "there is no lesson 7"),
        (["quiz", "3"], "there is no quiz 3: choose from 1"),
        (["doctor", "who"], "unrecognized arguments: who"),
    ],
)
def test_a_mistake_costs_one_sentence_and_exit_code_2(call, tmp_path, arguments, sentence):
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    done = call(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.startswith("tinyattn: ")
    assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("script", [False, True], ids=["runner", "script"])
def test_a_folder_without_the_right_to_write(call, folder, tmp_path, script):
    (tmp_path / "locked").mkdir(mode=0o555)
    arguments = ["--figures", str(tmp_path / "locked" / ("deep" if script else ""))]
    limit = ["setpriv", "--bounding-set", "-all"] if os.getuid() == 0 else []  # root may write anywhere
    if limit and subprocess.run([*limit, "true"], capture_output=True, check=False).returncode:
        pytest.skip("root may write anywhere here, and setpriv cannot take that right away")
    command = [sys.executable, str(folder / "01_noise.py"), *arguments]
    if not script:
        command = [sys.executable, "-c", ON_OTHER_LESSONS, str(folder), "lessons", "1", *arguments]
    done = subprocess.run([*limit, *command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "cannot write figures to" in done.stderr
    assert "Permission denied" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_device_that_is_not_there_is_said_before_anything_is_made(call, tmp_path):
    hidden = tmp_path / "hidden" / "cupy"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('no such library')")
    paths = os.pathsep.join([str(hidden.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = call("lessons", "1", "--device", "cuda", "--figures", "new", env=environment(PYTHONPATH=paths))
    assert done.returncode == 2
    assert "device 'cuda' needs CuPy" in done.stderr
    assert not (tmp_path / "new").exists()


def test_no_compiler_no_emulated_device(call, tmp_path):
    done = call("lessons", "1", "--device", "emulated", "--figures", "new", env=environment(PATH="", CXX=None))
    assert done.returncode == 2
    assert "compiler" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_missing_package_costs_one_sentence(call, tmp_path):
    hidden = tmp_path / "hidden" / "rich"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('gone', name='rich')")
    paths = os.pathsep.join([str(hidden.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = call("lessons", "1", env=environment(PYTHONPATH=paths))
    assert done.returncode == 2
    assert "pip install rich" in done.stderr
    assert done.stderr.count("\n") == 1


# --------------------------------------------------------------------------------------------------------- whole


def test_all_lessons_run_though_one_fails(call, folder, tmp_path):
    (folder / "03_sleeps.py").unlink()
    (folder / "04_noise.py").write_text(GOOD.replace("# # 01 Noise and its mean", "# # 04 Once more"), encoding="utf-8")
    (folder / "05_needs.py").write_text(NEEDS)
    done = call("lessons", "--figures", "pictures")
    assert done.returncode == 1
    table = done.stdout[done.stdout.index("Verdicts of 4 lessons") :]
    for text in (
        "01",
        "04",
        "not confirmed here",
        "the variance is 1/n (0.01",
        "failed",
        "ZeroDivisionError",
        "not possible here",
    ):
        assert text in table
    assert "1 / 0" in done.stdout  # the last lines of the lesson that failed
    assert "measured" not in done.stdout
    made = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert made == ["01_noise.csv", "01_noise.png", "04_noise.csv", "04_noise.png"]


def test_a_lesson_that_this_machine_lacks_something_for_is_no_failure(call, folder):
    for other in ("02_broken.py", "03_sleeps.py"):
        (folder / other).unlink()
    (folder / "05_needs.py").write_text(NEEDS)
    done = call("lessons")
    assert done.returncode == 0
    assert "not possible here" in done.stdout
    assert "there is no compiler: install one" in done.stdout
    assert call("lessons", "5").returncode == 2  # asked for by name, it is
    assert call("lessons", "5", "--step", stdin="\n\n").returncode == 69


def test_one_lesson_shows_what_it_prints(call, tmp_path):
    done = call("lessons", "1")
    assert done.returncode == 0, done.stderr
    assert "measured 0.01" in done.stdout
    assert "Verdicts of 1 lesson" in done.stdout
    assert (tmp_path / "figures" / "01_noise.png").exists()  # no clone around it: ./figures


def test_a_lesson_gets_its_options(call, folder):
    (folder / "04_options.py").write_text("import sys\nprint(sys.argv[1:])\n")
    done = call("lessons", "4", "--device", "cpu", "--figures", "pictures", "--show")
    assert "['--device', 'cpu', '--figures', 'pictures', '--show']" in done.stdout


def test_the_list_needs_no_figures_folder(call, tmp_path):
    done = call("lessons", "--list")
    assert done.stdout.splitlines() == ["01 Noise and its mean", "02 Broken", "03 Sleeps"]
    assert call("lessons", "2", "--list").stdout == "02 Broken\n"
    assert not (tmp_path / "figures").exists()


def test_help_is_quick_to_load(call):
    shown = call()
    assert shown.returncode == 0
    for name in ("lessons", "quiz", "doctor"):
        assert f"    {name} " in shown.stdout
    check = "import atexit, sys, tinyattn.cli as c; atexit.register(lambda: print(*sys.modules)); c.main(['--help'])"
    loaded = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout.split()
    assert "tinyattn.cli" in loaded
    assert not {"rich", "matplotlib", "cupy", "subprocess"} & set(loaded)


def test_a_reader_who_leaves_early_is_no_error(command, tmp_path):
    done = subprocess.run(
        ["bash", "-c", '"$@" | true; echo ${PIPESTATUS[0]}', "bash", *command, "lessons", "--list"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout in ("141\n", "0\n")  # 0 where the list was written before the reader left


def test_a_lesson_in_a_terminal_without_unicode(folder, tmp_path):
    path = folder / "04_product.py"
    path.write_text(PRODUCT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True,
        env=environment(PYTHONIOENCODING="ascii"), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"2 ? 3\n"


PRODUCT = """
from tinyattn.lesson import Lesson
lesson = Lesson(__file__)
print("2 × 3")
"""


# ---------------------------------------------------------------------------------------------------- a terminal


class Terminal:
    """A program on a pseudo-terminal: what it shows, and keys for it."""

    def __init__(self, command, cwd):
        self.screen, theirs = os.openpty()
        self.process = subprocess.Popen(
            command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env=environment(TERM="xterm", COLUMNS="100"),
        )  # fmt: skip
        os.close(theirs)
        self.decode = codecs.getincrementaldecoder("utf-8")().decode

    def until(self, text):
        """What the program shows up to and including `text`, without colours."""
        shown = ""
        while text not in (plain := re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)):
            read = self._read(shown)
            assert read is not None, f"the program ended before {text!r}: {shown!r}"
            shown += read
        return plain

    def press(self, keys):
        os.write(self.screen, keys.encode())

    def end(self):
        """What it still shows until it ends, and its exit code."""
        shown = ""
        while (read := self._read(shown)) is not None:
            shown += read
        return shown, self.process.wait(30)

    def _read(self, shown, seconds=30):
        assert select.select([self.screen], [], [], seconds)[0], f"nothing more came after {shown!r}"
        try:
            return self.decode(os.read(self.screen, 1))
        except OSError:  # how Linux says that the other end is closed
            return None

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@pytest.fixture
def terminal(command, tmp_path):
    """terminal(*arguments): the command in a terminal."""
    opened = []

    def terminal(*arguments):
        opened.append(Terminal([*command, *arguments], tmp_path))
        return opened[-1]

    yield terminal
    for one in opened:
        one.close()


PROMPT = "q quit] "


def test_step_through_a_lesson(terminal, folder, tmp_path):
    count = "\nwith open('runs', 'a') as file: file.write('x')\n"
    path = folder / "01_noise.py"
    path.write_text(path.read_text(encoding="utf-8").replace("means = ", count + "means = "), encoding="utf-8")
    screen = terminal("lessons", "1", "--step", "--figures", "pictures")
    shown = screen.until(PROMPT)
    assert "cell 1 of 5" in shown
    assert "Predict the variance" in shown  # Markdown, not its stars
    screen.press("b\n")
    assert "cell 1 of 5" in screen.until(PROMPT)  # nothing before the first
    screen.press("\n")
    assert "lesson = Lesson(__file__)" in screen.until(PROMPT)
    screen.press("\n")
    assert "on the × axis" in screen.until(PROMPT)
    assert not (tmp_path / "runs").exists()
    screen.press("\n")
    code, _, printed = screen.until(PROMPT).partition("measured {means.var():.3f}")
    assert "cell 4 of 5" in code
    assert "measured 0.01" in printed
    screen.press("b\n")
    assert "cell 3 of 5" in screen.until(PROMPT)
    screen.press("what?\n")
    assert "Enter, b or q" in screen.until(PROMPT)
    screen.press("\n")
    assert "measured 0.01" in screen.until(PROMPT).partition("measured {means")[2]
    assert (tmp_path / "runs").read_text() == "x"  # shown again, not run again
    screen.press("\n")
    shown = screen.until(PROMPT)
    assert "confirmed: the variance is 1/n" in shown
    assert "not confirmed here: the mean is one" in shown
    screen.press("\n")
    shown, code = screen.end()
    assert "End of lesson 01" in shown
    assert code == 0
    assert (tmp_path / "pictures" / "01_noise.csv").exists()


def test_q_and_the_end_of_input_quit(terminal, call, tmp_path):
    screen = terminal("lessons", "--step")
    screen.until(PROMPT)
    screen.press("q\n")
    shown, code = screen.end()
    assert code == 0
    assert "cell 2" not in shown
    screen = terminal("lessons", "1", "--step")
    screen.until(PROMPT)
    screen.press("\x04")  # Ctrl-D
    assert screen.end()[1] == 0
    done = call("lessons", "1", "--step", stdin="\n")
    assert done.returncode == 0
    assert "cell 2 of 5" in done.stdout
    assert "cell 3 of 5" not in done.stdout


def test_a_cell_that_fails_names_its_own_line(call):
    done = call("lessons", "2", "--step", stdin="\n\n\n\n")
    assert done.returncode == 1
    assert "about to fail" in done.stdout
    assert 'broken.py", line 9, in <module>' in done.stderr
    assert "runner.py" not in done.stderr
    assert "Cell 3 failed" in done.stdout


@pytest.mark.parametrize("arguments", [["lessons"], ["lessons", "3"], ["lessons", "3", "--step"]], ids=" ".join)
def test_ctrl_c_in_the_terminal(terminal, folder, tmp_path, arguments):
    for other in ("01_noise.py", "02_broken.py"):
        (folder / other).unlink()
    screen = terminal(*arguments)
    if "--step" in arguments:
        for _ in range(2):
            screen.until(PROMPT)
            screen.press("\n")
    screen.until("asleep" if "3" in arguments else "03 Sleeps")
    time.sleep(0.5)
    screen.press("\x03")
    shown, code = screen.end()
    assert code == 130
    assert "stopped" in shown
    assert "Traceback" not in shown
    assert (tmp_path / "cleaned up").exists()


def test_ctrl_c_at_the_prompt(terminal):
    screen = terminal("lessons", "1", "--step")
    screen.until(PROMPT)
    for _ in range(30):  # the first may come after the prompt is shown and before Python waits for a key
        screen.press("\x03")
        with contextlib.suppress(subprocess.TimeoutExpired):
            screen.process.wait(1)
            break
    shown, code = screen.end()
    assert code == 130
    assert "Traceback" not in shown


@pytest.mark.parametrize("script", [False, True], ids=["runner", "script"])
def test_an_interrupt_ends_the_lesson_too(command, folder, tmp_path, script):
    arguments = [sys.executable, str(folder / "03_sleeps.py")] if script else [*command, "lessons", "3"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=buffered
    ) as process:
        assert process.stdout
        assert "asleep" in next(line for line in process.stdout if "asleep" in line)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=20)
    assert "awake" not in printed  # the first line came while the lesson ran, and not at its end
    assert process.returncode == (-signal.SIGINT if script else 130)
    assert errors.strip() == "stopped"
    assert (tmp_path / "cleaned up").exists()


# ---------------------------------------------------------------------------------------------------------- quiz


def test_quiz_explains_every_answer(terminal):
    screen = terminal("quiz", "1")
    shown = screen.until("quits] ")
    assert "Which one is two?" in shown
    assert "b  two" in shown
    screen.press("d\n")
    assert "One of a, b, c, or q" in screen.until("quits] ")
    screen.press("A\n")
    shown = screen.until("quits] ")
    for text in ("No, it is b.", "- a  That is less", "+ b  It is.", "- c  That is more", "Is zero even?"):
        assert text in shown
    screen.press("a\n")
    shown, code = screen.end()
    assert "Right." in shown
    assert "1 of 2 right" in shown
    assert code == 0


@pytest.mark.parametrize(("keys", "score"), [("", "0 of 0"), ("q\n", "0 of 0"), ("b\nq\n", "1 of 1")])
def test_quiz_ends_when_asked_or_at_the_end_of_input(call, keys, score):
    done = call("quiz", stdin=keys)
    assert done.returncode == 0
    assert score in done.stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[question]", "is no list of questions"),
        ("[[questions]]", "is no list of questions"),
        (QUIZ.replace("answer", "anwser"), "anwser"),
        (QUIZ.replace("answer = 1", "answer = 3"), "question 1 of 01.toml needs"),
        (QUIZ.replace('"It is.", ', ""), "3 options, 2 explanations"),
    ],
)
def test_a_broken_quiz_is_one_sentence(call, folder, text, sentence):
    (folder / "quiz" / "01.toml").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        quiz.read(folder / "quiz" / "01.toml")
    done = call("quiz", "1")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


# -------------------------------------------------------------------------------------------------------- doctor


def test_doctor_tells_what_is_here(call):
    done = call("doctor")
    assert done.returncode == 0, done.stderr
    for text in (
        sys.version.split()[0],
        f"numpy {np.__version__}",
        "BLAS",
        "threads",
        "matplotlib",
        "backend",
        "pytest",
    ):
        assert text in done.stdout


def test_doctor_tells_how_to_get_a_compiler(call):
    done = call("doctor", env=environment(PATH="", CXX=None))
    assert "missing  compiler" in done.stdout
    assert "--device emulated" in done.stdout
    assert "install" in done.stdout.partition("--device emulated")[2].splitlines()[1]


def test_doctor_says_why_an_installed_cupy_does_not_work(call, tmp_path):
    packages = tmp_path / "packages"
    (packages / "cupy").mkdir(parents=True)
    (packages / "cupy" / "__init__.py").write_text(
        "class cuda:\n class runtime:\n  def getDeviceCount(): raise RuntimeError('the driver is too old')\n"
    )
    (packages / "cupy_cuda12x-13.4.0.dist-info").mkdir()
    (packages / "cupy_cuda12x-13.4.0.dist-info" / "METADATA").write_text("Name: cupy-cuda12x\nVersion: 13.4.0\n")
    paths = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = call("doctor", env=environment(PYTHONPATH=paths))
    assert done.returncode == 0, done.stderr
    assert "missing  GPU       cupy-cuda12x 13.4.0" in done.stdout
    assert "the driver is too old" in done.stdout


def test_doctor_fits_cupy_to_the_driver(call, tmp_path):
    if shutil.which("nvidia-smi"):
        pytest.skip("a real driver is here")
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho '| Driver Version: 550.1  CUDA Version: 12.4 |'\n")
    tool.chmod(0o755)
    done = call("doctor", env=environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}"))
    if "missing  GPU       no CuPy" not in done.stdout:
        pytest.skip("CuPy is installed here")
    assert "a driver for CUDA 12" in done.stdout
    assert "pip install cupy-cuda12x" in done.stdout


# ---------------------------------------------------------------------------------------------- a lesson's helpers


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A lesson as its script would make it, with its figures in tmp_path."""
    monkeypatch.setattr(sys, "argv", ["05_some.py", "--figures", str(tmp_path / "figures")])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    return lesson.Lesson(tmp_path / "05_some.py")


class Figure:
    def __init__(self, error=None):
        self.error = error

    def savefig(self, path, **options):
        path.write_bytes(b"picture")
        if self.error:
            raise self.error


def test_save_writes_both_or_neither(one, capsys):
    one.save(Figure(), {"n": [1, 2], "share": [np.float32(1 / 3), 2 / 3]}, suffix="_timing")
    assert (one.figures / "05_some_timing.csv").read_text() == "n,share\n1,0.333333343\n2,0.666666667\n"
    with pytest.raises(ZeroDivisionError):
        one.save(Figure(ZeroDivisionError()), {"n": [3]}, suffix="_timing")
    with pytest.raises(SystemExit, match="2"):
        one.save(Figure(OSError(28, "No space left on device")), {"n": [3]}, suffix="_timing")
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(path.name for path in one.figures.iterdir()) == ["05_some_timing.csv", "05_some_timing.png"]
    assert (one.figures / "05_some_timing.csv").read_text().startswith("n,share\n")


def test_save_refuses_ragged_columns(one):
    with pytest.raises(ValueError, match=r"one length, got {'n': 2, 'share': 1}"):
        one.save(Figure(), {"n": [1, 2], "share": [0.5]})
    assert list(one.figures.iterdir()) == []


def test_verdicts_can_go_either_way(one, capsys):
    one.verdict("the claim", True, "1 of 1")
    one.verdict("the claim", False, "0 of 1")
    assert capsys.readouterr().out == "confirmed: the claim (1 of 1)\nnot confirmed here: the claim (0 of 1)\n"


def test_figures_go_to_the_clone_or_to_the_folder_at_hand(tmp_path):
    assert lesson.figures_folder(ROOT / "lessons" / "01_any.py") == ROOT / "figures"
    assert lesson.figures_folder(tmp_path / "tinyattn" / "lessons" / "01_any.py") == Path("figures")


def test_cells_keep_their_line_numbers(folder):
    script = library.Script(1, folder / "01_noise.py")
    cells = script.cells()
    assert [cell.is_text for cell in cells] == [True, False, True, False, False]
    assert cells[0].source.splitlines()[0] == "# 01 Noise and its mean"
    lines = GOOD.splitlines()
    for cell in cells:
        assert cell.source.splitlines()[0] in lines[cell.line - 1]
    assert str(script) == "01 Noise and its mean"
