"""The `fetch` command: bring a corpus's raw files from its sample, a mirror or its servers."""

import hashlib
import json
import re
import shutil
import stat
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, BinaryIO

from tqdm import tqdm

from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_file, whole_folder
from corpora_recipes.recipes import RECIPES, Corpus, load_recipe

if TYPE_CHECKING:
    import requests

# Stands in the working folder, beside params.yaml.
LOCK = Path("sources.lock")
# What a fetch has put into its folder, so that the next one can tell it from a user's own files.
MANIFEST = ".fetched.json"
USER_AGENT = "Probeta/0.1 (corpus download for research)"
TIMEOUT = 60.0  # seconds without a byte
ATTEMPTS = 6  # in a row without progress
BACKOFF = 1.0  # seconds; doubles with every attempt in a row
LONGEST_WAIT = 600  # seconds; the most that a server's Retry-After can ask for
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A raw file, or a group of raw files, of a corpus.

    Attributes:
        file: upstream name, a path relative to the corpus's folder; a pattern for a group.
        url: where to download it; None if it is only in mirrors.
        sha256: its checksum, None if not known beforehand.
        size: its size in bytes, None if not known beforehand.
        is_pattern: whether ``file`` is a pattern such as ``train/*.rs3``.
        optional: whether a mirror may lack it, as long as it has another source of the corpus.
    """

    file: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None
    is_pattern: bool = False
    optional: bool = False


def fetch(corpus: Corpus, sources: str, out: Path) -> None:
    """Bring the raw files of a corpus into folder ``out``.

    The folder belongs to this command: files that an earlier fetch brought from elsewhere are
    removed, and a file that no fetch brought is an error.

    Args:
        corpus: what to fetch. If the recipe has an option ``path`` and it is set, the user's own
            file or folder is taken, whatever ``sources`` says.
        sources: what params.yaml says, unless the corpus's entry says another: "sample" for the
            recipe's small sample, "upstream" for the corpus's servers, or a folder laid out as
            ``<folder>/<recipe>/<upstream file name>``. Files that are here already become symbolic
            links, because dumps are large and so that a change of them is noticed, and copies
            where there are no links; nothing ever writes into them.
        out: the folder.

    Raises:
        InputError: a file is missing, wrong or not to be had from there.
    """
    sources = corpus.sources or sources
    if sources == "upstream" and corpus.options.get("path") is None:
        _fetch_upstream(corpus, out)
        return
    source, files = _local_files(corpus, sources)
    _claim(out, source, [name for name, _ in files])
    for name, path in tqdm(files, desc=f"fetch {corpus.name}", unit="file", disable=None):
        _link(path, out / name)


def list_sources(corpus: Corpus) -> list[Source]:
    """Return the raw files of the corpus.

    They stand in corpus.yaml under ``sources``: a list of ``file`` and ``url`` (with sha256 and
    size where they are known), or ``pattern`` for a group of files that has no URL. In each,
    ``{language}`` and ``{option}`` stand for the corpus's own. A recipe whose files depend on its
    options in another way has a function ``sources(corpus)``, which returns such a list, and one
    that downloads by itself has ``fetch_upstream(corpus, out)``.
    """
    own = getattr(load_recipe(corpus.recipe), "sources", None)
    entries: list[dict[str, Any]] = own(corpus) if own else corpus.facts["sources"]
    fields = {"language": corpus.language, **corpus.options}
    found = []
    for entry in entries:
        url = entry.get("url")
        found.append(
            Source(
                file=entry["pattern" if "pattern" in entry else "file"].format(**fields),
                url=url.format(**fields) if url else None,
                sha256=entry.get("sha256"),
                size=entry.get("size"),
                is_pattern="pattern" in entry,
                optional=entry.get("optional", False),
            )
        )
    return found


# --- local files ---------------------------------------------------------------------------------


def _local_files(corpus: Corpus, sources: str) -> tuple[str, list[tuple[str, Path]]]:
    """Return what the files come from, for the manifest, and the files: name in out, place."""
    if (own := corpus.options.get("path")) is not None:
        return f"path {own}", _own_files(corpus, Path(own).expanduser())
    if "path" in corpus.options:
        if sources != "sample":
            raise _no_path(corpus)
        note = f"corpora.{corpus.name}.path is not set: took the sample of {corpus.recipe}"
        tqdm.write(note, file=sys.stderr)
    if sources == "sample":
        return sources, _files_below(RECIPES / corpus.recipe / "sample")
    return f"mirror {sources}", _mirror_files(corpus, Path(sources))


def _files_below(folder: Path) -> list[tuple[str, Path]]:
    files = ((p.relative_to(folder).as_posix(), p) for p in folder.rglob("*") if p.is_file())
    return sorted(files)


def _no_path(corpus: Corpus) -> InputError:
    return InputError(
        f"corpora.{corpus.name}.path",
        expected="the file or folder with the documents",
        found="nothing",
        todo=f"add `path:` to the entry {corpus.name} in params.yaml",
    )


def _own_files(corpus: Corpus, path: Path) -> list[tuple[str, Path]]:
    """List the user's own file, or those of the user's own folder: name in out, place.

    In a folder, the files count that the recipe's patterns name; not those of its sub-folders.
    """
    patterns = [source.file for source in list_sources(corpus)]
    if path.is_file():
        files = [path]
        found = path.name
    elif path.is_dir():
        files = sorted(p for p in path.iterdir() if p.is_file())
        found = f"a folder of {len(files)} other files" if files else "a folder without files"
    else:
        files = []
        found = "no such file or folder"
    files = [p for p in files if any(fnmatchcase(p.name, pattern) for pattern in patterns)]
    if not files:
        raise InputError(
            path,
            expected=f"for corpora.{corpus.name}.path a file, or a folder of files, named "
            f"{', '.join(patterns)}",
            found=found,
            todo="correct the path (it counts from the folder where the command runs), or convert "
            "the file",
        )
    return [(p.name, p) for p in files]


def _mirror_files(corpus: Corpus, mirror: Path) -> list[tuple[str, Path]]:
    """List the files of the corpus in a mirror: name in out, place."""
    folder = mirror / corpus.recipe
    if not mirror.is_dir():
        raise InputError(
            mirror,
            expected='"sample", "upstream" or a folder as `sources` in params.yaml',
            found="no such folder",
            todo="correct `sources`; a relative folder counts from where the command runs",
        )
    wanted = list_sources(corpus)
    if not wanted:
        raise _not_to_be_had(corpus, wanted)
    date = _newest(folder, wanted) if corpus.options.get("date") == "latest" else None
    files = []
    for source in wanted:
        if source.is_pattern:
            found = sorted(path for path in folder.glob(source.file) if path.is_file())
        else:
            names = [source.file, *([source.file.replace("latest", date)] if date else [])]
            found = [folder / name for name in names if (folder / name).is_file()][:1]
        if not found and source.optional and any(any(folder.glob(s.file)) for s in wanted):
            tqdm.write(f"{folder} has no {source.file}: fetched without it", file=sys.stderr)
        elif not found:
            raise InputError(
                folder / source.file,
                expected=f"a raw file of {corpus.name}",
                found="no such file",
                todo=f"put it there{' from ' + source.url if source.url else ''}, or set "
                "`sources` to sample or upstream",
            )
        files += [(path.relative_to(folder).as_posix(), path) for path in found]
    return files


def _newest(folder: Path, wanted: Sequence[Source]) -> str | None:
    """Return the last date (YYYYMMDD) that every file with "latest" in its name is there for."""
    dates: list[set[str]] = []
    for place in (folder / source.file for source in wanted if "latest" in source.file):
        pattern = re.compile(re.escape(place.name).replace("latest", r"(\d{8})"))
        matches = [pattern.fullmatch(path.name) for path in place.parent.glob("*")]
        dates.append({match[1] for match in matches if match})
    return max(set.intersection(*dates), default=None) if dates else None


def _link(path: Path, target: Path) -> None:
    with whole_file(target) as temporary:
        try:
            temporary.symlink_to(path.resolve())
        except OSError:
            shutil.copyfile(path, temporary)


def _claim(out: Path, source: str, patterns: Sequence[str]) -> None:
    """Make ``out`` a folder that holds nothing but files of this source.

    Raises:
        InputError: it holds a file that no fetch has brought.
    """
    manifest = out / MANIFEST
    before: dict[str, Any] = {"source": "", "files": []}
    if manifest.is_file():
        before = json.loads(manifest.read_text("utf-8"))
    known, wanted = set(before["files"]), set(patterns)
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_dir() or path.name.startswith("."):
            continue
        name = name.removesuffix(".part.json").removesuffix(".part")
        if name not in known and not _matches(name, before["files"]):
            raise InputError(
                path,
                expected="a folder that holds only what fetch has brought",
                found="a file that it has not",
                todo="move the file away, or give fetch a folder of its own",
            )
        if before["source"] != source or not (name in wanted or _matches(name, patterns)):
            path.unlink()
    with whole_file(manifest) as temporary:
        text = json.dumps({"source": source, "files": sorted(patterns)}, ensure_ascii=False)
        temporary.write_text(text + "\n", "utf-8")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any("*" in pattern and fnmatchcase(name, pattern) for pattern in patterns)


# --- downloads -----------------------------------------------------------------------------------


def _not_to_be_had(corpus: Corpus, wanted: Sequence[Source]) -> InputError:
    found = " ".join(str(corpus.facts.get("manual") or "this one has no URL").split())
    names = ", ".join(source.file for source in wanted)
    return InputError(
        f"corpora.{corpus.name} from upstream or a mirror",
        expected="files that can be downloaded",
        found=found,
        todo=f"put {names} into MIRROR/{corpus.recipe}/ and say `sources: MIRROR` in the entry "
        f"{corpus.name} of params.yaml, or `sources: sample`"
        if wanted
        else f"do so, or say `sources: sample` in the entry {corpus.name} of params.yaml",
    )


def _fetch_upstream(corpus: Corpus, out: Path) -> None:
    if "path" in corpus.options:
        raise _no_path(corpus)
    wanted = list_sources(corpus)
    harvest = getattr(load_recipe(corpus.recipe), "fetch_upstream", None)
    if harvest is None and not (wanted and all(source.url for source in wanted)):
        raise _not_to_be_had(corpus, wanted)
    _claim(out, "upstream", [source.file for source in wanted])
    if harvest is not None:
        harvest(corpus, out)
        return
    for source in wanted:
        _fetch_locked(source, out / source.file)


def _fetch_locked(source: Source, target: Path) -> None:
    """Download one file, held to its pin in corpus.yaml or else to sources.lock."""
    assert source.url is not None
    lock: dict[str, dict[str, Any]] = {}
    if LOCK.is_file():
        try:
            lock = json.loads(LOCK.read_text("utf-8"))
        except ValueError as error:
            raise InputError(
                LOCK,
                expected="the JSON that fetch wrote",
                found=str(error),
                todo="restore the file, or remove it to accept what the servers have now",
            ) from None
    if source.sha256 is not None:
        todo = "run fetch again; if the publisher has changed the file, correct corpus.yaml"
        download(source.url, target, sha256=source.sha256, size=source.size, todo=todo)
        return
    known = lock.get(source.url)
    if known is not None:
        todo = (
            f"the file at the server has changed since {known['date']}; to accept the new one "
            f"remove its entry from {LOCK}"
        )
        download(source.url, target, sha256=known["sha256"], size=known["size"], todo=todo)
        return
    sha256, size = download(source.url, target, size=source.size)
    date = datetime.now(UTC).date().isoformat()
    lock[source.url] = {"date": date, "file": source.file, "sha256": sha256, "size": size}
    with whole_file(LOCK) as temporary:
        text = json.dumps(lock, ensure_ascii=False, indent=2, sort_keys=True)
        temporary.write_text(text + "\n", "utf-8")


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    todo: str = "run fetch again",
    check: Callable[[Path], None] | None = None,
) -> tuple[str, int]:
    """Download a file, going on where an earlier attempt or run stopped.

    What has come so far stands in ``<target>.part``, and the server's ETag or Last-Modified
    beside it, so that two versions of a file are never joined. A file with the right checksum is
    not downloaded again.

    Args:
        url: an http or https address.
        target: the file to write; it appears whole and checked, or not at all.
        sha256: its checksum in hexadecimal, None to take what comes.
        size: its size in bytes, None to take what comes.
        todo: what to tell the user to do when the checksum or the size is wrong.
        check: looks at the downloaded file, and raises InputError if it is not what it should be.

    Returns:
        The file's SHA-256 and its size in bytes.

    Raises:
        InputError: no answer after several attempts, an answer such as 404, or wrong contents.
    """
    import requests
    import urllib3

    if sha256 is not None and target.is_file():
        found = _sha256(target)
        if found == sha256:
            return found, target.stat().st_size
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    state = target.with_name(target.name + ".part.json")
    failures, reached = 0, -1
    with (
        _session() as session,
        tqdm(desc=target.name, unit="B", unit_scale=True, disable=None) as bar,
    ):
        while True:
            try:
                found = _transfer(session, url, part, state, size, bar)
                break
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                length = part.stat().st_size if part.exists() else 0
                failures = failures + 1 if length <= reached else 1
                reached = max(reached, length)
                if failures == ATTEMPTS:
                    raise InputError(
                        url,
                        expected=f"the whole file in at most {ATTEMPTS} attempts without progress",
                        found=f"{length} bytes, then: {error}",
                        todo="run fetch again later; it goes on where it stopped",
                    ) from None
                time.sleep(BACKOFF * 2 ** (failures - 1))
    length = part.stat().st_size
    try:
        if sha256 not in (None, found) or size not in (None, length):
            raise InputError(
                url,
                expected=f"SHA-256 {sha256 or 'any'}, {'any' if size is None else size} bytes",
                found=f"SHA-256 {found}, {length} bytes",
                todo=todo,
            )
        if check is not None:
            check(part)
    except InputError:
        part.unlink()
        state.unlink(missing_ok=True)
        raise
    part.replace(target)
    state.unlink(missing_ok=True)
    return found, length


def _session() -> "requests.Session":
    """Open a session that tries again when a server does not answer or is busy."""
    import requests
    from urllib3.util import Retry

    patience = Retry(
        ATTEMPTS - 1,
        status_forcelist=[429, 500, 502, 503, 504],
        raise_on_status=False,
        backoff_factor=BACKOFF,
        backoff_max=60,
        retry_after_max=LONGEST_WAIT,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=patience))
    # Compressed transfer would make lengths and ranges mean something else than the file's bytes.
    session.headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "identity"})
    return session


def _transfer(
    session: "requests.Session",
    url: str,
    part: Path,
    state: Path,
    size: int | None,
    bar: "tqdm[Any]",
) -> str:
    """Make one attempt to complete ``part``; return its SHA-256.

    Raises:
        InputError: asking again would not help.
        requests.RequestException, urllib3.exceptions.HTTPError: it might.
    """
    import requests
    import urllib3

    start, validator = _resume_at(url, part, state)
    headers = {"Range": f"bytes={start}-", "If-Range": validator} if start else {}
    try:
        response = session.get(url, headers=headers, stream=True, timeout=TIMEOUT)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        # The session has tried again already.
        raise InputError(
            url,
            expected="an answer of the server",
            found=str(error),
            todo="check the network and the address, and run fetch again",
        ) from None
    with response:
        answered = response.headers.get("Content-Range", "")
        if response.status_code == 416 and answered == f"bytes */{start}":
            return _sha256(part)
        if response.status_code == 416 or (
            response.status_code == 206 and not answered.startswith(f"bytes {start}-")
        ):
            part.unlink(missing_ok=True)
            raise requests.RequestException(f"the server sent the wrong range: {answered!r}")
        if response.status_code not in (200, 206):
            raise InputError(
                url,
                expected="the file",
                found=f"the server answers {response.status_code} {response.reason}",
                todo="check the address in a browser; if it has moved, correct corpus.yaml",
            )
        digest = hashlib.sha256()
        if response.status_code == 206:
            with part.open("rb") as done:
                digest = hashlib.file_digest(done, lambda: digest)
        else:
            start = 0
        state.write_text(json.dumps({"url": url, "validator": _validator(response)}), "utf-8")
        expected = response.headers.get("Content-Length", "")
        bar.total = start + int(expected) if expected.isdecimal() else None
        bar.n = start
        bar.refresh()
        with part.open("ab" if start else "wb") as file:
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                file.write(chunk)
                digest.update(chunk)
                start += len(chunk)
                bar.update(len(chunk))
                if size is not None and start > size:
                    break
    return digest.hexdigest()


def _resume_at(url: str, part: Path, state: Path) -> tuple[int, str]:
    """Return how many bytes of the file are here already, and the server's name of its version."""
    with suppress(OSError, ValueError):
        known = json.loads(state.read_text("utf-8"))
        if known["url"] == url and known["validator"]:
            return part.stat().st_size, known["validator"]
    return 0, ""


def _validator(response: "requests.Response") -> str:
    """Return what If-Range may hold (RFC 9110, 13.1.5): a strong ETag, or Last-Modified."""
    etag = response.headers.get("ETag", "")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified", "")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- archives ------------------------------------------------------------------------------------


def unpack(archive: Path, folder: Path, max_bytes: int) -> None:
    """Unpack a zip or tar archive (.tar, .tar.gz …) into a folder, which takes the old one's place.

    Args:
        archive: the archive; what it is shows from its first bytes, not from its name.
        folder: appears whole or not at all.
        max_bytes: the most that all members may hold together, counted while they are unpacked.

    Raises:
        InputError: the archive is damaged, too large, or has a member that is neither a file nor
            a folder or that would stand outside ``folder``.
    """
    left = max_bytes
    try:
        with whole_folder(folder) as temporary:
            for name, member in _members(archive):
                target = temporary / name
                if target.exists():
                    raise _bad_archive(archive, f"two members named {name}")
                target.parent.mkdir(parents=True, exist_ok=True)
                with member, target.open("wb") as file:
                    while chunk := member.read(_CHUNK):
                        left -= len(chunk)
                        if left < 0:
                            raise _bad_archive(archive, f"more than {max_bytes} bytes unpacked")
                        file.write(chunk)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        OSError,
    ) as error:
        # RuntimeError is how zipfile says "encrypted"; OSError covers damaged gzip streams.
        raise _bad_archive(archive, str(error) or type(error).__name__) from None


def _members(archive: Path) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the files of an archive, each with its checked relative name."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                name = _safe_name(archive, info.filename)
                mode = stat.S_IFMT(info.external_attr >> 16)
                if info.is_dir():
                    continue
                if mode not in (0, stat.S_IFREG):
                    raise _bad_archive(archive, f"{info.filename} is a link or a device")
                yield name, zipped.open(info)  # type: ignore[misc]
        return
    with tarfile.open(archive) as tarred:
        for member in tarred:
            name = _safe_name(archive, member.name)
            if member.isdir():
                continue
            if not member.isfile():
                raise _bad_archive(archive, f"{member.name} is a link or a device")
            yield name, tarred.extractfile(member)  # type: ignore[misc]


def _safe_name(archive: Path, name: str) -> str:
    # Windows' reading of a name finds drives and backslashes, too.
    parts = PureWindowsPath(name).parts
    if PureWindowsPath(name).anchor or PurePosixPath(name).is_absolute() or ".." in parts:
        raise _bad_archive(archive, f"{name!r} stands outside the archive's folder")
    return name


def _bad_archive(archive: Path, found: str) -> InputError:
    return InputError(
        archive,
        expected="a whole zip or tar archive with nothing but files and folders",
        found=found,
        todo="fetch it again; if that does not help, look at it with other tools",
    )
