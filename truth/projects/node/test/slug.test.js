'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { slug } = require('../lib/slug.js');

test('lower case', () => {
  assert.strictEqual(slug('Hello World'), 'hello-world');
});

test('one dash for many blanks', () => {
  assert.strictEqual(slug('a   b'), 'a-b');
});

test('no signs', () => {
  assert.strictEqual(slug('Hi, there!'), 'hi-there');
});
