import type { Random } from '@shardlab/actor'

/** With equal probability. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!
}
