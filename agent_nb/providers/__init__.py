"""One file per wire protocol."""
