/**
 * Copies the oplog of a sync source and applies it. Server: bgsync.cpp, oplog_fetcher.cpp; the
 * batches of a set's members are small here, so fetching and applying are one step.
 */
import { Cancellation, createDeferred, RequestFailedError, type Deferred, type ReplyOf } from '@shardlab/actor'
import { findField, readUint32 } from '@shardlab/bson'
import { compareOpTimes, isNullOpTime, type OpTime } from '@shardlab/replication'
import { wholeBytesMax } from '../../log/oplog.js'
import type { InitialSync } from './initial-sync.js'
import { metadataOf, opTimeFields } from './message-fields.js'
import { persist, roomFor } from './persist.js'
import type { Rollback } from './rollback.js'
import type { ProtocolParts } from './protocol-parts.js'

/** The next attempt after a member was no source. Server: one second. */
const pauseMsMax = 1000
/** A delayed member applies entries in batches of this time. */
const applyEveryMs = 20
/** A source that failed is not selected again for this long. */
const denyMs = 1000
/** How long a reply may take beyond the time that the source waits for entries. */
const graceMs = 5000

export class OplogFetcher {
  readonly #set: ProtocolParts
  readonly #initialSync: InitialSync
  readonly #rollback: Rollback
  /** Ends the current request or pause. */
  #interruption = new Cancellation()
  /** Resolved when the fetcher may have to work. Null: it works. */
  #waiting: Deferred<void> | null = null
  /** Resolved when no batch is being applied. */
  #applying: Promise<void> | null = null
  /** In addition to the delay of the configuration. */
  #addedDelayMs = 0

  constructor(set: ProtocolParts, initialSync: InitialSync, rollback: Rollback) {
    this.#set = set
    this.#initialSync = initialSync
    this.#rollback = rollback
  }

  start(): void {
    this.#set.context.detach(this.#run())
  }

  /** The state of the protocol has changed. */
  check(): void {
    if (this.#waiting === null || !this.#hasWork) return
    this.#waiting.resolve()
    this.#waiting = null
  }

  sourceLost(): void {
    this.#interruption.abort()
  }

  /** Entries are applied that much later, in addition to the delay of the configuration. */
  delay(addedMs: number): void {
    this.#addedDelayMs = addedMs
    this.#interruption.abort()
  }

  /** Resolves when everything that was fetched is applied. */
  async idle(): Promise<void> {
    this.#interruption.abort()
    while (this.#applying !== null) await this.#applying
  }

  /** A primary fetches during its catch-up only, and a member that is alone never. */
  get #hasWork(): boolean {
    const { state, isAlone } = this.#set.coordinator
    if (isAlone) return false
    return state.selfConfig !== null && !state.selfConfig.arbiterOnly && (!state.isPrimary || state.catchUp !== null)
  }

  async #run(): Promise<never> {
    for (;;) {
      while (!this.#hasWork) {
        this.#waiting = createDeferred()
        await this.#waiting.promise
      }
      this.#interruption = new Cancellation()
      const source = this.#source()
      if (source === null) await this.#pause()
      else await this.#fetchFrom(source)
    }
  }

  #source(): string | null {
    const { coordinator, log, nowMs } = this.#set
    const source = coordinator.state.syncSource ?? coordinator.chooseSyncSource(nowMs, log.last.optime)
    this.#set.carryOut()
    return source
  }

  async #pause(): Promise<void> {
    const { context, coordinator } = this.#set
    const durationMs = Math.min(pauseMsMax, coordinator.state.settings.heartbeatIntervalMs)
    await context.sleep(durationMs, this.#interruption).catch(ignoreFailure)
  }

  async #fetchFrom(source: string): Promise<void> {
    const { log } = this.#set
    if (isNullOpTime(log.last.optime)) {
      if (!(await this.#initialSync.run(source))) this.#leave(source)
      return
    }
    const after = log.last.optime
    const reply = await this.#request(source, after)
    if (reply === null) {
      if (!this.#interruption.aborted) this.#leave(source)
      return
    }
    // Another term, source or a rollback may have come in between.
    if (!this.#hasWork || this.#set.coordinator.state.syncSource !== source) return
    if (compareOpTimes(log.last.optime, after) !== 0) return
    await this.#take(source, after, reply)
  }

  /** @returns null: no answer */
  async #request(source: string, after: OpTime): Promise<ReplyOf<'replication.fetch'> | null> {
    const { context, coordinator } = this.#set
    const awaitMs = coordinator.state.settings.electionTimeoutMs / 2
    const request = { term: coordinator.state.term, after: opTimeFields(after), bytesMax: wholeBytesMax, awaitMs }
    const options = { pinned: true, timeoutMs: awaitMs + graceMs, signal: this.#interruption }
    return context.request(source, 'replication.fetch', request, options).catch(ignoreFailure)
  }

  async #take(source: string, after: OpTime, reply: ReplyOf<'replication.fetch'>): Promise<void> {
    const { coordinator } = this.#set
    const metadata = metadataOf(reply)
    let rest: Uint8Array = noEntries
    switch (reply.outcome) {
      case 'entries':
        rest = await this.#applyDue(reply.entries)
        break
      case 'diverged':
        if (compareOpTimes(metadata.lastApplied, after) < 0 || coordinator.state.isPrimary) this.#leave(source)
        else await this.#rollback.run(source)
        return
      case 'too-old':
        this.#tooStale(source)
        return
      default:
        this.#leave(source)
        return
    }
    coordinator.sourceReplied(this.#set.nowMs, metadata)
    const { last } = this.#set.log
    if (
      coordinator.state.syncSource !== null &&
      coordinator.shouldChangeSyncSource(this.#set.nowMs, last.optime, metadata)
    )
      coordinator.state.syncSource = null
    this.#set.carryOut()
    while (rest.length > 0 && (await this.#awaitDue(source, rest))) rest = await this.#applyDue(rest)
  }

  /**
   * Server: OplogBatcher::_calculateSecondaryDelayLatestTimestamp.
   * @returns the entries that a delayed member must not apply yet
   */
  async #applyDue(entries: Uint8Array): Promise<Uint8Array> {
    const delayMs = this.#delayMs
    const dueBytes = delayMs === 0 ? entries.length : bytesUntil(entries, this.#set.context.now() - delayMs)
    if (dueBytes > 0) await this.#apply(entries.subarray(0, dueBytes))
    return entries.subarray(dueBytes)
  }

  /** @returns false: the entries must be fetched again */
  async #awaitDue(source: string, entries: Uint8Array): Promise<boolean> {
    const { context, coordinator } = this.#set
    const leftMs = wallMsOf(entries, 0) + this.#delayMs - context.now()
    const interruption = this.#interruption
    await context.sleep(Math.min(Math.max(leftMs, applyEveryMs), pauseMsMax), interruption).catch(ignoreFailure)
    return !interruption.aborted && this.#hasWork && coordinator.state.syncSource === source
  }

  /** A primary that catches up does not wait. */
  get #delayMs(): number {
    const { isPrimary, selfConfig } = this.#set.coordinator.state
    return isPrimary ? 0 : this.#addedDelayMs + (selfConfig?.delaySecs ?? 0) * 1000
  }

  async #apply(entries: Uint8Array): Promise<void> {
    const done = createDeferred<void>()
    this.#applying = done.promise
    const { context, coordinator, log } = this.#set
    await roomFor(context, log, entries.length)
    const count = log.append(entries)
    await persist(context, () => log.flush())
    this.#applying = null
    done.resolve()
    if (coordinator.state.catchUp !== null) coordinator.countCatchUpOps(count)
    if (coordinator.state.followerMode === 'RECOVERING' && !coordinator.state.isPrimary)
      coordinator.setFollowerMode(this.#set.nowMs, 'SECONDARY')
  }

  /** The member keeps its data and serves no reads until a source with older entries appears. */
  #tooStale(source: string): void {
    const { coordinator, nowMs } = this.#set
    if (!coordinator.state.isPrimary) coordinator.setFollowerMode(nowMs, 'RECOVERING')
    this.#leave(source)
  }

  #leave(source: string): void {
    const { coordinator, nowMs } = this.#set
    coordinator.denySyncSource(nowMs, source, nowMs + denyMs)
    if (coordinator.state.syncSource === source) coordinator.state.syncSource = null
    this.#set.carryOut()
  }
}

const noEntries = new Uint8Array(0)

/** Length of the first entries, up to one that was written after this time. */
function bytesUntil(entries: Uint8Array, wallMs: number): number {
  let at = 0
  while (at < entries.length && wallMsOf(entries, at) <= wallMs) at += readUint32(entries, at)
  return at
}

const wallMsOf = (entries: Uint8Array, at: number): number => Number(findField(entries, 'wall', at)!.asBigInt())

/** @throws other errors than a request or sleep that failed */
function ignoreFailure(error: unknown): null {
  if (error instanceof RequestFailedError) return null
  throw error
}
