const test = require('node:test');
const assert = require('node:assert');
const { double } = require('..');

test('double', () => assert.strictEqual(double(2), 4));
