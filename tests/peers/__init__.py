"""Other people's programs, set up by hand, that ours are measured against, in tests and in benchmarks.

Nothing here imports `kane`. Every peer states its efforts like `kane` does: along the speeds, so that effort times
speed is the power that the actuator puts into the arm, whatever the signs of a paper are.
"""
