"""Words between the loop that keeps time and others, by their places in memory that both see."""

STOP, FRONT, GRIP, HOLDING, TOLD = range(5)
"""To stop; the slot to be read; which grip; whether a mailbox has hold of it; how many transitions there have been."""

COUNT = 5

REACHED, STOPPED = 1, 100
"""Why the loop came back, where that is no fault: all ticks are over, or it was asked to. The first is that of
`simulate.compiled.records`."""
