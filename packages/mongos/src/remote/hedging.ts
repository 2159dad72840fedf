/**
 * Hedged reads: a read goes to two members of a set, and the first reply counts. Server:
 * hedge_options_util.cpp, network_interface_tl.cpp, hedging_metrics.h; manual:
 * core/read-preference, Hedged Reads.
 */
import {
  createDeferred,
  RequestFailedError,
  type ActorContext,
  type Address,
  type ClusterClock,
  type NodeCommand,
  type NodeReply,
  type RequestOptions,
} from '@shardlab/actor'
import { BsonType, DocumentWriter, ErrorCodes, FieldIterator, findField, firstFieldName } from '@shardlab/bson'
import { killCursor, type SetTargeter } from '@shardlab/member'
import { isOk } from './command-reply.js'
import type { RoutedPreference } from './routed-preference.js'

const hedgedCommands: ReadonlySet<string> = new Set([
  'collStats',
  'count',
  'dataSize',
  'dbStats',
  'distinct',
  'filemd5',
  'find',
  'listCollections',
  'listIndexes',
  'planCacheListFilters',
])

export interface HedgingParameters {
  readonly isOn: boolean
  /** maxTimeMSForHedgedReads */
  readonly maxTimeMs: number
}

export class HedgedReads {
  readonly #context: ActorContext
  readonly #clock: ClusterClock
  readonly #targeter: SetTargeter
  readonly #parameters: () => HedgingParameters
  /** Since the router was started: reads that ask for hedging. */
  #total = 0
  /** Those that were sent to two members. */
  #hedged = 0
  /** Those whose additional read replied first. */
  #advantageous = 0

  constructor(context: ActorContext, clock: ClusterClock, targeter: SetTargeter, parameters: () => HedgingParameters) {
    this.#context = context
    this.#clock = clock
    this.#targeter = targeter
    this.#parameters = parameters
  }

  /** @returns whether the read may be sent to two members; it is counted */
  isWanted(body: Uint8Array, { mode, document }: RoutedPreference): boolean {
    if (!this.#parameters().isOn || !hedgedCommands.has(firstFieldName(body)!)) return false
    const hedge = findField(document, 'hedge')
    const isEnabled =
      hedge === undefined ? mode === 'nearest' : findField(hedge.bytes, 'enabled', hedge.start)?.isTruthy() !== false
    if (isEnabled) this.#total++
    return isEnabled
  }

  /**
   * @param sending called with the member whose reply counts, or that failed last
   * @throws RequestFailedError, whose `to` is the set: no member has replied
   */
  async send(
    set: Address,
    members: readonly Address[],
    preference: RoutedPreference,
    command: NodeCommand,
    options: RequestOptions | undefined,
    sending: (member: Address) => void,
  ): Promise<NodeReply> {
    const [first, second] = await this.#targeter.chooseSuitable(set, members, preference, 2)
    const request = (receiver: Address, each: NodeCommand) =>
      this.#targeter.requestMember(set, receiver, 'node.command', each, options)
    sending(first!)
    if (second === undefined) return request(first!, command)
    this.#hedged++
    const additional = withMaxTime(command, this.#parameters().maxTimeMs)
    const { index, reply } = await this.#first([request(first!, command), request(second, additional)], (loser, late) =>
      this.#endRead(loser === 0 ? first! : second, command, late),
    )
    if (index === 1) this.#advantageous++
    sending(index === 0 ? first! : second)
    return reply
  }

  /**
   * The first reply; rejects with the failure of the last member if none has replied.
   * @param end called for the other one while it runs, and with its reply; null: it runs
   */
  #first(
    requests: readonly Promise<NodeReply>[],
    end: (index: number, reply: NodeReply | null) => void,
  ): Promise<{ readonly index: number; readonly reply: NodeReply }> {
    const winner = createDeferred<{ readonly index: number; readonly reply: NodeReply }>()
    let [isOver, missing] = [false, requests.length]
    const replied = (index: number, reply: NodeReply): void => {
      missing--
      if (isOver) return end(index, reply)
      // The additional read has less time than the client allows.
      if (index === 1 && missing > 0 && isMaxTimeExpired(reply)) return
      isOver = true
      if (missing > 0) end(1 - index, null)
      winner.resolve({ index, reply })
    }
    const failed = (error: unknown): void => {
      missing--
      if (isOver || (missing > 0 && error instanceof RequestFailedError)) return
      isOver = true
      winner.reject(error)
    }
    for (const [index, request] of requests.entries()) request.then((reply) => replied(index, reply), failed)
    return winner.promise
  }

  #endRead(receiver: Address, { db, operationKey }: NodeCommand, reply: NodeReply | null): void {
    if (reply === null) return this.#context.send(receiver, 'node.kill-operation', { operationKey })
    const cursor = isOk(reply.body) ? findField(reply.body, 'cursor') : undefined
    if (cursor?.type !== BsonType.object) return
    const id = findField(cursor.bytes, 'id', cursor.start)!.asBigInt()
    const ns = findField(cursor.bytes, 'ns', cursor.start)!.asString()
    if (id !== 0n) this.#context.send(receiver, 'node.command', killCursor(db, ns, id, this.#clock.time))
  }

  write(writer: DocumentWriter): void {
    writer
      .int64('numTotalOperations', this.#total)
      .int64('numTotalHedgedOperations', this.#hedged)
      .int64('numAdvantageouslyHedgedOperations', this.#advantageous)
  }
}

function withMaxTime(command: NodeCommand, maxTimeMs: number): NodeCommand {
  const writer = new DocumentWriter(command.body.length + 32)
  let limitMs = maxTimeMs
  for (const it = new FieldIterator(command.body); it.next();) {
    if (it.name() === 'maxTimeMS') limitMs = Math.min(limitMs, it.value().asNumber() || limitMs)
    else writer.value(it.name(), it.value())
  }
  return { ...command, body: writer.int32('maxTimeMS', limitMs).finish() }
}

const isMaxTimeExpired = ({ body }: NodeReply): boolean =>
  !isOk(body) && findField(body, 'code')?.asNumber() === ErrorCodes.MaxTimeMSExpired
