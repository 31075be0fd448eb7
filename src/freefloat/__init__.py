"""freefloat: simulate, control and rehearse on-orbit robotic servicing.

    import freefloat as ff

    chaser = ff.library.ets7()
    software = ff.ResolvedMotion(craft=chaser, frame="hand", path=ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01))
    run = ff.simulate(chaser, software, joints_deg=(0, 0, 10, -32.8, 0, 0), duration=22.0)

Names are loaded when they are first used, so importing the package costs nothing.
"""

from typing import Any

from freefloat.lazy_names import lazy_names

__version__ = "0.2.0"

_get, _dir, _names = lazy_names(__name__, __file__, calls=4)
__all__ = _names  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "engine":  # it stands alone and switches nothing on; reached through us, it computes in float64
        import freefloat.values  # noqa: F401
    return _get(name)


def __dir__() -> list[str]:
    return [*_dir(), "__version__"]
