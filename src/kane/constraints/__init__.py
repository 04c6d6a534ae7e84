"""Numbers of constraints: metric, rank, null space, projection, branches, multipliers, diagnosis, thresholds.

Works on arrays and callables; knows no mechanism and no program.
"""
