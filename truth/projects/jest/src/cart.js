class Cart {
  constructor() {
    this.lines = [];
  }

  add(name, price, count = 1) {
    this.lines.push({ name, price, count });
    return this;
  }

  sum() {
    return this.lines.reduce((sum, line) => sum + line.price, 0);
  }
}

module.exports = { Cart };
