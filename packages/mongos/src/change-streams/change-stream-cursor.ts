/**
 * Merges the change streams of all shards by their resume tokens. Server: async_results_merger.cpp,
 * document_source_change_stream_handle_topology_change.cpp.
 */
import { LinkedAbort, RequestFailedError } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import {
  batchBytesMax,
  checkBuilt,
  checkTokenIsKept,
  fragmentsOf,
  tokenDocument,
  tokenNotFound,
  tokenText,
  tokenTime,
  type ParsedToken,
} from '@shardlab/member'
import type { PipelineRun } from '@shardlab/query'
import type { BatchRequest, ClusterCursor, MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import type { RemoteEvent, StreamRemote } from './stream-remote.js'

export interface StreamParts {
  readonly ns: string
  readonly start: ParsedToken
  readonly remotes: readonly StreamRemote[]
  /** On the config server: the shards that join. Null: they are not watched. */
  readonly joins: StreamRemote | null
  /** The stages of the client that run here; null: they run on the shards. */
  readonly run: PipelineRun | null
  /** @returns the stream on a shard that has joined at the time of this event */
  openOn(shard: string, event: RemoteEvent, invocation: MongosInvocation): Promise<StreamRemote | null>
  /** Whether large events are split here, and not on the shards. */
  readonly splitsHere: boolean
  /** The event with its document. Null: events are complete. */
  readonly complete: ((document: Uint8Array, invocation: MongosInvocation) => Promise<Uint8Array>) | null
}

export class ChangeStreamCursor implements ClusterCursor {
  readonly ns: string
  readonly multiTarget = true
  readonly #parts: StreamParts
  readonly #remotes: StreamRemote[]
  #exhausted = false
  #isStarted: boolean
  /** The token after which the stream begins. */
  readonly #startText: string
  #hasFoundStart = false
  #lastToken: Uint8Array
  /** Ends the wait of a getMore; null: no getMore waits. */
  #wake: (() => void) | null = null
  /** Of the last event. */
  #results: Uint8Array[] = []
  /** It did not fit into the last batch. */
  #pending: Uint8Array | null = null

  constructor(parts: StreamParts) {
    this.ns = parts.ns
    this.#parts = parts
    this.#remotes = [...parts.remotes, ...(parts.joins === null ? [] : [parts.joins])]
    this.#isStarted = parts.start.isHighWaterMark
    this.#lastToken = tokenDocument(parts.start, parts.start.fragmentNum)
    this.#startText = tokenText(this.#lastToken)
  }

  get exhausted(): boolean {
    return this.#exhausted && this.#pending === null && this.#results.length === 0
  }

  /** The reply to the aggregate. Events come with the first getMore. */
  firstReply(id: bigint): DocumentWriter {
    return new DocumentWriter(512)
      .startDocument('cursor')
      .startArray('firstBatch')
      .end()
      .document('postBatchResumeToken', this.#lastToken)
      .int64('id', id)
      .string('ns', this.ns)
      .end()
  }

  async next(
    invocation: MongosInvocation,
    { batchSize, awaitMs = 0 }: BatchRequest,
    ownId: bigint,
  ): Promise<DocumentWriter> {
    const { context } = invocation.host
    const untilMs = context.now() + awaitMs
    const countMax = batchSize === 0 ? Number.POSITIVE_INFINITY : batchSize
    const writer = new DocumentWriter(4096).startDocument('cursor').startArray('nextBatch')
    let isFull = false
    for (;;) {
      this.#check()
      const written = await this.#write(writer, invocation, countMax)
      isFull = written.isFull
      const leftMs = untilMs - context.now()
      if (written.count > 0 || this.#exhausted || leftMs <= 0) break
      this.#askAll(invocation, leftMs)
      await this.#change(invocation, leftMs)
    }
    if (this.#exhausted) this.kill(invocation.host)
    else if (!isFull) this.#advanceToken()
    return writer
      .end()
      .document('postBatchResumeToken', this.#lastToken)
      .int64('id', this.exhausted ? 0n : ownId)
      .string('ns', this.ns)
      .end()
  }

  #check(): void {
    for (const remote of this.#remotes) remote.check()
  }

  async #write(
    writer: DocumentWriter,
    invocation: MongosInvocation,
    countMax: number,
  ): Promise<{ readonly count: number; readonly isFull: boolean }> {
    const start = writer.length
    let count = 0
    while (count < countMax) {
      const document = this.#pending ?? (await this.#nextDocument(invocation))
      this.#pending = null
      if (document === null) return { count, isFull: false }
      checkBuilt(document)
      if (count > 0 && writer.length - start + document.length > batchBytesMax) {
        this.#pending = document
        break
      }
      this.#lastToken = new Uint8Array(findField(document, '_id')!.slice())
      writer.document(String(count++), document)
    }
    return { count, isFull: true }
  }

  /** Null: no event can be returned yet. */
  async #nextDocument(invocation: MongosInvocation): Promise<Uint8Array | null> {
    const { host } = invocation
    for (;;) {
      const document = this.#results.shift()
      if (document !== undefined) {
        if (!this.#isSwallowed(document, host)) return document
        continue
      }
      if (this.#exhausted) return null
      const remote = this.#releasable(host)
      if (remote === null) return null
      const event = remote.head!
      remote.take()
      if (remote === this.#parts.joins) await this.#join(event, invocation)
      else {
        this.#results = await this.#finish(event.document, invocation)
        if (this.#isEnd(event)) this.#exhausted = true
      }
    }
  }

  #isEnd({ hex, document }: RemoteEvent): boolean {
    const isStart = !this.#isStarted && hex === this.#startText
    return !isStart && findField(document, 'operationType')?.asString() === 'invalidate'
  }

  /** The remote with the first event, if no other one can have an earlier one. */
  #releasable(host: RoutingHost): StreamRemote | null {
    const first = this.#first
    if (first === null || host.context.mutated('streamPromisesOff')) return first
    const { hex } = first.head!
    for (const remote of this.#remotes) if (remote.head === null && remote.promise < hex) return null
    return first
  }

  get #first(): StreamRemote | null {
    let first: StreamRemote | null = null
    for (const remote of this.#remotes)
      if (remote.head !== null && (first === null || remote.head.hex < first.head!.hex)) first = remote
    return first
  }

  /** @throws CommandError 280 ChangeStreamFatalError: no shard has the event of the start token */
  #isSwallowed(document: Uint8Array, { behaviours }: RoutingHost): boolean {
    if (this.#isStarted) return false
    const token = findField(document, '_id')!.slice()
    if (tokenText(token) === this.#startText) {
      // Several shards may have it.
      this.#hasFoundStart = true
      return true
    }
    if (!this.#hasFoundStart) throw tokenNotFound(token, behaviours)
    this.#isStarted = true
    return false
  }

  async #join(event: RemoteEvent, invocation: MongosInvocation): Promise<void> {
    const shard = findField(findField(event.document, 'fullDocument')!.slice(), '_id')!.asString()
    if (this.#remotes.some((remote) => remote.shard === shard)) return
    const remote = await this.#parts.openOn(shard, event, invocation)
    if (remote !== null) this.#remotes.push(remote)
  }

  /** @returns none: the stages leave the event out; several: it was split */
  async #finish(document: Uint8Array, invocation: MongosInvocation): Promise<Uint8Array[]> {
    const { run, complete, start, splitsHere } = this.#parts
    const whole = complete === null ? document : await complete(document, invocation)
    if (run === null) return [whole]
    run.push(whole)
    while (run.hasWork) run.step()
    const result = run.output[0]
    run.output.length = 0
    if (result === undefined) return []
    checkTokenIsKept(result, findField(document, '_id')!.slice(), invocation.host.behaviours)
    return splitsHere ? [...fragmentsOf(result, { start, isMerged: false })] : [result]
  }

  #askAll(invocation: MongosInvocation, awaitMs: number): void {
    for (const remote of this.#remotes) remote.ask(invocation, awaitMs, () => this.#wake?.())
    const hex = this.#first?.head!.hex
    if (hex === undefined) return
    const time = tokenTime(hex)
    for (const remote of this.#remotes)
      if (remote.head === null && remote.promise < hex) remote.advance(invocation.host, time)
  }

  /** @throws CommandError 11600 InterruptedAtShutdown; of a killed operation */
  async #change({ host, operation }: MongosInvocation, durationMs: number): Promise<void> {
    const end = new LinkedAbort(operation.signal)
    this.#wake = end.abort
    try {
      await host.context.sleep(durationMs, end.signal)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      operation.checkForInterrupt()
      if (operation.signal.aborted) throw new CommandError('InterruptedAtShutdown', 'interrupted at shutdown')
    } finally {
      end.unlink()
      this.#wake = null
    }
  }

  /** Up to the token that all shards promise. */
  #advanceToken(): void {
    let least: StreamRemote | null = null
    for (const remote of this.#remotes) if (least === null || remote.promise < least.promise) least = remote
    if (least !== null && least.promise > tokenText(this.#lastToken)) this.#lastToken = least.promiseToken
  }

  detach(): void {}

  kill(host: RoutingHost): void {
    for (const remote of this.#remotes) remote.kill(host)
  }
}
