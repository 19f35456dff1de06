const { Cart } = require('./cart');

test('an empty cart costs nothing', () => {
  expect(new Cart().sum()).toBe(0);
});

test('a line counts', () => {
  expect(new Cart().add('tea', 300).sum()).toBe(300);
});

test('a line counts as often as it is bought', () => {
  expect(new Cart().add('tea', 300, 2).add('cup', 50, 3).sum()).toBe(750);
});
