exports.half = (n) => n / 2;
exports.round = (n) => Math.floor(n);
