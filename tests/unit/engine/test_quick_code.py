"""Code that is made quickly computes the same bits as code that runs fast."""

import chain
import jax
import numpy as np

from freefloat import engine


def test_quick_code_computes_the_same_bits(monkeypatch, tmp_path):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path))
    many, taus = chain.start(16)
    start, tau = chain.one(many), taus[0]
    graph = engine.trace(chain.step, start, tau)
    fast = engine.compile(graph)
    expected = fast.rollout(start, tau, steps=50), fast.rollout_batch(many, tau, steps=50, in_axes=(0, None))
    kept = len(list(tmp_path.rglob("*")))
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "1")
    quick = engine.compile(graph)
    found = quick.rollout(start, tau, steps=50), quick.rollout_batch(many, tau, steps=50, in_axes=(0, None))
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    assert len(list(tmp_path.rglob("*"))) > kept  # the two are kept apart
