/**
 * A seeded generator in a tree: forks are independent, so a new draw in one place never moves the draws of
 * another (law 3). The same path and seed give the same draws on every platform; integers only inside.
 */
export interface Random {
  /** A generator of its own for this purpose; the same label gives the same generator each time. */
  fork(label: string): Random
  /** 0 … 2^32 - 1 */
  uint32(): number
  /** 0 … limit - 1, without bias. `limit` is 1 … 2^32. */
  below(limit: number): number
  /** A number in [0, 1) with 32 bits. */
  fraction(): number
  /** True in `numerator` of `denominator` draws. */
  chance(numerator: number, denominator: number): boolean
  bytes(length: number): Uint8Array
  /** The same elements in another order; the argument is left as it is. */
  shuffled<T>(items: readonly T[]): T[]
}
