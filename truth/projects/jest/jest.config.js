module.exports = { testEnvironment: 'node', watchman: false };
