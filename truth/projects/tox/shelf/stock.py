"""What lies on a shelf."""


def parse(line):
    name, count = line.split(":")
    return name.strip(), int(count)


class Stock:
    def __init__(self):
        self.items = {}

    def add(self, name, count):
        self.items[name] = self.items.get(name, 0) + count

    def take(self, name, count):
        self.items[name] -= count
