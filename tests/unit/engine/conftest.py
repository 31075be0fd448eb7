"""Double precision, and a cache of the tests' own."""

import jax
import pytest

jax.config.update("jax_enable_x64", True)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("FREEFLOAT_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="module")
def _code_at_full_strength():
    """These tests are of the code that long runs use, and of SIMD code for batches however small."""
    from freefloat.engine.runtime import native

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FREEFLOAT_QUICK_CODE", "0")
        patch.setattr(native, "WIDE_PAYS", 0)
        yield
