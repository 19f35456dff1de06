'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { money } = require('../lib/format.js');

test('two digits', () => {
  assert.strictEqual(money(1250), '12.50');
});

test('whole numbers', () => {
  assert.strictEqual(money(300), '3.00');
});
