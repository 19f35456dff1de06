'use strict';

function money(cents) {
  return String(cents / 100);
}

module.exports = { money };
