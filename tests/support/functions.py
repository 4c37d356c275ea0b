"""Users' functions in tests: what this process knows of them is cleared."""

from evaluation.encoders import callable


def forget_functions() -> None:
    """Let functions be imported anew, as in another process; their modules are the caller's."""
    for cached in (callable._import_function, callable._digest_module, callable._find_sources):
        cached.cache_clear()
    callable._native_files.cache_clear()
    for noted in (callable._opened, callable._digests, callable._written):
        noted.clear()
