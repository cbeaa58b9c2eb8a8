"""Files and folders that are replaced as a whole, and what a killed process leaves."""

import errno
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from graphfold import replacing
from graphfold.errors import FileError
from graphfold.files.paths import existing
from graphfold.replacing import PREFIX, recover, replace_folder, write_atomically

posix = pytest.mark.skipif(sys.platform == "win32", reason="locks on folders are POSIX")


def write(path, content=b"new"):
    write_atomically(path, lambda stream: stream.write(content))


def folder_with(name):
    def fill(folder):
        os.mkdir(folder)
        Path(folder, name).touch()

    return fill


@pytest.fixture
def left_behind(tmp_path):
    """What is there when a process was killed between two renames."""
    folder = tmp_path / f"{PREFIX}0123"
    (folder / "old" / "a.zarr").mkdir(parents=True)
    (folder / "old" / "a.zarr" / "kept").touch()
    (folder / "new").mkdir()
    return folder


@posix
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    (tmp_path / f"{PREFIX}0123").mkdir()
    (tmp_path / f"{PREFIX}0123" / "new").write_text("half")
    write(tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]


@posix
def test_what_another_process_is_filling_is_left_alone(tmp_path):
    def fill(folder):
        write(tmp_path / "file")  # by someone else, meanwhile
        folder_with("x")(folder)

    replace_folder(tmp_path / "a.zarr", fill)
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "file"]
    assert os.listdir(tmp_path / "a.zarr") == ["x"]


def test_threads_that_write_after_the_error_leave_nothing(tmp_path):
    """As zarr's do, which make the folders that they miss."""
    threads = []

    def fill(folder):
        def goes_on():
            for i in range(60):
                Path(folder, "c").mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):  # it was removed in between
                    Path(folder, "c", str(i)).touch()
                time.sleep(0.005)

        threads.append(threading.Thread(target=goes_on))
        threads[0].start()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"):
        replace_folder(tmp_path / "a.zarr", fill)
    threads[0].join()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [".graphfold-another.host-0123", ".graphfold", "x"])
def test_other_names_are_left_alone(tmp_path, name):
    (tmp_path / name).mkdir()
    write(tmp_path / "file")
    assert sorted(os.listdir(tmp_path)) == sorted(["file", name])


def test_where_nothing_can_be_locked_nobody_is_taken_for_dead(
    tmp_path, left_behind, monkeypatch
):
    monkeypatch.setattr(replacing, "fcntl", None)
    write(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert left_behind.is_dir()


@posix
def test_a_store_that_was_moved_away_is_put_back_for_who_reads_it(
    tmp_path, left_behind
):
    place = existing(tmp_path / "a.zarr")
    assert os.listdir(place.path) == ["kept"]
    assert os.listdir(tmp_path) == ["a.zarr"]


@posix
def test_a_store_that_was_moved_away_is_no_better_than_one_that_is_there(
    tmp_path, left_behind
):
    (tmp_path / "a.zarr").mkdir()
    recover(tmp_path / "a.zarr")
    assert left_behind.is_dir()  # nothing is missing: nobody looks
    write(tmp_path / "file")
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "file"]
    assert os.listdir(tmp_path / "a.zarr") == []


def test_a_store_that_was_never_there(tmp_path):
    with pytest.raises(FileError, match="is not a file"):
        existing(tmp_path / "a.zarr")


@pytest.mark.skipif(sys.platform != "linux", reason="names change places on Linux")
def test_folders_change_places_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    folder_with("old")(path)
    renamed = []
    monkeypatch.setattr(os, "rename", lambda *names: renamed.append(names))
    replace_folder(path, folder_with("new"))
    assert os.listdir(path) == ["new"]
    assert renamed == []


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_takes_the_place_of_a_file(tmp_path, monkeypatch, exchange):
    path = tmp_path / "a.parquet"
    path.write_text("old")
    if not exchange:
        monkeypatch.setattr(replacing, "_exchanged", lambda *names: False)
    replace_folder(path, folder_with("new"))
    assert os.listdir(path) == ["new"]
    assert os.listdir(tmp_path) == ["a.parquet"]


@posix
def test_rights_are_those_of_any_new_file(tmp_path):
    write(tmp_path / "file")
    (tmp_path / "usual").touch()
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("unable to close file, errno = 28, error message = ..."),
    ],
)
def test_a_full_disk_is_told_of_with_the_name_of_the_file(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(stream):
        raise error

    with pytest.raises(OSError, match="what was there is kept") as raised:
        write_atomically(path, fail)
    assert raised.value.filename == str(path)
    assert raised.value.errno == errno.ENOSPC
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_errors_of_other_files_are_told_as_they_are(tmp_path):
    def fail(stream):
        (tmp_path / "none").read_text()

    with pytest.raises(FileNotFoundError, match="none"):
        write_atomically(tmp_path / "file", fail)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write(tmp_path / "nowhere" / "file")


@pytest.mark.parametrize("exchange", [True, False])
def test_folders_that_many_replace_at_once_end_as_one_of_theirs(
    tmp_path, exchange, monkeypatch
):
    if not exchange:
        monkeypatch.setattr(replacing, "_exchanged", lambda *names: False)
    path = tmp_path / "a.zarr"
    failed = []

    def work(name):
        try:
            for _ in range(25):
                replace_folder(path, folder_with(name))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert os.listdir(tmp_path) == ["a.zarr"]
    assert len(os.listdir(path)) == 1


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("missing/file", "make its folder first"),
        ("there/file", "its folder is a file"),
        ("folder", "it is a folder: choose another name"),
    ],
)
def test_a_place_that_is_none_is_told_with_its_name(tmp_path, name, remedy):
    (tmp_path / "there").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=remedy) as caught:
        write(tmp_path / name)
    assert caught.value.filename == str(tmp_path / name)
    assert ".graphfold" not in str(caught.value)


def test_what_the_writer_misses_is_not_taken_for_its_own_place(tmp_path):
    def fill(stream):
        raise FileNotFoundError(errno.ENOENT, "no rows")

    with pytest.raises(FileNotFoundError, match="no rows") as caught:
        write_atomically(tmp_path / "file", fill)
    assert "make its folder" not in str(caught.value)
    assert os.listdir(tmp_path) == []
