import unittest

from units.metres import metres


class MetresTest(unittest.TestCase):
    def test_metres(self):
        self.assertEqual(metres("5 m"), 5)

    def test_kilometres(self):
        self.assertEqual(metres("2 km"), 2000)

    def test_centimetres(self):
        self.assertEqual(metres("150 cm"), 1.5)
