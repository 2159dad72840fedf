import type { Random } from '@shardlab/actor'

/**
 * What a message must be answered with. `none`: no reply, and the connection stays open. `derived`:
 * what the rules say about its bytes, which are random.
 */
export type Declared = 'ok' | 'none' | 'closed' | 'removed operation' | 'derived' | number

export interface Hostile {
  readonly bytes: Buffer
  readonly answer: Declared
}

/** One way to be hostile. */
export interface Kind {
  readonly name: string
  /** How often it is chosen, relative to the others. */
  readonly weight: number
  make(random: Random, requestId: number): Hostile
}

export function kind(
  name: string,
  answer: Declared,
  make: (random: Random, requestId: number) => Buffer,
  weight = 10,
): Kind {
  return { name, weight, make: (random, requestId) => ({ bytes: make(random, requestId), answer }) }
}
