"""Lines or one document; what cannot be read keeps its place."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajevolve.errors import UserError
from trajevolve.formats import records
from trajevolve.formats.records import read_records

OBJECTS = st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=5)


def read(data: bytes) -> list[tuple[str, object]]:
    return [(r.place, r.error if r.content is None else r.content) for r in read_records_of(data)]


def read_records_of(data: bytes) -> list[records.Record]:
    return list(read_records(io.BytesIO(data)))


@settings(max_examples=40)
@given(OBJECTS, st.sampled_from([None, 0, 2]))
def test_an_array_and_lines_say_the_same(objects: list[dict[str, object]], indent: int | None):
    lines = "".join(json.dumps(each) + "\n" for each in objects).encode()
    assert [r.content for r in read_records_of(lines)] == objects
    if objects:
        array = json.dumps(objects, indent=indent).encode()
        assert [r.content for r in read_records_of(array)] == objects


def test_places_count_lines_blank_ones_too_and_items():
    assert read(b'\n{"a": 1}\n \n{"b": 2}') == [("line 2", {"a": 1}), ("line 4", {"b": 2})]
    assert read(b'[{"a": 1},\n{"b": 2}]') == [("item 1", {"a": 1}), ("item 2", {"b": 2})]
    assert read(b'\xef\xbb\xbf{"a": 1}\n') == [("line 1", {"a": 1})]
    assert read(b'{\n "a": 1\n}\n') == [("item 1", {"a": 1})]


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (b'{"a": 1}\nnope\n', [None, "not valid JSON, Expecting value at column 1"]),
        (b'{"a": "b\n', ["not valid JSON, Invalid control character at column 9;"]),
        (b'{"a": 1}\n{"b": "\xff"}\n', [None, "not valid JSON, 'utf-8' codec"]),
        (b'{"a": NaN}\n', ["not valid JSON, Out of range"]),
        (b'[1]\n{"a": 1}\n', ["expected an object, got a list", None]),
        (b"[]\n", []),
        (b'[1, "a"]\n', ["expected an object, got 1", "expected an object, got text"]),
        (b"[1, 2\n", ["not valid JSON"]),
        (b'[{"a": 1}, 2, {"b": NaN}]', [None, "expected an object, got 2", "not valid JSON"]),
        (b"[" * 100_000 + b'\n{"a": 1}\n', ["JSON nested too deeply", None]),
        (b'{"a": \n{"a": 1}\n', ["not valid JSON", None]),
    ],
)
def test_a_bad_record_stays_in_its_place(data: bytes, texts: list[str | None]):
    found = read_records_of(data)
    assert len(found) == len(texts)
    for record, text in zip(found, texts, strict=True):
        assert (record.content is None) == (text is not None)
        assert record.error.startswith(text or "")


def test_a_broken_document_is_one_error():
    whole = json.dumps([{"a": [1, 2]}] * 3, indent=1).encode()
    with pytest.raises(UserError, match="neither JSON Lines nor one valid JSON document"):
        read_records_of(whole[:-8])


def test_a_line_that_is_too_long_costs_no_more_than_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(records, "LONGEST_LINE", 1000)
    long = json.dumps({"a": "x" * 5000}).encode()
    found = read(b'{"a": 1}\n' + long + b'\n{"b": 2}\n' + long)
    assert [place for place, _ in found] == ["line 1", "line 2", "line 3", "line 4"]
    assert found[0][1] == {"a": 1} and found[2][1] == {"b": 2}
    assert str(found[1][1]).startswith("longer than") and str(found[3][1]).startswith("longer than")
    # An array is written on one line as often as not.
    assert read(b"[" + long + b"]")[0][1] == json.loads(long)


def test_lines_are_handed_on_as_they_arrive():
    class Pipe(io.BytesIO):
        taken = 0

        def readline(self, size: int | None = -1) -> bytes:
            self.taken += 1
            return super().readline(size)

    pipe = Pipe(b'{"a": 1}\n{"b": 2}\n{"c": 3}\n')
    assert next(read_records(pipe)).content == {"a": 1}
    assert pipe.taken == 1
