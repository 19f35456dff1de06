import { expect, test } from 'vitest';
import { days, isLeap } from './leap.js';

test('every fourth year', () => {
  expect(isLeap(2024)).toBe(true);
  expect(isLeap(2023)).toBe(false);
});

test('not every hundredth', () => {
  expect(isLeap(1900)).toBe(false);
});

test('but every four hundredth', () => {
  expect(days(2000)).toBe(366);
});
