"""Studies that stand behind a scenario: is the run of the paper typical?"""
