import type { Address } from '@shardlab/actor'
import type { HostLimits } from '../limits.js'
import type { Peer } from './peer.js'

export interface OutboxOptions {
  readonly limits: HostLimits
  /** Called with the first message of a turn. `flush` must run when that turn is over. */
  readonly atEndOfTurn: (flush: () => void) => void
  /** `member`: the sender; null: the host itself. */
  readonly onLimit: (member: Address | null, limit: keyof HostLimits, value: number) => void
}

/**
 * The peers to which this host has written in the current turn. At its end each of them sends what
 * was written as one packet.
 *
 * A base class of the mailbox instead of a part of it: a large cluster has a mailbox for each
 * member, and another object would be another cache miss for each message.
 */
export abstract class Outbox {
  protected readonly limits: HostLimits
  protected readonly onLimit: OutboxOptions['onLimit']
  readonly #atEndOfTurn: OutboxOptions['atEndOfTurn']
  /** In the order of the first write, linked by {@link Peer.nextDirty}. */
  #firstDirty: Peer | null = null
  #lastDirty: Peer | null = null
  #flushScheduled = false
  readonly #flushTurn = () => this.flush()

  protected constructor({ limits, atEndOfTurn, onLimit }: OutboxOptions) {
    this.limits = limits
    this.onLimit = onLimit
    this.#atEndOfTurn = atEndOfTurn
  }

  get busy(): boolean {
    return this.#flushScheduled
  }

  flush(): void {
    this.#flushScheduled = false
    let peer = this.#firstDirty
    this.#firstDirty = null
    this.#lastDirty = null
    while (peer !== null) {
      const next: Peer | null = peer.nextDirty
      peer.nextDirty = null
      peer.dirty = false
      peer.flush()
      peer = next
    }
  }

  /** Sends the message at the end of the turn, or now when the packet has reached its limit. */
  protected written(peer: Peer, sender: Address | null): void {
    if (peer.sizeBytes >= this.limits.packetBytes) {
      this.onLimit(sender, 'packetBytes', peer.sizeBytes)
      peer.flush()
    }
    if (peer.dirty) return
    peer.dirty = true
    if (this.#lastDirty === null) this.#firstDirty = peer
    else this.#lastDirty.nextDirty = peer
    this.#lastDirty = peer
    if (this.#flushScheduled) return
    this.#flushScheduled = true
    this.#atEndOfTurn(this.#flushTurn)
  }
}
