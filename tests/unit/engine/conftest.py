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
def _code_that_users_get():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FREEFLOAT_QUICK_CODE", raising=False)
        yield
