"""What datasets are called on leaderboards."""

NAME = "Probeta"


def task_name(dataset: str) -> str:
    """Return the name of a dataset as a task of mteb, where names of all benchmarks meet."""
    return f"{NAME}_{dataset}"
