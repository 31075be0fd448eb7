"""Colours of pictures and plots: one table for the viewers written in Python (the page has its own in scene.js)."""

LINE_COLOURS = ("#2563a8", "#c2410c", "#2e7d4f", "#8e4ec6", "#a16207", "#0e7490", "#be185d", "#52525b")

_ROLES = {  # red, green, blue
    "bus": (217, 180, 91),
    "panel": (52, 86, 150),
    "arm": (233, 236, 241),
    "joint": (125, 135, 148),
    "hand": (84, 96, 112),
    "tank": (185, 192, 202),
    "antenna": (238, 240, 243),
    "target": (183, 167, 214),
}


def shape_colour(colour: str) -> tuple[int, int, int]:
    """Red, green, blue (0 to 255) of a shape's colour, which is a role or #rrggbb."""
    if len(colour) == 7 and colour.startswith("#"):
        try:
            return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
        except ValueError:
            pass
    return _ROLES.get(colour, _ROLES["tank"])
