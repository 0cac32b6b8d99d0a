"""Discounts."""

from shop.money import Money


def percent_off(amount, percent):
    """The amount, reduced."""
    return Money(amount.cents * (100 - percent) // 100, amount.currency)


def best_discount(amount, discounts):
    """The lowest price that any of the discounts gives."""
    best = amount
    for discount in discounts:
        price = discount(amount)
        if price.cents < best.cents:
            best = price
    return best


def bulk(count, amount):
    """10 percent off for 10 pieces and more."""
    if count >= 10:
        return percent_off(amount, 10)
    return amount
