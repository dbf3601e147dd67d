"""Attention maps: one scale for both, what differs is marked, what is no number is said."""

from __future__ import annotations

from grader.records import AttentionMap
from grader.report.heatmaps import MAX_SIZE, map_pair
from grader.report.layout import Layout, plain

EXPECTED = ((0.75, 0.25, 0.0), (0.5, 0.5, 0.0))
HIDDEN = ((False, False, True), (False, False, True))


def test_equal_maps_have_nothing_to_say() -> None:
    pair = map_pair(AttentionMap(title="t", expected=EXPECTED, actual=EXPECTED, hidden=HIDDEN))

    assert (pair.cells_off, pair.rows_off, pair.leaks, pair.not_finite, pair.worst) == (0, 0, 0, 0, None)
    assert pair.actual == pair.expected
    assert [cell.shade for cell in pair.actual.rows[0]] == ["██", "▒▒", "\u2573\u2573"]
    assert [cell.digit for cell in pair.actual.rows[0]] == ["7", "2", "x"]


def test_the_largest_expected_weight_is_the_darkest_and_nothing_is_darker() -> None:
    pair = map_pair(AttentionMap(title="t", expected=EXPECTED, actual=((7.0, -3.0, 0.0), (0.375, 0.0, 0.0))))

    assert pair.expected.rows[0][0].opacity == "1.000"
    assert [cell.opacity for cell in pair.actual.rows[0]] == ["1.000", "1.000", "0.000"]
    assert pair.actual.rows[1][0].opacity == "0.500"
    assert pair.actual.rows[0][1].negative
    assert pair.actual.rows[0][1].digit == "-"


def test_a_weight_on_a_hidden_key_is_a_leak_and_is_drawn() -> None:
    pair = map_pair(
        AttentionMap(title="t", expected=EXPECTED, actual=((0.5, 0.2, 0.3), (0.5, 0.5, 0.0)), hidden=HIDDEN)
    )

    assert pair.leaks == 1
    assert not pair.actual.rows[0][2].blank
    assert pair.actual.rows[1][2].blank
    assert (pair.worst.row, pair.worst.column) == (0, 2) if pair.worst else False


def test_rows_that_do_not_sum_to_one_are_counted() -> None:
    pair = map_pair(AttentionMap(title="t", expected=EXPECTED, actual=((0.4, 0.25, 0.0), (0.5, 0.5, 0.0))))

    assert pair.rows_off == 1
    assert pair.actual.sums == ("0.650", "1.000")
    assert pair.actual.sums_off == (True, False)


def test_a_value_that_is_not_finite_is_named_and_is_the_furthest() -> None:
    pair = map_pair(AttentionMap(title="t", expected=EXPECTED, actual=((None, 9.0, 0.0), (0.5, 0.5, 0.0))))

    assert pair.not_finite == 1
    assert pair.worst is not None
    assert (pair.worst.value, pair.worst.other) == ("NaN", "0.750")
    assert pair.actual.sums[0] == "NaN"
    assert pair.actual.rows[0][0].shade == "??"


def test_what_fits_into_a_cell_is_short_for_every_size() -> None:
    values = (0.0, 0.004, 0.42, 1.0, -0.3, 12.0, 4e9, -4e9, None)
    pair = map_pair(AttentionMap(title="t", expected=((1.0,) * 9,), actual=(values,)))

    assert [cell.short for cell in pair.actual.rows[0]] == [
        "0",
        "0",
        ".42",
        "1.0",
        "-.30",
        "12",
        "≫",
        "≪",
        "NaN",
    ]
    assert pair.actual.rows[0][6].value == "4.00e+09"


def test_a_large_map_is_cut_and_keeps_its_true_size() -> None:
    size = MAX_SIZE + 9
    rows = tuple(tuple(1.0 / size for _ in range(size)) for _ in range(size))
    pair = map_pair(AttentionMap(title="t", expected=rows, actual=rows))

    assert (pair.queries, pair.keys, pair.all_queries, pair.all_keys) == (MAX_SIZE, MAX_SIZE, size, size)


def test_an_empty_map_is_no_error() -> None:
    pair = map_pair(AttentionMap(title="t", expected=(), actual=()))

    assert (pair.queries, pair.keys, pair.cells) == (0, 0, 0)


def test_a_table_has_names_of_its_own_and_its_numbers_in_full() -> None:
    pair = map_pair(
        AttentionMap(
            title="t",
            shows="table",
            expected=((1.0, 0.25),),
            actual=((1.0, -2.5),),
            row_names=("position 7",),
            column_names=("pair 0", "pair 1"),
        )
    )

    assert pair.worst is not None
    assert pair.place(pair.worst) == "position 7, pair 1 is"
    lines = plain(Layout(80, unicode=True).shaded(pair)).splitlines()
    assert [line.split() for line in lines] == [
        ["Yours", "Expected"],
        ["pair", "0", "pair", "1", "pair", "0", "pair", "1"],
        ["position", "7", "1.000", "-2.500!", "position", "7", "1.000", "0.250"],
    ]
