const test = require('node:test');
const assert = require('node:assert');
const { half, round } = require('..');

test('half', () => assert.strictEqual(half(4), 2));

test('round', () => assert.strictEqual(round(1.6), 2));
