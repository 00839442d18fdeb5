"""What a sample says of the interpreter that it ran in."""

from __future__ import annotations

import sys
import sysconfig
from types import ModuleType

import pytest

from observatory.benchmarks.environment import describe, versions


def test_an_ordinary_python_says_nothing_of_the_lock() -> None:
    assert "gil" not in versions(())


@pytest.mark.parametrize(("enabled", "told"), [(True, "on"), (False, "off")])
def test_a_free_threaded_python_says_whether_the_lock_was_off(
    monkeypatch: pytest.MonkeyPatch, enabled: bool, told: str
) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: int(name == "Py_GIL_DISABLED"))
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: enabled, raising=False)
    assert versions(())["gil"] == told


class Config:
    """The part of PyTensor's configuration that is described."""

    cxx, mode, linker, floatX = "", "Mode", "cvm", "float64"  # noqa: N815 - PyTensor's name
    looked = False

    @property
    def blas__ldflags(self) -> str:
        self.looked = True
        return "-lblas"


@pytest.mark.parametrize(("links", "told"), [(True, "-lblas"), (False, None)])
def test_blas_is_looked_for_only_where_code_is_linked_with_it(
    monkeypatch: pytest.MonkeyPatch, links: bool, told: str | None
) -> None:
    module = ModuleType("pytensor.configdefaults")
    module.config = config = Config()
    monkeypatch.setitem(sys.modules, "pytensor", ModuleType("pytensor"))
    monkeypatch.setitem(sys.modules, "pytensor.configdefaults", module)
    facts = describe(None, links=links)
    assert (facts["blas_ldflags"], config.looked) == (told, links)
    assert (facts["floatX"], facts["cxx"]) == ("float64", None)
