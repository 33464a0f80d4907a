"""pytest as the interface: `pytest --assignment a1 --submission FILE` makes one item of every test of the manifest.

Installed as the module tinyattn_pytest, so that pytest's start-up imports neither tinyattn nor NumPy. Student code
never runs in pytest's process: an item asks the grader, which asks a worker.
"""

from pathlib import Path

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("tinyattn", "grade an assignment of tinyattn")
    group.addoption("--assignment", metavar="NAME", help="grade this assignment instead of collecting test files: a1")
    group.addoption("--submission", metavar="FILE", help="the student's file, folder or zip archive")
    group.addoption("--hidden", metavar="KEYFILE", help="the instructor's key, from which hidden inputs are drawn")
    group.addoption(
        "--hints", choices=("none", "question", "concept", "place"), default="concept", help="how much to say"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    options = early_config.known_args_namespace
    if getattr(options, "assignment", None):
        options.noconftest = True  # a conftest.py beside a submission may be the student's


def pytest_configure(config):
    if not config.getoption("assignment"):
        return
    if not config.getoption("submission"):
        raise pytest.UsageError("--assignment needs --submission FILE")
    from tinyattn.grading import bulk, grade, keys, submissions
    from tinyattn.grading.assignment import load

    try:
        assignment = load(config.getoption("assignment"))
        if obstacle := assignment.obstacle():
            raise ValueError(obstacle)
        path = Path(config.getoption("submission"))
        submission = submissions.one(path, assignment.file)
        key = keys.read(config.getoption("hidden"))
    except (ValueError, OSError) as error:
        raise pytest.UsageError(str(error)) from error
    config.pluginmanager.register(Grading(config, assignment, submission, key, bulk, grade), "tinyattn-grading")


class Grading:
    """The items of one submission; registered only when an assignment is graded."""

    def __init__(self, config, assignment, submission, key, bulk, grade):
        self.assignment, self.submission, self.level = assignment, submission, config.getoption("hints")
        self.as_test = bulk.as_test
        self.grader = grade.Grader(assignment, submission.source or b"", key, self.level)
        self.wanted = {arg.rpartition("::")[2] for arg in config.args if "::" in arg}
        self.scored = self.possible = 0
        config.args = []  # nothing else is collected

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector):
        if isinstance(collector, pytest.Session):
            name = self.submission.name
            file = Submitted.from_parent(
                collector, path=collector.path / "submission", name=name, nodeid=name, grading=self
            )
            return pytest.CollectReport("", "passed", None, [file])
        return None

    def result(self, question, test):
        """The result of one test, in the form in which all reports are made."""
        if self.submission.source is None:
            raise Failed(f"{self.submission.name}: {self.submission.problem}")
        found = next(each for each in self.grader.question(question) if each.test.id == test.id)
        self.possible += test.hundredths
        self.scored += found.hundredths
        return self.as_test(found)

    def pytest_terminal_summary(self, terminalreporter):
        from tinyattn.grading.report import points

        say = terminalreporter.write_line
        terminalreporter.section(f"{self.assignment.name}: {self.submission.name}")
        if self.submission.problem or self.grader.problem:
            say(self.submission.problem or self.grader.problem)
        say(f"{points(self.scored)} of {points(self.possible)} points in the tests that ran")
        if self.grader.protections:
            say(f"protections: {', '.join(self.grader.protections)}")


class Submitted(pytest.File):
    """The submission: an item for every test of the manifest, whatever the file holds."""

    def __init__(self, *, grading, **options):
        super().__init__(**options)
        self.grading = grading

    def collect(self):
        for question in self.grading.assignment.questions:
            for test in question.tests:
                if not self.grading.wanted or test.id in self.grading.wanted:
                    yield GradedTest.from_parent(self, name=test.id, grading=self.grading, question=question, test=test)


class Failed(Exception):
    """A test that did not pass, with what its report says."""


class GradedTest(pytest.Item):
    """One test of the manifest."""

    def __init__(self, *, grading, question, test, **options):
        super().__init__(**options)
        self.grading, self.question, self.test = grading, question, test

    def runtest(self):
        from tinyattn.grading.report import explain

        result = self.grading.result(self.question, self.test)
        for name in ("status", "score", "max_score", "misconception"):
            self.user_properties.append((name, result[name] or ""))
        if result["status"] != "pass":
            raise Failed(self.grading.grader.problem or explain(result, self.grading.level))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, f"{self.grading.assignment.name}: {self.name}"
