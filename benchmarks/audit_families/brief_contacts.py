"""Contact so stiff that it begins and ends within a step."""

from __future__ import annotations

from functools import partial

from audit_families.contacts import draw
from audit_families.family import Family

FAMILY = Family("contact within a step", 10, 110, partial(draw, brief=True))
