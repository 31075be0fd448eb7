from support.drawn_craft import chaser, client, random_craft, rng

__all__ = ["chaser", "client", "random_craft", "rng"]
