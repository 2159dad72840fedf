/**
 * Merges the cursors of several shards: by sort key, or as the documents come. Server: async_results_merger.cpp,
 * router_stage_merge; it asks all shards that have run dry at once.
 */
import type { RawValue } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import type { DocumentStream } from './document-stream.js'
import type { BufferedCursor } from './remote-cursor.js'

/** The place of a document in an order: a KeyString, or the values themselves where a collation decides. */
export type MergeKey = string | readonly (RawValue | undefined)[]

/** How the streams are ordered. */
export interface MergeOrder {
  /** The place of a document; it may lie in the document's bytes. */
  keyOf(document: Uint8Array): MergeKey
  /** Of two keys of this order. */
  isBefore(a: MergeKey, b: MergeKey): boolean
  /** The document without what the shard added for merging. */
  strip(document: Uint8Array): Uint8Array
}

export class ResultsMerger implements DocumentStream {
  readonly #remotes: readonly BufferedCursor[]
  readonly #order: MergeOrder | null
  /** Sort key of each remote's head; undefined: not computed yet. */
  readonly #keys: (MergeKey | undefined)[]
  readonly #batchSize: number
  readonly #allowPartial: boolean
  #isPartial: boolean
  /** Without an order: the remote that is being emptied. */
  #current = 0

  /**
   * @param batchSize of the getMore requests to shards; 0: as many as fit
   * @param partial whether shards that cannot be reached are passed over, and whether some have been already; default: neither
   */
  constructor(
    remotes: readonly BufferedCursor[],
    order: MergeOrder | null,
    batchSize: number,
    partial: { readonly allowed: boolean; readonly isSo: boolean } = { allowed: false, isSo: false },
  ) {
    this.#allowPartial = partial.allowed
    this.#isPartial = partial.isSo
    this.#remotes = remotes
    this.#order = order
    this.#keys = remotes.map(() => undefined)
    this.#batchSize = batchSize
  }

  get done(): boolean {
    return this.#remotes.every((remote) => remote.exhausted)
  }

  get isPartial(): boolean {
    return this.#isPartial
  }

  take(): Uint8Array | null {
    return this.#order === null ? this.#takeAny() : this.#takeLowest(this.#order)
  }

  async fill(invocation: MongosInvocation): Promise<void> {
    const dry = this.#remotes.filter((remote) => remote.head === null && !remote.exhausted)
    // All answers are waited for, also after a failure: the cursors that are still open must be known to be closed.
    const failures = await invocation.host.context.all(dry.map((remote) => failureOf(remote.fill(invocation, this.#batchSize))))
    failures.forEach((failure, i) => {
      if (failure === null) return
      if (!this.#allowPartial || !dry[i]!.cursor.unreachable) throw failure.error
      this.#isPartial = true
    })
  }

  detach(): void {
    for (const remote of this.#remotes) remote.detach()
    this.#keys.fill(undefined)
  }

  kill(host: MongosInvocation['host']): void {
    for (const remote of this.#remotes) remote.cursor.kill(host)
  }

  #takeAny(): Uint8Array | null {
    const count = this.#remotes.length
    for (let tried = 0; tried < count; tried++) {
      const remote = this.#remotes[this.#current]!
      const document = remote.head
      if (document !== null) {
        remote.advance()
        return document
      }
      this.#current = (this.#current + 1) % count
    }
    return null
  }

  #takeLowest(order: MergeOrder): Uint8Array | null {
    let lowest = -1
    let lowestKey: MergeKey = ''
    for (let i = 0; i < this.#remotes.length; i++) {
      const remote = this.#remotes[i]!
      const document = remote.head
      if (document === null) {
        // What this shard sends next may come before all that is here.
        if (!remote.exhausted) return null
        continue
      }
      const key = (this.#keys[i] ??= order.keyOf(document))
      if (lowest < 0 || order.isBefore(key, lowestKey)) {
        lowest = i
        lowestKey = key
      }
    }
    if (lowest < 0) return null
    const remote = this.#remotes[lowest]!
    const document = order.strip(remote.head!)
    remote.advance()
    this.#keys[lowest] = undefined
    return document
  }
}

async function failureOf(filling: Promise<void>): Promise<{ readonly error: unknown } | null> {
  try {
    await filling
    return null
  } catch (error) {
    return { error }
  }
}
