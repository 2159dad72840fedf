import type { Address } from '@shardlab/actor'

/** `cause` is the exception that left a handler, a broken invariant. */
export class SimulationFailedError extends Error {
  readonly seed: number | string
  readonly member: Address
  readonly atMs: number
  constructor(seed: number | string, member: Address, atMs: number, cause: Error) {
    super(`seed ${seed}: ${member} failed at ${new Date(atMs).toISOString()}: ${cause.message}`, { cause })
    this.name = 'SimulationFailedError'
    this.seed = seed
    this.member = member
    this.atMs = atMs
  }
}
