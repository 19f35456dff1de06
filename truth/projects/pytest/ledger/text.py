"""Prices as people read them."""


def shown(cents):
    return f"{cents // 100}.{cents % 100:02d}"
