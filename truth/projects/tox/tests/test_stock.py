import unittest

from shelf import Stock, parse


class StockTest(unittest.TestCase):
    def setUp(self):
        self.stock = Stock()
        self.stock.add("nut", 3)

    def test_add(self):
        self.stock.add("nut", 2)
        self.assertEqual(self.stock.items["nut"], 5)

    def test_take(self):
        self.stock.take("nut", 1)
        self.assertEqual(self.stock.items["nut"], 2)

    def test_take_too_many(self):
        with self.assertRaises(ValueError):
            self.stock.take("nut", 4)

    def test_take_unknown(self):
        with self.assertRaises(ValueError):
            self.stock.take("bolt", 1)


class ParseTest(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse("nut: 12"), ("nut", 12))


if __name__ == "__main__":
    unittest.main()
