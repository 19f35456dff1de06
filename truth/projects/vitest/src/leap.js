export function isLeap(year) {
  return year % 4 === 0;
}

export function days(year) {
  return isLeap(year) ? 366 : 365;
}
