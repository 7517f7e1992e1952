"""The tools a model may call, one file each."""
