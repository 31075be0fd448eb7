"""What every package uses and none owns: records, channels, array types, checks, errors, files.

Importing this package switches JAX to float64, the one place where that happens.
"""

from freefloat.values.precision import enable_float64

enable_float64()

from freefloat.values.channels import Channel  # noqa: E402
from freefloat.values.errors import LawError, ModelError  # noqa: E402
from freefloat.values.records import quiet, record, static  # noqa: E402

__all__ = ["Channel", "LawError", "ModelError", "quiet", "record", "static"]
