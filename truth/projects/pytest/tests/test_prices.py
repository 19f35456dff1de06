from ledger.prices import discount, total


def test_total():
    assert total([(250, 2), (99, 1)]) == 599


def test_discount():
    assert discount(1000, 10) == 900


def test_discount_rounds_down():
    assert discount(999, 50) == 499
