const factor = 2;

module.exports = { double: (number) => number * factor };
