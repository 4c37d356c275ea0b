"""Where the raw files of a corpus come from: sample, mirror, servers, the Hub."""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from corpora_recipes.fetching.downloads import (
    Fetched,
    Locked,
    add_to_lock,
    announce,
    fetch_whole,
    matches_any,
    read_fetched,
    read_lock,
    today,
    unpack,
    write_fetched,
)
from corpora_recipes.fetching.ranges import PART
from corpora_recipes.recipe import (
    RECIPES,
    Corpus,
    MissingCorpus,
    Source,
    how_to_get,
    load_recipe,
    missing_corpus,
)
from corpora_recipes.running.console import plural
from corpora_recipes.running.errors import InputError, ParamsError, SmallSample
from corpora_recipes.running.outputs import clear, locked_folder, whole_file

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo


# The beginning of the names of datasets of the Hub.
HUB = "hf://"
_NAME = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([^@]+?))?(?:/(.+))?")


@dataclass(frozen=True, slots=True)
class HubFiles:
    """Files of a dataset of the Hub, each with its bytes."""

    repository: str
    commit: str
    files: dict[str, int]


def parse_hub_name(name: str) -> tuple[str, str, str]:
    """Return repository, revision and folder of ``hf://datasets/ORG/NAME[@REVISION][/FOLDER]``."""
    match = _NAME.fullmatch(name)
    if match is None:
        form = "hf://datasets/ORG/NAME[@REVISION][/FOLDER], the parts in brackets at will"
        raise ParamsError(name, form, name)
    repository, revision, folder = match.groups(default="")
    return repository, revision, folder


def find_on_hub(name: str, patterns: Sequence[str]) -> HubFiles:
    """Return the files of a dataset whose names match a pattern; ``parse_hub_name`` reads ``name``.

    Without a revision, it is the commit that sources.lock has, or else the newest.
    """
    repository, revision, folder = parse_hub_name(name)
    if not revision and (locked := read_lock().get(f"{HUB}datasets/{repository}")):
        revision = locked.sha1
    info = dataset_info(repository, revision or None)
    files = {
        sibling.rfilename: sibling.size or 0
        for sibling in info.siblings or ()
        if any(fnmatchcase(sibling.rfilename, pattern) for pattern in patterns)
        and (not folder or sibling.rfilename.startswith(f"{folder.strip('/')}/"))
    }
    if not files:
        names = sorted(sibling.rfilename for sibling in info.siblings or ())
        expected = f"files named {', '.join(patterns)}"
        todo = "name another dataset or folder; scripts and pickles are not run"
        raise InputError(name, expected, ", ".join(names) or "no files", todo)
    return HubFiles(repository, str(info.sha), files)


def download(name: str, patterns: Sequence[str], out: Path) -> None:
    """Download the files of ``find_on_hub`` into a folder, and lock their commit."""
    from huggingface_hub import snapshot_download

    dataset = find_on_hub(name, patterns)
    announce(dataset.files.values(), f"{name}, commit {dataset.commit}", out)
    with hub_failures(dataset.repository):
        snapshot_download(
            dataset.repository,
            repo_type="dataset",
            revision=dataset.commit,
            allow_patterns=[*dataset.files],
            local_dir=out,
        )
    for path in (path for pattern in patterns for path in out.rglob(pattern)):
        if path.relative_to(out).as_posix() not in dataset.files:
            path.unlink()  # of another commit
    if not parse_hub_name(name)[1]:
        lock = Locked(today(), dataset.repository, size=0, sha1=dataset.commit)
        add_to_lock(f"{HUB}datasets/{dataset.repository}", lock)


def dataset_info(repository: str, revision: str | None) -> "DatasetInfo":
    """Return what the Hub says of a dataset and the sizes of its files."""
    from huggingface_hub import HfApi

    with hub_failures(repository):
        return HfApi().dataset_info(repository, revision=revision, files_metadata=True)


@contextmanager
def hub_failures(
    repository: str,
    expected: str = "a dataset that can be downloaded",
    todo: str = "check the connection (HF_HUB_OFFLINE must not be set), then run it again",
) -> Iterator[None]:
    """Turn errors of huggingface_hub into an InputError."""
    # Only for datasets of the Hub.
    import httpx2
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    try:
        yield
    # Offline errors and answers of the Hub are OSErrors; a wrong name or a refused card is a
    # ValueError, a failed upload of a large file a RuntimeError.
    except (httpx2.HTTPError, OSError, ValueError, RuntimeError) as error:
        if isinstance(error, RepositoryNotFoundError):
            todo = "correct the name; for a private or gated dataset, log in with `hf auth login`"
        elif isinstance(error, RevisionNotFoundError):
            todo = "correct the revision: a branch, a tag or a commit"
        found = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InputError(hub_location(repository), expected, found, todo) from error


def hub_location(repository: str) -> str:
    """Return the place of a repository, for messages."""
    return f"the Hugging Face Hub, {repository}"


def fetch(corpus: Corpus, sources: str, out: Path) -> None:
    """Put the raw files of a corpus into folder ``out``.

    The folder belongs to this command: files of an earlier fetch with other sources are removed,
    and a file that no fetch has put there is an error. Only the files of a corpus that people must
    ask for may be put there by hand, where upstream or the mirror has none. Until the fetch has
    ended, `read` refuses the folder.

    ``sources`` are those of params.yaml, unless the corpus's entry has others, or its option
    ``path`` names the user's files: "sample", "upstream" for its servers, or a folder laid out as
    ``<folder>/<recipe>/<upstream file name>``. Local files become symbolic links, because dumps are
    large and so that changes are noticed, or copies on systems without links.
    """
    sources = origin_of(corpus, sources)
    # Two fetches would write into one partial download.
    with locked_folder(out, "fetch"):
        try:
            if sources == "upstream":
                _fetch_upstream(corpus, out)
            else:
                _link_local(corpus, sources, out)
        except MissingCorpus:
            # The user may have put them there.
            by_hand = list(_all_names(list_sources(corpus)))
            with _claim_folder(out, "by hand", [], by_hand):
                if not _user_has_files(corpus, out):
                    raise


def check_files(corpus: Corpus, sources: str, out: Path) -> None:
    """Check that the files are there that ``fetch`` would link or that people must get.

    Servers are not asked. For the arguments, see ``fetch``.
    """
    sources = origin_of(corpus, sources)
    try:
        if sources != "upstream":
            list_local_files(corpus, sources, out)
        elif _must_be_asked_for(corpus) and not _can_be_fetched(corpus, list_sources(corpus)):
            raise _unavailable_error(corpus, list_sources(corpus), out)
    except MissingCorpus:
        if not _user_has_files(corpus, out):
            raise


def list_sources(corpus: Corpus) -> list[Source]:
    """Return the raw files of the corpus, with its language and options filled in."""
    values = {"language": corpus.language, **corpus.options}
    listed = load_recipe(corpus.recipe).sources(corpus)
    return [_fill_in(source, values, corpus) for source in listed]


def _fill_in(source: Source, values: dict[str, Any], corpus: Corpus) -> Source:
    file = source.file.format(**values)
    if ".." in Path(file).parts or Path(file).is_absolute():
        expected = "options that name files in the corpus's folder"
        raise ParamsError(f"{corpus.where}.corpus", expected, repr(file))
    return replace(
        source,
        file=file,
        urls=tuple(url.format(**values) for url in source.urls),
        packed=source.packed and _fill_in(source.packed, values, corpus),
        instead=tuple(_fill_in(file, values, corpus) for file in source.instead),
    )


def origin_of(corpus: Corpus, sources: str) -> str:
    """Return "sample", "upstream" or a folder: where raw files come from.

    With the option ``path``, it is that file or folder, or "upstream" if that is a dataset's name.
    """
    if (path := corpus.options.get("path")) is not None:
        return "upstream" if path.startswith(HUB) else str(Path(path).expanduser().absolute())
    return "sample" if corpus.is_shipped else corpus.sources or sources


# --- local files ---------------------------------------------------------------------------------


def _link_local(corpus: Corpus, sources: str, out: Path) -> None:
    source, files = list_local_files(corpus, sources, out, warn=True)
    with _claim_folder(out, source, [name for name, _ in files]):
        for name, path in tqdm(files, desc=f"fetch {corpus.name}", unit="file", disable=None):
            if Path(name).name != path.name:
                unpack(path, Source(name), out)
            else:
                _link(path, out / name)
        load_recipe(corpus.recipe).verify(out, corpus)


def list_local_files(
    corpus: Corpus, sources: str, out: Path, *, warn: bool = False
) -> tuple[str, list[tuple[str, Path]]]:
    """Return the origin of local files, for the manifest, and the files: name in ``out``, path.

    With ``warn``, optional files that a mirror lacks are named. For the rest see ``check_files``.
    """
    if (path := corpus.options.get("path")) is not None:
        return f"path {path}", _users_files(corpus, Path(path).expanduser(), warn)
    if sources == "sample":
        sample = sample_folder(corpus)
        files = [(p.relative_to(sample).as_posix(), p) for p in sample.rglob("*") if p.is_file()]
        if not files:
            raise InputError(sample, "the raw files of the recipe's sample", "none", "add them")
        # A sample of "es" is that of "es-CL" too, under the name of its own language.
        listed = list_sources(replace(corpus, language=corpus.language.partition("-")[0]))
        treebank = str(corpus.options.get("treebank"))
        if treebank in corpus.facts.treebanks and not any(treebank in name for name, _ in files):
            raise _no_sample(corpus, f"raw files of {treebank}", "has others")
        date = _newest(sample, listed)
        for source in listed:
            if not (source.optional or source.is_pattern or _in_mirror(source, sample, date)):
                todo = "add it to the sample, or correct `file` under `sources` of corpus.yaml"
                raise InputError(sample / source.file, "a file of the sample", "none", todo)
        return sources, sorted(files)
    return f"mirror {sources}", _mirror_files(corpus, Path(sources), out, warn)


def sample_folder(corpus: Corpus) -> Path:
    """Return the folder of the recipe's sample in the language of the corpus."""
    folder, language = RECIPES / corpus.recipe / "sample", corpus.language.partition("-")[0]
    languages = corpus.facts.sample_languages
    if languages and language not in languages:
        raise _no_sample(
            corpus, f"raw files in {corpus.language}", f"is in {' and '.join(languages)}"
        )
    return folder / language if len(languages) > 1 else folder


def _no_sample(corpus: Corpus, expected: str, instead: str) -> InputError:
    """Return the error for a corpus whose sample is another one, or that needs the user's files."""
    where = f"{corpus.where}.corpus.sources"
    found = f"sample, and the sample of {corpus.recipe} {instead}"
    if "path" in corpus.options:
        todo = "set `path:` in `corpus` of this entry: your file or folder"
        return ParamsError(where, expected, found, todo)
    todo = "in `corpus` of this entry, write `sources: upstream` or a folder"
    return SmallSample(where, expected, found, todo)


def _users_files(corpus: Corpus, path: Path, warn: bool) -> list[tuple[str, Path]]:
    """List the user's file, or the files of the user's folder: name in out, path."""
    patterns = [source.file for source in list_sources(corpus)]
    top = path if path.is_dir() else path.parent
    entries = sorted(path.rglob("*")) if path.is_dir() else [path]
    visible = (p for p in entries if not any(n.startswith(".") for n in p.relative_to(top).parts))
    paths = [p for p in visible if _is_file(p)]
    files = [p for p in paths if any(fnmatchcase(p.name, pattern) for pattern in patterns)]
    if not files or not path.exists():
        found = f"a folder of {len(paths) or 'no'} other files" if path.is_dir() else path.name
        expected = f"for {corpus.where}.corpus.path a file, or a folder of files, named "
        raise InputError(
            path,
            expected + ", ".join(patterns),
            found if path.exists() else "no such file or folder",
            "correct the path (relative to the current folder)"
            + (", or save the texts as one of these" if path.exists() else ""),
        )
    if warn and (unread := sorted({*paths} - {*files})):
        names = shorten(", ".join(p.relative_to(top).as_posix() for p in unread), 100)
        tqdm.write(f"{path}: {plural(len(unread), 'files')} not read: {names}", file=sys.stderr)
    return [(p.relative_to(top).as_posix(), p) for p in files]


def _mirror_files(corpus: Corpus, mirror: Path, out: Path, warn: bool) -> list[tuple[str, Path]]:
    """List the files of the corpus in a mirror: name in out, path."""
    folder = mirror / corpus.recipe
    if not mirror.is_dir():
        expected = f'"sample", "upstream" or a folder as `sources` in {corpus.params}'
        raise ParamsError(mirror, expected, "no such folder")
    listed = list_sources(corpus)
    if not listed:
        raise _unavailable_error(corpus, listed, out)
    date = _newest(folder, listed) if corpus.options.get("date") == "latest" else None
    files = []
    for source in listed:
        mirrored = _in_mirror(source, folder, date)
        files += mirrored
        if mirrored:
            continue
        if source.optional and any(_in_mirror(s, folder, date) for s in listed):
            if warn:
                tqdm.write(f"{folder} has no {source.file}: taken without it", file=sys.stderr)
        elif _must_be_asked_for(corpus):
            raise _unavailable_error(corpus, listed, out)
        else:
            todo = " from ".join(["put it there", *source.urls[:1]])
            where, expected = folder / source.file, f"a raw file of {corpus.name}"
            raise InputError(where, expected, "no such file", todo)
    return files


def _in_mirror(source: Source, folder: Path, date: str | None) -> list[tuple[str, Path]]:
    """List the files of one source, or of those instead of it: name in out, path."""
    if source.is_pattern:
        paths = sorted(path for path in folder.glob(source.file) if _is_file(path))
    else:
        names = [source.file, *([source.file.replace("latest", date)] if date else [])]
        paths = [folder / name for name in names if _is_file(folder / name)][:1]
    if paths:
        return [(path.relative_to(folder).as_posix(), path) for path in paths]
    if source.packed is not None and (folder / source.packed.file).is_file():
        return [(source.file, folder / source.packed.file)]
    return [pair for file in source.instead for pair in _in_mirror(file, folder, date)]


def _is_file(path: Path) -> bool:
    """Return whether there is a file; a link that leads nowhere is one that is missing."""
    if path.is_symlink() and not path.exists():
        raise InputError(path, "a file", "a link that leads nowhere", "mend or remove the link")
    return path.is_file()


def _newest(folder: Path, listed: Sequence[Source]) -> str | None:
    """Return the last date (YYYYMMDD) for which every file with "latest" in its name exists."""
    dates: list[set[str]] = []
    for file in (folder / source.file for source in listed if "latest" in source.file):
        pattern = re.compile(re.escape(file.name).replace("latest", r"(\d{8})"))
        matches = [pattern.fullmatch(path.name) for path in file.parent.glob("*")]
        dates.append({match[1] for match in matches if match})
    return max(set.intersection(*dates), default=None) if dates else None


def _link(path: Path, target: Path) -> None:
    # A link is made at once, whole; until the fetch has ended, `read` refuses the folder.
    if target.is_symlink():
        if target.readlink() == path.resolve():
            return
        target.unlink()
    try:
        target.symlink_to(path.resolve())
    except OSError:
        with whole_file(target) as temporary:
            shutil.copyfile(path, temporary)


@contextmanager
def _claim_folder(
    out: Path, source: str, patterns: Sequence[str], by_hand: Sequence[str] = ()
) -> Iterator[None]:
    """Make ``out`` a folder that holds only files of this source; at the end it holds all."""
    previous = read_fetched(out) or Fetched("", [], complete=False)
    fetched_names, expected_names = set(previous.files), set(patterns)
    for folder in (out, *(path for path in out.rglob("*") if path.is_dir())):
        clear(folder)
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_dir() or any(part.startswith(".") for part in Path(name).parts):
            continue
        name = name.removesuffix(".part.json").removesuffix(".part")
        if part := PART.fullmatch(name):
            name = part[1]
        if not matches_any(name, fetched_names):
            if matches_any(name, set(by_hand)):
                continue
            expected = "a folder with files of fetch alone"
            raise InputError(path, expected, "another file", "move the file away")
        if previous.source != source or not matches_any(name, expected_names):
            path.unlink()
            with suppress(OSError):  # it is not empty yet
                path.parent.rmdir()
    write_fetched(out, Fetched(source, sorted(patterns), complete=False))
    yield
    fetched = read_fetched(out)
    assert fetched is not None
    write_fetched(out, replace(fetched, complete=True))


# --- servers -------------------------------------------------------------------------------------


def _must_be_asked_for(corpus: Corpus) -> bool:
    return bool(corpus.facts.manual) and "path" not in corpus.options


def _can_be_fetched(corpus: Corpus, listed: Sequence[Source]) -> bool:
    harvest = load_recipe(corpus.recipe).fetch_upstream
    return harvest is not None or bool(listed and all(source.urls for source in listed))


def _unavailable_error(corpus: Corpus, listed: Sequence[Source], out: Path) -> InputError:
    if _must_be_asked_for(corpus):
        return missing_corpus(corpus, list(_all_names(listed)), out)
    found = how_to_get(corpus) or "the corpus has no URL"
    todo = f"write `sources: sample` in `corpus` of the entry {corpus.name}"
    if listed:
        names = ", ".join(source.file for source in listed)
        todo += f"; or `sources: MIRROR`, and put {names} into MIRROR/{corpus.recipe}/"
    where = f"{corpus.where}, from upstream or a mirror"
    return InputError(where, "files that can be downloaded", found, todo)


def _user_has_files(corpus: Corpus, out: Path) -> bool:
    """Return whether the user has put all files into a folder that are not optional."""
    manifest = read_fetched(out)
    fetched = set(manifest.files if manifest else [])

    def is_there(source: Source) -> bool:
        names = (path.relative_to(out).as_posix() for path in out.glob(source.file))
        if any(not matches_any(name, fetched) for name in names):
            return True
        return bool(source.instead) and all(map(is_there, source.instead))

    sources = list_sources(corpus)
    missing = [source for source in sources if not is_there(source)]
    return len(missing) < len(sources) and all(source.optional for source in missing)


def _fetch_upstream(corpus: Corpus, out: Path) -> None:
    corpus = load_recipe(corpus.recipe).settled(corpus)
    listed = list_sources(corpus)
    if not _can_be_fetched(corpus, listed):
        raise _unavailable_error(corpus, listed, out)
    harvest = load_recipe(corpus.recipe).fetch_upstream
    with _claim_folder(out, "upstream", list(_all_names(listed))):
        if harvest is not None:
            harvest(corpus, out)
        else:
            fetch_whole(listed, out)


def _all_names(listed: Iterable[Source]) -> Iterator[str]:
    """Yield the names of all files that a fetch may put into the folder."""
    for source in listed:
        yield source.file
        yield from _all_names([*([source.packed] if source.packed else []), *source.instead])
