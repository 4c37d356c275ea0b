"""The `fetch` command: bring a corpus's raw files from its sample, a mirror or its servers."""

import json
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tqdm import tqdm

from corpora_recipes.downloads import download_locked
from corpora_recipes.errors import InputError
from corpora_recipes.outputs import locked_folder, whole_file
from corpora_recipes.ranges import PART
from corpora_recipes.recipes import RECIPES, Corpus, load_recipe

# What a fetch has put into its folder, so that the next one can tell it from a user's own files.
MANIFEST = ".fetched.json"


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
            file or folder is taken, whatever ``sources`` says. If the recipe's corpus.yaml says
            ``shipped: true``, what the project ships is the corpus, and is taken otherwise.
        sources: what params.yaml says, unless the corpus's entry says another: "sample" for the
            recipe's small sample, "upstream" for the corpus's servers, or a folder laid out as
            ``<folder>/<recipe>/<upstream file name>``. Files that are here already become symbolic
            links, because dumps are large and so that a change of them is noticed, and copies
            where there are no links; nothing ever writes into them.
        out: the folder.

    Raises:
        InputError: a file is missing, wrong or not to be had from there, or another fetch is at
            work in the folder.
    """
    sources = "sample" if corpus.is_shipped else corpus.sources or sources
    # Two would write into one unfinished download.
    with locked_folder(out, "fetch"):
        if sources == "upstream" and corpus.options.get("path") is None:
            _fetch_upstream(corpus, out)
            return
        source, files = _local_files(corpus, sources)
        _claim(out, source, [name for name, _ in files])
        for name, path in tqdm(files, desc=f"fetch {corpus.name}", unit="file", disable=None):
            _link(path, out / name)


def fetch_whole(wanted: Iterable[Source], out: Path) -> None:
    """Download files that have a URL into folder ``out``, held to their pins or to sources.lock.

    Raises:
        InputError: see ``downloads.download_locked``.
    """
    for source in wanted:
        assert source.url is not None
        download_locked(
            source.url, out / source.file, source.file, sha256=source.sha256, size=source.size
        )


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
        if not corpus.is_shipped:
            note = f"corpora.{corpus.name}.path is not set: took the sample of {corpus.recipe}"
            tqdm.write(note, file=sys.stderr)
    if sources == "sample":
        _check_sample(corpus)
        return sources, _files_below(RECIPES / corpus.recipe / "sample")
    return f"mirror {sources}", _mirror_files(corpus, Path(sources))


def _check_sample(corpus: Corpus) -> None:
    """Refuse the sample of a recipe for any language to a corpus in another one."""
    language = corpus.facts.get("sample_language", corpus.language)
    if corpus.language.partition("-")[0] != language:
        raise InputError(
            f"corpora.{corpus.name}.sources",
            expected=f"raw files in {corpus.language}",
            found=f"sample, and that of {corpus.recipe} is in {language}",
            todo="set `path:` in this entry of params.yaml: your own file or folder"
            if "path" in corpus.options
            else "say `sources: upstream`, or name a folder, in this entry of params.yaml",
        )


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
        if part := PART.fullmatch(name):
            name = part[1]
        if name not in known and not _matches(name, before["files"]):
            raise InputError(
                path,
                expected="a folder that holds only what fetch has brought",
                found="a file that it has not",
                todo="move the file away, or give fetch a folder of its own",
            )
        if before["source"] != source or not (name in wanted or _matches(name, patterns)):
            path.unlink()
            with suppress(OSError):  # it is not empty yet
                path.parent.rmdir()
    with whole_file(manifest) as temporary:
        text = json.dumps({"source": source, "files": sorted(patterns)}, ensure_ascii=False)
        temporary.write_text(text + "\n", "utf-8")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any("*" in pattern and fnmatchcase(name, pattern) for pattern in patterns)


# --- servers -------------------------------------------------------------------------------------


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
    fetch_whole(wanted, out)
