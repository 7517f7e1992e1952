"""A coding agent that lives inside a Jupyter notebook.

Importing this package does no I/O and needs no ipywidgets: the names below load when first used.
"""
