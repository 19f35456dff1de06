'use strict';

function slug(text) {
  return text.trim().toLowerCase().replace(/ /g, '-');
}

function words(text) {
  return text.split(/\s+/).filter(Boolean).length;
}

module.exports = { slug, words };
