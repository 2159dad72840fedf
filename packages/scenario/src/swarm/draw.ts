import type { Random } from '@shardlab/actor'

/** One of them, each as likely as the others. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!
}
