"""The loop that keeps time, compiled: no Python within it. `record` says what it works in and imports no numba."""
