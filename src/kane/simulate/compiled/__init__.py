"""The loops that run without Python: compiled by numba on first use and kept in its cache on disk.

Importing this package imports numba, which takes a while; `kane.simulate` does so only when a simulation starts.
"""
