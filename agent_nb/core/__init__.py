"""Data and protocols every other layer rests on."""
