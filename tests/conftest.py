"""Puts this directory on the import path, for what tests share: `request_checker`."""
