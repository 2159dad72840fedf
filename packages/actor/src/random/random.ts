/**
 * A seeded generator in a tree. Forks are independent: a new draw from one never changes the draws
 * of another. The same seed and path give the same draws on every platform, because all arithmetic
 * is on integers.
 */
export interface Random {
  /** The same label gives the same draws each time. */
  fork(label: string): Random
  uint32(): number
  /** 0 … limit - 1, without bias. `limit` is 1 … 2^32. */
  below(limit: number): number
  /** A number in [0, 1) with 32 bits. */
  fraction(): number
  chance(numerator: number, denominator: number): boolean
  bytes(length: number): Uint8Array
  shuffled<T>(items: readonly T[]): T[]
}
