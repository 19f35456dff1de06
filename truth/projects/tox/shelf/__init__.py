from .stock import Stock, parse
