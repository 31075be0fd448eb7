"""A second process rehearses with the code that the first has left."""

import numpy as np

from freefloat.engine.runtime import lookup
from freefloat.hil import rehearse
from support.rehearsing import cell, experiment, rehearsal


def test_a_second_process_traces_nothing(own_cache, traces) -> None:
    def work():
        return rehearse(rehearsal(experiment(duration=0.02)), cell())

    first = work()
    before = len(traces)
    assert before > 0
    lookup.forget()
    again = work()
    assert len(traces) == before
    for name in first.channels:
        if name != "cell.effort":  # seconds on the clock
            np.testing.assert_array_equal(first.values(name), again.values(name), err_msg=name)
