"""Names of version 0.1 work for one version: each warns, says what it is called now, and is the same object."""

import importlib
import warnings

import pytest

from freefloat.renamed import RENAMED


def value_of(dotted):
    """What a dotted name below `freefloat` is."""
    home, _, name = f"freefloat.{dotted}".rpartition(".")
    package, _, parent = home.rpartition(".")
    module = getattr(importlib.import_module(package), parent) if parent == "onboard" else importlib.import_module(home)
    return getattr(module, name)


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_name_warns_and_is_the_new_one(old):
    with pytest.warns(FutureWarning, match=r"freefloat\.[\w.]+ is now freefloat\.[\w.]+\.$") as caught:
        found = value_of(old)
    assert found is value_of(RENAMED[old])
    assert all(warning.filename == __file__ for warning in caught)  # it names the line of the user


def test_new_names_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for new in RENAMED.values():
            value_of(new)


def test_what_never_was_is_an_error():
    for package in ("freefloat", "freefloat.hil", "freefloat.campaign"):
        with pytest.raises(AttributeError, match="nothing_of_that_name"):
            _ = importlib.import_module(package).nothing_of_that_name
