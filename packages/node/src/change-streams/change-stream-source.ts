/**
 * The cursor of a change stream on one node: it reads the oplog as far as a majority has it.
 * Server: the stages that `$changeStream` expands to, plan_executor_pipeline.cpp.
 */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { CommandError, findField, hexOf } from '@shardlab/bson'
import {
  checkTokenIsKept,
  fragmentsOf,
  highWaterMark,
  tokenDocument,
  tokenNotFound,
  tokenText,
  type ChangeStreamSpec,
  type ParsedToken,
  type TimeSlice,
  type TokenVersion,
} from '@shardlab/member'
import type { PipelineRun } from '@shardlab/query'
import type { ShardKeyPattern } from '@shardlab/sharding'
import { opTimeOf } from '@shardlab/storage'
import type { CursorSource } from '../cursors/cursor-manager.js'
import type { WrittenBatch } from '../cursors/written-batch.js'
import type { NodeHost } from '../host/node-host.js'
import { committedEntries } from '../cursors/insert-waiters.js'
import { newSlice } from '../read/new-slice.js'
import { EventWriter, idOf, isClassic, partsOf, type StreamEvent } from './event.js'
import type { EventParts } from './event-parts.js'
import { imagesOf, type ImageSource } from './images.js'
import type { Operation } from './operation.js'
import { StreamFilter } from './stream-filter.js'
import { historyLost, startPosition } from './stream-start.js'

export interface ChangeStreamOptions {
  readonly host: NodeHost
  readonly spec: ChangeStreamSpec
  readonly start: ParsedToken
  /** The stages of the client. */
  readonly run: PipelineRun
  /** A router merges the stream with those of other shards and looks up documents. */
  readonly isRouted: boolean
  readonly images: ImageSource
}

const none: readonly Operation[] = []

/** Null: the stages leave out the event with which the stream ends. */
type Result = Pick<StreamEvent, 'hex' | 'token' | 'clusterTime'> & { readonly document: Uint8Array | null }

/** The shard key of an inserted document's collection is unknown. */
class UnknownKey extends Error {
  readonly ns: string
  readonly uuid: Uint8Array

  constructor(ns: string, uuid: Uint8Array) {
    super(`the shard key of ${ns} is unknown`)
    this.ns = ns
    this.uuid = uuid
  }
}

export class ChangeStreamSource implements CursorSource {
  readonly slice: TimeSlice
  readonly awaits = committedEntries
  readonly #options: ChangeStreamOptions
  readonly #filter: StreamFilter
  readonly #writer: EventWriter
  /** Of the next entry in the oplog. */
  #position: number
  /** The newest entry that was read; null: none. */
  #scanned: Uint8Array | null = null
  #operations: Operation[] = []
  #events: StreamEvent[] = []
  /** Of the last event. */
  #fragments: Result[] = []
  /** By UUID; null: unsharded. */
  readonly #shardKeys = new Map<string, ShardKeyPattern | null>()
  #unknown: UnknownKey | null = null
  #hasReachedStart = false
  /** Whether the event of the start token was found, or need not be. */
  #isStarted: boolean
  /** The token after which the stream begins. */
  readonly #startText: string
  #hasFoundStart = false
  #skipsInvalidate: boolean
  #ended = false
  /** Of the last event that was returned, and of the one before it. */
  #lastToken: Uint8Array
  #previousToken: Uint8Array
  /** Of the newest event or high-water mark in {@link #lastToken}. */
  #latestTime: TimestampPair
  #wantedTime: TimestampPair | null = null

  /** @throws CommandError 286 ChangeStreamHistoryLost */
  constructor(options: ChangeStreamOptions) {
    const { host, spec, start, isRouted } = options
    this.#options = options
    this.slice = newSlice(host)
    this.#filter = new StreamFilter(spec)
    this.#writer = new EventWriter(spec, host.behaviours)
    this.#position = startPosition(host, start.clusterTime)
    this.#isStarted = start.isHighWaterMark || isRouted
    this.#skipsInvalidate = start.fromInvalidate
    this.#lastToken = this.#previousToken = tokenDocument(start, start.fragmentNum)
    this.#startText = tokenText(this.#lastToken)
    this.#latestTime = start.clusterTime
  }

  get isEOF(): boolean {
    return this.#ended && this.#events.length === 0 && this.#fragments.length === 0
  }

  /** Whether {@link fill} must learn a shard key. */
  get dry(): boolean {
    return this.#unknown !== null
  }

  async fill(): Promise<void> {
    const { ns, uuid } = this.#unknown!
    this.#unknown = null
    this.#shardKeys.set(hexOf(uuid), (await this.#options.host.reads.node.role.shardKeyOf?.(ns, uuid)) ?? null)
  }

  /** A router checks the events when it has completed them. */
  get mayBeTooLarge(): boolean {
    return this.#options.isRouted
  }

  /**
   * Null at the end of the entries that a majority has, or if the slice is over.
   * @throws CommandError 136 CappedPositionLost, 280 ChangeStreamFatalError, 47
   *   NoMatchingDocument
   */
  next(): Uint8Array | null {
    for (let result = this.#nextResult(); result !== null; result = this.#nextResult()) {
      if (this.#isSwallowed(result)) continue
      this.#note(result.token, result.clusterTime)
      if (result.document !== null) return result.document
    }
    return null
  }

  #nextResult(): Result | null {
    const fragment = this.#fragments.shift()
    if (fragment !== undefined) return fragment
    for (let event = this.#nextEvent(); event !== null; event = this.#nextEvent()) {
      if (event.isStart === true) return event
      const document = this.#throughStages(event)
      const isEnd = event.type === 'invalidate'
      if (isEnd) this.#ended = true
      if (document === null && !isEnd) continue
      if (document !== null) checkTokenIsKept(document, event.token, this.#options.host.behaviours)
      return this.#split({ hex: event.hex, token: event.token, clusterTime: event.clusterTime, document })
    }
    return null
  }

  /** @returns the first fragment, or the whole event */
  #split(result: Result): Result {
    const { spec, start, isRouted } = this.#options
    if (!spec.splitsLargeEvents || result.document === null) return result
    const parts = fragmentsOf(result.document, { start, isMerged: isRouted })
    if (parts.length === 1 && parts[0] === result.document) return result
    this.#fragments = parts.map((document) => {
      const token = findField(document, '_id')!.slice()
      return { hex: tokenText(token), token, clusterTime: result.clusterTime, document }
    })
    return this.#fragments.shift()!
  }

  #note(token: Uint8Array, time: TimestampPair): void {
    this.#previousToken = this.#lastToken
    this.#lastToken = token
    this.#latestTime = time
  }

  /** Called after each batch. */
  postBatchResumeToken({ exhausted, pending }: WrittenBatch): Uint8Array {
    if (pending !== null) return this.#previousToken
    if (exhausted && !this.#ended) this.#advanceTime()
    return this.#lastToken
  }

  /** Without events the token stands for the time up to which the oplog was read. */
  #advanceTime(): void {
    const time = this.#scannedTime
    if (time === null || compareTimestamps(time, this.#latestTime) <= 0) return
    this.#note(tokenDocument(highWaterMark(time, this.#version)), time)
  }

  get #version(): TokenVersion {
    return this.#options.spec.tokenVersion
  }

  get #scannedTime(): TimestampPair | null {
    return this.#scanned === null ? null : opTimeOf(this.#scanned).ts
  }

  /** A router waits for the stream to pass this time: an empty batch suffices then. */
  advanceTo(time: TimestampPair): void {
    this.#wantedTime = time
  }

  /** Whether a waiting getMore returns without events. */
  get hasAdvanced(): boolean {
    const scanned = this.#scannedTime
    if (this.#wantedTime === null || scanned === null) return false
    return compareTimestamps(scanned, this.#wantedTime) > 0 && compareTimestamps(scanned, this.#latestTime) > 0
  }

  /** Null: the oplog has no further event yet. */
  #nextEvent(): StreamEvent | null {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) return event
      if (this.#ended || this.slice.isOver) return null
      const operation = this.#operations[0]
      if (operation === undefined) {
        if (!this.#readEntry()) return null
        continue
      }
      try {
        this.#addEvents(operation)
      } catch (error) {
        if (!(error instanceof UnknownKey)) throw error
        this.#unknown = error
        return null
      }
      this.#operations.shift()
    }
  }

  /** @returns false: a majority has no further entry */
  #readEntry(): boolean {
    const { oplog, set, behaviours } = this.#options.host
    const window = oplog.window()
    if (this.#position < window.start) throw this.#scanned === null ? historyLost(behaviours) : positionLost()
    for (;;) {
      const entry = window.entryAt(this.#position)
      if (entry === undefined) return false
      if (!set.isAlone && compareTimestamps(opTimeOf(entry).ts, set.committed.ts) > 0) return false
      this.#position += entry.length
      this.#scanned = entry
      this.slice.worked()
      // A stream may start at a time to come.
      const operations = this.#isBeforeStart(entry) ? none : this.#filter.operationsIn(entry, window)
      if (operations.length > 0) {
        this.#operations = [...operations]
        return true
      }
      if (this.slice.isOver) return false
    }
  }

  #isBeforeStart(entry: Uint8Array): boolean {
    if (this.#hasReachedStart) return false
    this.#hasReachedStart = compareTimestamps(opTimeOf(entry).ts, this.#options.start.clusterTime) >= 0
    return !this.#hasReachedStart
  }

  #addEvents(operation: Operation): void {
    const { host, spec, start } = this.#options
    const parts = partsOf(operation, host.behaviours, this.#keyOf)
    if (parts === null || !this.#isShown(parts)) return
    if (this.#options.host.context.mutated('streamHistoryOff') && !ownsNow(this.#options.host, parts)) return
    const version = this.#versionAt(operation)
    const token = this.#writer.token(operation, parts, version)
    const isAtStart = this.#isAtStart(operation)
    if (!isAtStart || token.hex >= start.hex) {
      const tokenOfEvent = tokenDocument(token)
      const images = imagesOf(operation, parts, spec, this.#options.images)
      this.#events.push({
        ...{ type: parts.type, hex: token.hex, token: tokenOfEvent, clusterTime: operation.clusterTime },
        document: this.#writer.event(operation, parts, tokenOfEvent, images),
      })
    }
    if (this.#endsWith(parts)) this.#addInvalidate(operation, parts, version, isAtStart)
  }

  #addInvalidate(operation: Operation, parts: EventParts, version: TokenVersion, isAtStart: boolean): void {
    const event = this.#writer.invalidate(operation, parts, version)
    const { start } = this.#options
    if (!this.#skipsInvalidate) {
      if (!isAtStart || event.hex >= start.hex) this.#events.push(event)
      return
    }
    this.#skipsInvalidate = false
    if (event.hex !== start.hex) return
    this.#hasFoundStart = true
    if (this.#options.isRouted) this.#events.push({ ...event, isStart: true })
  }

  /** Whether its token may be compared with that of the start, in whose version it is written. */
  #isAtStart({ clusterTime, transaction }: Operation): boolean {
    const { start } = this.#options
    return (
      !start.isHighWaterMark &&
      compareTimestamps(clusterTime, start.clusterTime) <= 0 &&
      (transaction?.txnOpIndex ?? 0) <= start.txnOpIndex
    )
  }

  #versionAt(operation: Operation): TokenVersion {
    return this.#isAtStart(operation) ? this.#options.start.version : this.#version
  }

  #isShown({ type }: EventParts): boolean {
    const { host, spec, isRouted } = this.#options
    // Routers have cursors on all shards.
    if (type === 'kNewShardDetected') return !isRouted && host.behaviours.changeStreamShowsNewShards
    if (type === 'migrateChunkToNewShard') return false
    if (isClassic(type)) return true
    if (type === 'migrateLastChunkFromShard') return spec.showExpandedEvents && spec.showSystemEvents
    const isKeyChange = type === 'refineCollectionShardKey' || type === 'reshardCollection'
    return spec.showExpandedEvents && (!isKeyChange || host.behaviours.changeStreamKeyChanges)
  }

  /** Whether the stream ends after the event. */
  #endsWith({ type }: EventParts): boolean {
    const { scope } = this.#options.spec
    if (scope.kind === 'cluster') return false
    return type === 'dropDatabase' || (scope.kind === 'collection' && (type === 'drop' || type === 'rename'))
  }

  readonly #keyOf = (ns: string, uuid: Uint8Array, document: Uint8Array): Uint8Array => {
    const key = this.#shardKeys.get(hexOf(uuid))
    if (key === undefined) throw new UnknownKey(ns, uuid)
    return key?.documentKey(document) ?? idOf(document)
  }

  /** @returns null: the stages leave the event out */
  #throughStages(event: StreamEvent): Uint8Array | null {
    const { run } = this.#options
    run.push(event.document)
    while (run.hasWork) run.step()
    const result = run.output[0] ?? null
    run.output.length = 0
    return result
  }

  /**
   * Whether the client has the event: it resumes after it.
   * @throws CommandError 280 ChangeStreamFatalError: the stream has no such event
   */
  #isSwallowed({ hex, token }: Result): boolean {
    if (this.#isStarted) return false
    if (hex === this.#startText) {
      this.#hasFoundStart = true
      return true
    }
    if (!this.#hasFoundStart) throw tokenNotFound(token, this.#options.host.behaviours)
    this.#isStarted = true
    return false
  }
}

function positionLost(): CommandError {
  return new CommandError(
    'CappedPositionLost',
    'CollectionScan died due to position in capped collection being deleted. ',
  )
}

/** For a deliberate defect. */
function ownsNow({ role }: NodeHost, { ns, documentKey }: EventParts): boolean {
  const access = documentKey === null ? undefined : role.enterInBackground?.(ns)
  return access === undefined || access instanceof Promise || access.ownership?.owns(documentKey!) !== false
}
