#!/usr/bin/env bash
# PrairieLearn runs this for each submission: the question's externalGradingOptions name it as the entrypoint.
ROOT=${GRADE_ROOT:-/grade}
export PYTHONPATH=${KATA_PROGRAM:-/kata/program} KATA_HOME=${TMPDIR:-/tmp}/kata-home KATA_ENGINE=off
exec "${KATA_PYTHON:-python3}" -P -m grader.cohort.autograder prairielearn @KATA@ \
    "$ROOT/student" "$ROOT/results/results.json"
