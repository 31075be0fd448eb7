"""Reports what this installation can compile and where it keeps the results."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Any

from . import background, cache, lookup
from .workers import available_threads


def doctor() -> dict[str, Any]:
    """Facts about targets, processor, SIMD width, threads, the graphics card, the disk cache and repeated tracing."""
    from freefloat.engine.cuda.card import describe, what_is_missing

    found = cache.entries()
    facts: dict[str, Any] = {
        "targets": {
            "native": importlib.util.find_spec("llvmlite") is not None,
            "jax": importlib.util.find_spec("jax") is not None,
            "gpu": not what_is_missing(),
            "c": True,
        },
        "threads": available_threads(),
        "c_compiler": shutil.which("cc"),
        "gpu": describe(),
        "cache_directory": str(cache.directory() or "none"),
        "cache_unused": cache.unusable_reason() or "no",
        "cache_entries": len(found),
        "cache_bytes": sum(path.stat().st_size for path in found),
        "cache_limit_bytes": cache.size_limit(),
        "traced_again": dict(lookup.traced_again()),
        "full_code_failed": list(background.failures),
        "engine_version": cache.engine_version(),
    }
    if facts["targets"]["native"]:
        from freefloat.engine.llvm.machine import host

        here = host()
        facts |= {"cpu": here.cpu, "simd_width": here.width, "fma": here.fma, "llvmlite": here.llvmlite}
    return facts


def clear_cache() -> int:
    """Remove all compiled code from disk; returns the number of entries."""
    lookup.forget_reasons()
    return cache.clear()
