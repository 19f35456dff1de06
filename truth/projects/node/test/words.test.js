'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { words } = require('../lib/slug.js');

test('counts words', () => {
  assert.strictEqual(words(' one two  three '), 3);
});
