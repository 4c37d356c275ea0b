"""Classes of passages and candidates, exactly balanced."""

from collections.abc import Sequence

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.passages import Passage


def balanced_classes(
    passages: Sequence[Passage | Candidate], classes: int, draw: Draw
) -> list[int]:
    """Draw a class for each, uniformly, with every class exactly equally often.

    Each passage gets the class of its keyed draw while that class has room; the few whose class is
    full fill the remaining places, in order. So leaving one passage out changes the class of a few
    others at most; drawing without replacement would change all.

    Args:
        passages: in keyed order; their number is a multiple of ``classes``.
        classes: the number of classes.
        draw: the dataset's.

    Returns:
        For each passage a class in 0 … classes - 1.

    Raises:
        ValueError: the number of passages is not a multiple of ``classes``.
    """
    if len(passages) % classes:
        raise ValueError(f"{len(passages)} passages cannot be balanced over {classes} classes")
    room = [len(passages) // classes] * classes
    drawn: list[int] = []
    for passage in passages:
        choice = draw.hash(passage.id, "class") % classes
        drawn.append(choice if room[choice] else -1)
        room[choice] -= room[choice] > 0
    left = iter([number for number in range(classes) for _ in range(room[number])])
    return [choice if choice >= 0 else next(left) for choice in drawn]
