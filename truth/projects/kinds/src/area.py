def area(a, b):
    # TODO: rectangles
    return a + b
