"""The command line: the same library for people who would rather type a command."""
