'use strict';

function range(from, to, step = 1) {
  const all = [];
  for (let at = from; at < to; at += 1) all.push(at);
  return all;
}

module.exports = { range };
