def tax(cents, percent):
    return cents * percent / 100
