"""Attention you can run, look at, break, write and be graded on."""
