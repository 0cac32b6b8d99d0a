"""What is in stock."""

from shop.money import Money


class Article:
    """One thing that can be bought."""

    def __init__(self, name, price, count=0):
        self.name = name
        self.price = price
        self.count = count


class Stock:
    """All articles by name."""

    def __init__(self):
        self.articles = {}

    def add(self, name, price, count):
        """Add an article, or more of it."""
        if name in self.articles:
            self.articles[name].count += count
        else:
            self.articles[name] = Article(name, price, count)

    def take(self, name, count):
        """Take some of an article away."""
        article = self.articles[name]
        article.count -= count
        return article.price.times(count)

    def find(self, part):
        """The articles whose name holds this part."""
        found = []
        for name in self.articles:
            if part in name:
                found.append(self.articles[name])
        return found

    def value(self):
        """What all of it is worth."""
        result = Money(0)
        for article in self.articles.values():
            result = result.add(article.price.times(article.count))
        return result


def load_stock(lines):
    """Read a stock from lines such as "apple;0.50 EUR;12"."""
    from shop.money import parse_money

    stock = Stock()
    for line in lines:
        name, price, count = line.strip().split(";")
        stock.add(name, parse_money(price), int(count))
    return stock


def dump_stock(stock):
    """The lines that `load_stock` reads."""
    lines = []
    for name in stock.articles:
        article = stock.articles[name]
        lines.append(f"{name};{article.price.text()};{article.count}")
    return lines
