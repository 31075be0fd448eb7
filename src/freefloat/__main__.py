"""`python -m freefloat` is the same as `freefloat`."""

from freefloat.cli import main

main()
