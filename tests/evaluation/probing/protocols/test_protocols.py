"""What every protocol has."""

import pytest
from probe_problems import splits

from evaluation.probing.protocols import PROTOCOLS
from evaluation.probing.protocols.problem import Protocol


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS.keys())
@pytest.mark.parametrize("factor", [0.01, 100])
def test_the_scale_matters_where_the_protocol_says_so(protocol: Protocol, factor: float) -> None:
    problem, _ = splits(rows=(60, 30, 30), apart=1)
    scaled, _ = splits(rows=(60, 30, 30), apart=1, scale=factor)
    plain, other = (protocol.answer(p, 1, protocol.engines[0]) for p in (problem, scaled))
    assert (plain.predictions == other.predictions).all() != protocol.scale_matters
