"""``python -m softmargin.cli``."""

from softmargin.cli.app import main

main()
