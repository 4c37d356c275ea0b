"""Members of a zip archive: like zipfile where the archive is whole, clear where it is not."""

import io
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.opensubtitles import recipe
from corpora_recipes.corpora.opensubtitles.recipe import list_members, read_member, read_record
from corpora_recipes.running.errors import InputError

CONTENTS = {"README": b"", "a/b/1.xml": b"<s/>" * 999, "a/ñ/2.xml": bytes(range(256)) * 3}


def write(path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in contents.items():
            file.writestr(name, data)
    return path


def read_all(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file:
        listed = list(list_members(file, path))
        assert [member for member, _ in listed] == [read_record(file, path, at) for _, at in listed]
        return {member.name: read_member(file, path, member) for member, _ in listed}


def patched(path: Path, signature: bytes, offset: int, value: bytes) -> Path:
    """Overwrite bytes of the last structure with the signature."""
    data = bytearray(path.read_bytes())
    at = data.rindex(signature) + offset
    data[at : at + len(value)] = value
    path.write_bytes(data)
    return path


class TestWhole:
    def test_zip64(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
        monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
        path = write(tmp_path / "a.zip", CONTENTS)
        assert b"PK\6\6" in path.read_bytes()
        assert read_all(path) == CONTENTS
        with path.open("rb") as file:
            last = [at for _, at in list_members(file, path)][-1]
            assert read_record(file, path, last).size == 768
        data = path.read_bytes()
        at = data.rindex(b"PK\1\2") + 46 + len("a/ñ/2.xml".encode())
        assert data[at : at + 2] == b"\1\0"
        path.write_bytes(data[:at] + b"\2\0" + data[at + 2 :])
        with pytest.raises(InputError, match=r"2\.xml lacks its zip64 sizes"):
            read_all(path)

    def test_written_to_a_pipe(self, tmp_path: Path) -> None:
        class Pipe(io.BytesIO):
            def seekable(self) -> bool:
                return False

            def tell(self) -> int:
                raise OSError

        pipe = Pipe()
        with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in CONTENTS.items():
                file.writestr(name, data)
        (tmp_path / "a.zip").write_bytes(pipe.getvalue())
        assert read_all(tmp_path / "a.zip") == CONTENTS

    def test_comment_that_looks_like_an_end(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.zip", CONTENTS)
        with zipfile.ZipFile(path, "a") as file:
            file.comment = b"PK\5\6" + b"x" * 400
        assert read_all(path) == CONTENTS

    def test_directory_of_many_chunks(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        contents = {f"folder/{i}": str(i).encode() for i in range(500)}
        path = write(tmp_path / "a.zip", contents)
        for chunk in (1, 46, 61, 1000):
            monkeypatch.setattr(recipe, "_CHUNK", chunk)
            assert read_all(path) == contents

    def test_count_modulo_65536(self, tmp_path: Path) -> None:
        path = patched(write(tmp_path / "a.zip", CONTENTS), b"PK\5\6", 8, b"\0\0\0\0")
        assert read_all(path) == CONTENTS

    @given(
        st.dictionaries(st.text(min_size=1, max_size=9), st.binary(), max_size=9),
        st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    )
    @settings(max_examples=50)
    def test_like_zipfile(
        self, tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes], method: int
    ) -> None:
        path = tmp_path_factory.mktemp("zip") / "a.zip"
        contents = {
            name: data for name, data in contents.items() if "\0" not in name and name.isprintable()
        }
        assert read_all(write(path, contents, method)) == contents


class TestDamaged:
    def error(self, path: Path) -> str:
        with pytest.raises(InputError) as caught:
            read_all(path)
        assert caught.value.where == str(path)
        return caught.value.found

    @pytest.mark.parametrize("data", [b"", b"<html>", b"PK\5\6", "cut"])
    def test_no_zip(self, tmp_path: Path, data: bytes | str) -> None:
        path = write(tmp_path / "a.zip", CONTENTS)
        path.write_bytes(data if isinstance(data, bytes) else path.read_bytes()[:-1])
        assert "no zip archive" in self.error(path)

    def test_beginning_cut(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.zip", CONTENTS)
        path.write_bytes(path.read_bytes()[30:])
        assert "directory" in self.error(path)

    def test_method(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.zip", {"a": b"x"}, method=zipfile.ZIP_BZIP2)
        assert "method 12" in self.error(path)

    @pytest.mark.parametrize(
        ("signature", "offset", "value", "found"),
        [
            (b"PK\1\2", 0, b"XX", "no directory record at byte"),
            (b"PK\1\2", 8, b"\1\0", "encrypted"),
            (b"PK\1\2", 24, b"\12", "the 10 bytes announced"),
            (b"PK\1\2", 42, b"\1", "no member at byte 1,"),
            (b"PK\1\2", 42, b"\0\0\0\x7f", "beyond its end"),
            (b"PK\3\4", 30, b"b", "b where a should be"),
            (b"hello", 0, b"j", "another CRC-32"),
        ],
    )
    def test_patched(
        self, tmp_path: Path, signature: bytes, offset: int, value: bytes, found: str
    ) -> None:
        path = write(tmp_path / "a.zip", {"a": b"hello"}, method=zipfile.ZIP_STORED)
        assert found in self.error(patched(path, signature, offset, value))

    def test_announced_as_too_large(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(recipe, "LARGEST_FILE", 1000)
        assert read_all(write(tmp_path / "a.zip", {"a": b"x" * 1000}))
        path = write(tmp_path / "a.zip", {"a": b"x" * 1001})
        assert "1,001 bytes" in self.error(path)

    def test_larger_than_announced(self, tmp_path: Path) -> None:
        # A bomb: 30 MB announced as ten bytes; no more than eleven are ever made of it.
        path = write(tmp_path / "a.zip", {"a": bytes(30_000_000)})
        patched(path, b"PK\1\2", 24, struct.pack("<L", 10))
        assert "the 10 bytes announced" in self.error(path)

    @given(data=st.data())
    @settings(max_examples=100)
    def test_any_changed_byte(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        """Whatever is changed, what comes out is an error or contents that were put in."""
        path = tmp_path_factory.getbasetemp() / "changed.zip"
        whole = bytearray(write(path, CONTENTS).read_bytes())
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
        path.write_bytes(whole)
        try:
            found = read_all(path)
        except InputError:
            return
        assert set(found.values()) <= set(CONTENTS.values())
