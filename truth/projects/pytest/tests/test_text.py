from ledger.text import shown


def test_shown():
    assert shown(1205) == "12.05"
