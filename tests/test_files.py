"""Folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from faults.disks import largest_file

from trajevolve.errors import UserError
from trajevolve.files import check_folder, write_folder


def fill(folder: Path) -> None:
    (folder / "deeper").mkdir()
    (folder / "deeper" / "a").write_text("whole")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_process_left_goes_and_an_empty_folder_is_filled(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    left = tmp_path / ".out.unfinished"
    left.mkdir()
    (left / "half").write_text("ha")
    write_folder(out, fill)
    assert (names(tmp_path), names(out)) == (["out"], ["deeper"])
    assert (out / "deeper" / "a").read_text() == "whole"


def test_it_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    def look(folder: Path) -> None:
        fill(folder)
        assert not (tmp_path / "new").exists()

    write_folder(tmp_path / "new", look)
    assert names(tmp_path / "new") == ["deeper"]


def test_nothing_is_left_when_filling_fails(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        fill(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "out", fail)
    assert names(tmp_path) == []


def test_what_is_there_stays(tmp_path: Path) -> None:
    fill(tmp_path)
    with pytest.raises(OSError) as caught:
        write_folder(tmp_path, lambda folder: (folder / "b").touch())
    assert caught.value.errno == errno.ENOTEMPTY
    assert names(tmp_path) == ["deeper"]
    assert not tmp_path.with_name(f".{tmp_path.name}.unfinished").exists()


def test_a_link_leads_to_the_new_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", fill)
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "real") == ["deeper"]


def test_a_copy_that_does_not_fit_is_one_line(tmp_path: Path) -> None:
    """Of several files that cannot be copied shutil makes an error without a number."""
    (tmp_path / "source").mkdir()
    fill(tmp_path / "source")
    out = tmp_path / "out"

    def copy(folder: Path) -> None:
        shutil.copytree(tmp_path / "source", folder, dirs_exist_ok=True)

    with pytest.raises(UserError) as caught, largest_file(2):
        write_folder(out, copy)
    assert str(caught.value).startswith(f"{out}: cannot be written (File too large); raise")
    assert names(tmp_path) == ["source"]


@pytest.mark.parametrize("place", [".", "/", "/proc"])
def test_a_place_that_must_stay_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if place == "/proc" and not os.path.ismount(place):
        pytest.skip("no mount point is known here")
    with pytest.raises(UserError, match="give a new folder in it"):
        check_folder(Path(place))


def test_a_place_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in ("file/out", "x" * 5000):
        with pytest.raises(UserError, match="cannot be written"):
            check_folder(tmp_path / place)
    assert names(tmp_path) == ["file"]
