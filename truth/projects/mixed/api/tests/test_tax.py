import unittest

from rates import tax


class TaxTest(unittest.TestCase):
    def test_whole(self):
        self.assertEqual(tax(1000, 20), 200)

    def test_rounds_up(self):
        self.assertEqual(tax(101, 7), 8)
