"""Grades a student's file without letting it near the decision.

    worker.py sandbox.py     the untrusted side: one student's file in a process with its rights taken away
    wire.py                  arrays between the two sides; the only code that both run
    process.py               starts, asks and ends a worker
    assignment.py            what an assignment folder says: questions, tests, reference, the bank of wrong answers
    compare.py diagnose.py   equal or not, and why; which known mistake it is
    grade.py                 one submission to one result; scores from the manifest alone
    submissions.py           finds submissions, and refuses the odd ones in one line
    report.py                text, JSON, CSV, Gradescope, GitHub Classroom, the report on a class
    plugin.py cli.py         pytest and the command line
    kit.py kernel_file.py    for CUDA kernels: what a worker needs to run one, what a student's file may hold
    check.py attacks.toml    the proof that an assignment grades as it says
    release.py               stubs and packs for students

How an assignment folder is laid out (`lessons/assignments/aN_name/`, found by its `aN_`):

    probes.py      `ASSIGNMENT = Assignment(...)`: the file to hand in, its questions, their tests and points, and the
                   functions that draw each test's inputs from a generator. Runs in the grader only. With `prepare`,
                   what is handed in is not run, but a module that the grader makes of it.
    reference.py   the right answer, plainly written, one function per question. Runs in the grader, and in a worker in
                   place of a student's earlier functions when those are wrong.
    stub.py        what the student starts from; every function raises NotImplementedError
    handout.md     what the student reads: conventions, tolerances, limits
    variants/      complete right answers in other styles; each must score everything
    wrong/         the bank: one named mistake a file, only the functions that differ from the reference (it is run in
                   the reference's namespace), with these names:
                       a docstring    the misconception, in one sentence that the student reads
                       HINTS          {"question": ..., "concept": ..., "place": ...}, three levels of hint
                       LOSES          the tests that it loses, as patterns over test ids such as "scores.*"
                       STATUS         "numerical gradient", "memory" or "timeout", where its values are right (optional)
    given/         modules that the student gets and may import (optional); an assignment that `builds_on` earlier ones
                   may import their files too, and is graded with right answers to them
    harness.py     functions (student, *inputs) that play with the student's module where a question is more than one
                   call of one function: classes, graphs, compilers (optional). Runs in the worker, and in the grader
                   on the reference.

A test's id is `function.name`. A public test has the same inputs for everybody and shows them; a hidden one draws its
inputs from the instructor's key and shows a category and a hint.
"""
