"""The papers' scenarios run the code that users get."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _code_that_users_get():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FREEFLOAT_QUICK_CODE", raising=False)
        yield
