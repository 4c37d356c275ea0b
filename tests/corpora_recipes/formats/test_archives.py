"""Files in folders and archives: the same contents either way, and errors that name the archive."""

import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest
from recipe_reading import refused

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


@pytest.mark.parametrize("inner", ["inner.zip", "INNER.ZIP", "inner.tar", "inner.7z", "a.txt.gz"])
@pytest.mark.parametrize(("pack", "name"), [(a_zip, "x.zip"), (a_tar, "x.tar.gz")])
def test_an_archive_in_an_archive_is_an_error(tmp_path, pack, name, inner) -> None:
    with refused(match="not an archive in an archive", found_is=inner, todo="unpack"):
        list_members(pack(tmp_path / name, {"a.txt": b"", inner: b"PK"}), tmp_path)


@pytest.mark.parametrize(("pack", "name"), [(a_zip, "x.zip"), (a_tar, "x.tar.gz")])
def test_members_are_unpacked_one_at_a_time(tmp_path, pack, name) -> None:
    path = pack(tmp_path / name, FILES)
    found = read_members([Member(name, path, name) for name in ("a.txt", "not there", "b/two.txt")])
    assert next(found) == FILES["a.txt"]
    with pytest.raises(InputError, match=r"x.*, not there"):
        next(found)


@pytest.mark.parametrize(
    ("name", "old", "new", "where"),
    [
        ("x.zip", b"PK", b"no", ""),
        ("x.tar.gz", b"\x1f\x8b", b"no", ""),
        ("x.zip", b"a.txt", b"\0.txt", ""),
        ("x.zip", b"spoilt", b"broken", ", a.txt"),
    ],
)
def test_damage_is_named(tmp_path, name, old, new, where) -> None:
    pack = a_zip if name == "x.zip" else a_tar
    path = pack(tmp_path / name, {"a.txt": b"contents that will be spoilt"})
    path.write_bytes(path.read_bytes().replace(old, new))
    with refused(match="an archive that can be unpacked", where_is=f"{path}{where}"):
        [member.read() for member in list_members(path, tmp_path)]
