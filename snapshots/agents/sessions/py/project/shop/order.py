"""Orders."""

from shop.money import total


class Order:
    """What one customer wants."""

    def __init__(self, customer):
        self.customer = customer
        self.lines = []

    def put(self, name, count):
        """Add a line."""
        self.lines.append((name, count))

    def remove(self, name):
        """Take a name's lines away."""
        kept = []
        for line in self.lines:
            if line[0] != name:
                kept.append(line)
        self.lines = kept

    def fulfil(self, stock):
        """Take everything from the stock; the price of it all."""
        prices = []
        for name, count in self.lines:
            prices.append(stock.take(name, count))
        return total(prices)


def missing(order, stock):
    """The names of which there isn't enough."""
    names = []
    for name, count in order.lines:
        if stock.articles[name].count < count:
            names.append(name)
    return names


def receipt(order, price):
    """A text for the customer."""
    rows = [f"Order of {order.customer}"]
    for name, count in order.lines:
        rows.append(f"{count} x {name}")
    rows.append(f"Total: {price.text()}")
    return "\n".join(rows)
