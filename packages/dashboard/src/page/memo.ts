/**
 * Keeps the last result, because most frames have the same keys as the one before.
 * @returns a function that computes again only if one of the keys is another value than before
 */
export function memo<Result>(): (keys: readonly unknown[], compute: () => Result) => Result {
  let last: { readonly keys: readonly unknown[]; readonly result: Result } | null = null
  return (keys, compute) => {
    if (last === null || keys.some((key, i) => key !== last!.keys[i])) last = { keys, result: compute() }
    return last.result
  }
}
