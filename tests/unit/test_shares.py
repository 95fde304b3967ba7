"""Shares of tests that are alike."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

from tests.shares import share, share_of_product, step_of_product, turn_of

WORDS = [f"{kind}{number}" for number in range(4) for kind in "abcde"] + ["f0", "g0"]


def kind_of(word: str) -> str:
    return word[0]


def test_every_kind_is_there() -> None:
    for step in (2, 3, 4, 100):
        found = share(WORDS, step, kind_of, False)
        assert {kind_of(w) for w in found} == set("abcdefg")
        assert found == sorted(found, key=WORDS.index)
        assert len(found) <= 5 * -(-4 // step) + 2


def test_kinds_begin_at_different_places() -> None:
    assert share(WORDS, 4, kind_of, False) == ["a0", "e0", "b1", "c2", "d3", "f0", "g0"]


def test_of_one_kind_it_is_every_so_many() -> None:
    assert share(range(10), 4, all_=False) == [0, 4, 8]


def test_turns_are_of_other_items() -> None:
    """And after as many as the step, all were there."""
    turns = [share(WORDS, 4, kind_of, False, turn) for turn in range(5)]
    assert turns[0] == turns[4] == share(WORDS, 4, kind_of, False)
    assert sorted({word for turn in turns for word in turn}) == sorted(WORDS)
    for kind in "abcde":
        assert [len([word for word in turn if kind_of(word) == kind]) for turn in turns] == [1] * 5


def test_turns_go_by_what_files_say(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "b.txt").write_text("b")
    first = turn_of(tmp_path)
    (tmp_path / "b.txt").write_text("c")
    assert turn_of(tmp_path) == first
    (tmp_path / "a.py").write_text("a = 2\n")
    assert turn_of(tmp_path) != first


def test_all() -> None:
    assert share(WORDS, 3, kind_of, True) == WORDS
    assert share(WORDS, 1, kind_of, False) == WORDS


def test_products_keep_every_value() -> None:
    for sizes in ((2, 3, 5), (1, 1, 1), (2, 2), (4, 4, 4)):
        places = [dict(enumerate(place)) for place in product(*map(range, sizes))]
        named = [{str(k): v for k, v in place.items()} for place in places]
        for step in (2, 3, 7):
            taken = share_of_product(named, step, False)
            for name, size in enumerate(sizes):
                assert {places[number][name] for number in taken} == set(range(size))
            assert len(taken) <= -(-len(places) // step) + sum(sizes)
        assert share_of_product(named, 3, True) == set(range(len(places)))


def test_pairs_of_values_meet() -> None:
    places = [dict(zip("abc", place)) for place in product(range(3), range(3), range(3))]
    taken = [places[number] for number in share_of_product(places, 3, False)]
    assert {(p["a"], p["b"]) for p in taken} == set(product(range(3), range(3)))
    assert len(taken) == 9


def test_no_more_are_taken_than_pairs_need() -> None:
    """Of the combinations by the sum of places; each two of them that meet still do."""
    rows = [dict(zip("abcde", place)) for place in product(*map(range, (4, 2, 6, 3, 2)))]
    by_sum = [row for row in rows if sum(row.values()) % 6 == 0]
    taken = [rows[number] for number in share_of_product(rows, 6, False)]
    assert pairs(taken) == pairs(by_sum)
    assert len(taken) <= 0.6 * len(by_sum)


def pairs(rows: list[dict[str, int]]) -> set[tuple[tuple[str, int], tuple[str, int]]]:
    return {pair for row in rows for pair in combinations(row.items(), 2)}


def test_parameters_that_go_in_step_are_one() -> None:
    places = [{"a": a, "b": b, "c": b} for a, b in product(range(2), range(2))]
    assert share_of_product(places, 2, False) == {0, 3}


def test_what_a_test_runs_that_does_not_say_it() -> None:
    for sizes, step in (((2, 3), 1), ((100, 1), 1), ((2, 4), 2), ((3, 10), 2), ((4, 8), 3)):
        rows = [dict(zip("ab", place)) for place in product(*map(range, sizes))]
        assert step_of_product(rows) == step
        assert step_of_product([{**row, "engine": "jit"} for row in rows]) == step
        on_the_interpreter = step_of_product([{**row, "engine": "interpreter"} for row in rows])
        assert on_the_interpreter == (2 * step if min(sizes) > 1 else 1)
