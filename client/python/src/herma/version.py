"""The package's version, which is that of the daemon that it was written for."""

VERSION = "0.1.0"
