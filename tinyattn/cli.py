"""The command line: tinyattn lessons | quiz | grade | assignment | doctor."""

import os
import signal
import sys

from tinyattn import lesson, library
from tinyattn.grading.cli import add_commands as add_grading


def main(argv=None):
    """Runs one command and returns its exit code: 0, 1 for a failure, 2 for a mistake in the call, 130 after Ctrl-C."""
    lesson.print_anywhere()
    arguments = sys.argv[1:] if argv is None else argv
    parser = _parser()
    try:
        options = parser.parse_args(arguments or ["--help"])
        status = options.run(options)
        sys.stdout.flush()  # here, where a reader who has left is no error
        return status
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:  # as in `tinyattn lessons --list | head -1`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "tinyattn":
            raise
        lesson.stop(f"this needs {error.name}, which is not installed: {sys.executable} -m pip install {error.name}")


def _parser():
    parser = lesson.Parser(
        prog="tinyattn", description="Attention you can run, look at, break, write and be graded on."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    lessons = commands.add_parser("lessons", help="run the lessons", description="Runs the lessons, all by default.")
    lessons.add_argument("numbers", metavar="N", nargs="*", type=int, help="numbers of lessons")
    lessons.add_argument("--list", action="store_true", help="list them instead")
    lessons.add_argument("--step", action="store_true", help="cell by cell: Enter goes on, b back, q quits")
    lesson.add_options(lessons)
    lessons.set_defaults(run=_lessons)

    quiz = commands.add_parser("quiz", help="answer questions", description="Asks questions and explains every answer.")
    quiz.add_argument("numbers", metavar="N", nargs="*", type=int, help="numbers of lessons, all by default")
    quiz.set_defaults(run=_quiz)

    add_grading(commands)

    doctor = commands.add_parser("doctor", help="tell what this machine has and lacks")
    doctor.set_defaults(run=_doctor)
    return parser


def _lessons(options):
    scripts = library.lessons(options.numbers)
    if options.list:
        for script in scripts:
            print(script)
        return 0
    from tinyattn import runner

    figures = options.figures or lesson.figures_folder(scripts[0].path)
    lesson.prepare(options.device, figures)
    arguments = (
        ["--device", options.device, "--figures", str(figures)] + ["--show"] * options.show + ["--full"] * options.full
    )
    if not options.step:
        return runner.run_lessons(scripts, arguments, live=bool(options.numbers))
    for script in scripts:
        if (code := runner.step_lesson(script, arguments)) != 0:
            return code or 0
    return 0


def _quiz(options):
    from tinyattn import quiz

    quiz.ask(library.quizzes(options.numbers))
    return 0


def _doctor(options):
    from tinyattn import doctor

    return doctor.examine()
