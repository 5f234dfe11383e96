"""Numbers with their nouns."""

from trajevolve.wording import counted


def test_one_is_not_many():
    assert [counted(n, "row") for n in (0, 1, 2, 1234)] == [
        "0 rows",
        "1 row",
        "2 rows",
        "1,234 rows",
    ]
    assert counted(1, "success", "successes") == "1 success"
    assert counted(3, "success", "successes") == "3 successes"
