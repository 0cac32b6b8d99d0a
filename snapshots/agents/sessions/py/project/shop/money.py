"""Amounts of money in cents."""


class Money:
    """An amount in one currency."""

    def __init__(self, cents, currency="EUR"):
        self.cents = cents
        self.currency = currency

    def __repr__(self):
        return f"Money({self.cents}, {self.currency!r})"

    def add(self, other):
        """The sum of both."""
        return Money(self.cents + other.cents, self.currency)

    def times(self, count):
        """This amount, several times."""
        return Money(self.cents * count, self.currency)

    def text(self):
        """For people."""
        return f"{self.cents / 100} {self.currency}"


def parse_money(text):
    """Read an amount such as "12.50 EUR"."""
    number, currency = text.split()
    return Money(int(float(number) * 100), currency)


def total(amounts):
    """The sum of all."""
    result = Money(0)
    for amount in amounts:
        result = result.add(amount)
    return result
