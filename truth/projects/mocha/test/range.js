'use strict';
const assert = require('assert');
const { range } = require('../lib/range');

describe('range', () => {
  it('counts', () => {
    assert.deepStrictEqual(range(0, 3), [0, 1, 2]);
  });

  it('is empty', () => {
    assert.deepStrictEqual(range(3, 3), []);
  });

  it('steps', () => {
    assert.deepStrictEqual(range(0, 10, 4), [0, 4, 8]);
  });
});
