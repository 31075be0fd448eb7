"""Studies of a scenario by many runs: is the run of the paper typical?"""
