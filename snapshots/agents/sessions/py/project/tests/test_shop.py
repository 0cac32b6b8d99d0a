import unittest

from shop.money import Money, parse_money
from shop.order import Order
from shop.stock import Stock


class ShopTest(unittest.TestCase):
    def test_money(self):
        self.assertEqual(Money(150).add(Money(50)).cents, 200)
        self.assertEqual(parse_money("1.50 EUR").cents, 150)

    def test_order(self):
        stock = Stock()
        stock.add("apple", Money(50), 10)
        order = Order("Ada")
        order.put("apple", 4)
        self.assertEqual(order.fulfil(stock).cents, 200)


if __name__ == "__main__":
    unittest.main()
