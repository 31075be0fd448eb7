"""What every package uses and none owns: records, channels, array types, checks, errors, files.

Importing this package switches JAX to float64, the one place where that happens.
"""

from typing import TYPE_CHECKING

from freefloat.values.precision import enable_float64

enable_float64()

from freefloat.renamed import renamed_names  # noqa: E402
from freefloat.values.channels import Channel  # noqa: E402
from freefloat.values.errors import ModelError, SoftwareError  # noqa: E402
from freefloat.values.records import quiet, record, static  # noqa: E402

__all__ = ["Channel", "ModelError", "SoftwareError", "quiet", "record", "static"]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
