/** The power of the size by which the cost grows from the smallest to the largest: 1 is linear. */
export function exponent<T>(sizes: readonly T[], sizeOf: (each: T) => number, costOf: (each: T) => number): string {
  const [first, last] = [sizes[0]!, sizes.at(-1)!]
  return (Math.log(costOf(last) / costOf(first)) / Math.log(sizeOf(last) / sizeOf(first))).toFixed(2)
}
