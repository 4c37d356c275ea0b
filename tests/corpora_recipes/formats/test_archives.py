"""Files in folders and archives: the same contents either way, and errors that name the archive."""

import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest

from corpora_recipes.formats.archives import Member, list_members, read_members
from corpora_recipes.running.errors import InputError

FILES = {"b/two.txt": b"dos", "a.txt": "añil".encode(), "__MACOSX/a.txt": b"x", "b/.hidden": b"x"}


def a_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b/", b"")
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def a_tar(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("pack", "name"), [(a_zip, "x.zip"), (a_tar, "x.tar.gz"), (a_tar, "x.tgz")]
)
def test_files_of_an_archive(tmp_path, pack, name) -> None:
    found = list_members(pack(tmp_path / name, FILES), tmp_path)
    assert [member.key for member in found] == [f"{name}/a.txt", f"{name}/b/two.txt"]
    assert [member.read() for member in pickle.loads(pickle.dumps(found))] == [
        "añil".encode(),
        b"dos",
    ]
    assert found[1].where == f"{tmp_path / name}, b/two.txt"


def test_a_plain_file(tmp_path) -> None:
    path = tmp_path / "sub" / "a.txt"
    path.parent.mkdir()
    path.write_bytes(b"uno")
    (member,) = list_members(path, tmp_path)
    assert (member.key, member.read(), member.where) == ("sub/a.txt", b"uno", str(path))


@pytest.mark.parametrize(("pack", "name"), [(a_zip, "x.zip"), (a_tar, "x.tar.gz")])
def test_an_archive_in_an_archive_is_an_error(tmp_path, pack, name) -> None:
    path = pack(tmp_path / name, {"inner.zip": b"PK"})
    with pytest.raises(InputError) as error:
        list_members(path, tmp_path)
    assert error.value.found == "inner.zip"
    assert "unpack" in error.value.todo


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz"])
def test_what_is_no_archive_is_named(tmp_path, name) -> None:
    (tmp_path / name).write_bytes(b"no archive at all")
    with pytest.raises(InputError) as error:
        list_members(tmp_path / name, tmp_path)
    assert error.value.where == str(tmp_path / name)


@pytest.mark.parametrize("name", ["INNER.ZIP", "inner.tar", "inner.7z", "a.txt.gz"])
def test_any_kind_of_archive_in_an_archive_is_found(tmp_path, name) -> None:
    with pytest.raises(InputError, match="not an archive in an archive"):
        list_members(a_zip(tmp_path / "x.zip", {"a.txt": b"", name: b""}), tmp_path)


@pytest.mark.parametrize(("pack", "name"), [(a_zip, "x.zip"), (a_tar, "x.tar.gz")])
def test_members_are_unpacked_one_at_a_time(tmp_path, pack, name) -> None:
    path = pack(tmp_path / name, FILES)
    found = read_members([Member(name, path, name) for name in ("a.txt", "not there", "b/two.txt")])
    assert next(found) == FILES["a.txt"]
    with pytest.raises(InputError, match=r"x.*, not there"):
        next(found)


def test_a_member_without_a_name_is_damage(tmp_path) -> None:
    path = a_zip(tmp_path / "x.zip", {"a.txt": b""})
    path.write_bytes(path.read_bytes().replace(b"a.txt", b"\0.txt"))
    with pytest.raises(InputError, match="an archive that can be unpacked"):
        list_members(path, tmp_path)


def test_a_damaged_member_is_named(tmp_path) -> None:
    path = a_zip(tmp_path / "x.zip", {"a.txt": b"contents that will be spoilt"})
    data = path.read_bytes().replace(b"spoilt", b"broken")
    path.write_bytes(data)
    (member,) = list_members(path, tmp_path)
    with pytest.raises(InputError) as error:
        member.read()
    assert error.value.where == f"{path}, a.txt"
