"""Metres of a text such as `3 km`."""

FACTORS = {"m": 1, "km": 1000}


def metres(text):
    number, unit = text.split()
    return int(number) * FACTORS[unit]
