/** Connections without pool, sessions or retries: a tenth of the driver's client cost. */
import { actionOf, type Action } from '../../workload/action.js'
import type { Plan } from '../../workload/schedule.js'
import type { Workload } from '../../workload/workload.js'
import { codeText } from '../driver-engine.js'
import { failedWith, succeeded, type Engine, type EngineOptions, type OperationResult } from '../engine.js'
import { WireConnection } from './connection.js'
import { getMoreMessage, messageOf, messagesOf, readReply, type Reply } from './op-msg.js'
import { encode } from '@shardlab/bson'

interface Prepared {
  readonly action: Action
  readonly messages: readonly Buffer[]
}

export interface WireEngineOptions extends EngineOptions {
  /** `host:port` of the writable members. */
  readonly hosts: readonly string[]
}

export class WireEngine implements Engine {
  readonly retries = 0
  readonly transactions = null
  readonly #workload: Workload
  readonly #connections: readonly WireConnection[]
  readonly #pipeline: number

  private constructor(workload: Workload, connections: readonly WireConnection[], pipeline: number) {
    this.#workload = workload
    this.#connections = connections
    this.#pipeline = pipeline
  }

  /** Opens all connections, over the hosts in turn. */
  static async connect(workload: Workload, { hosts, concurrency, pipeline }: WireEngineOptions): Promise<WireEngine> {
    const connections = Array.from({ length: Math.max(1, Math.ceil(concurrency / pipeline)) }, (_, i) => {
      const [, host, port] = /^\[?([^\]]*)\]?:(\d+)$/.exec(hosts[i % hosts.length]!)!
      return new WireConnection(host!, Number(port))
    })
    const hello = encode({
      hello: 1,
      client: { driver: { name: 'shardlab load', version: '0.1.0' }, os: { type: process.platform } },
      $db: 'admin',
    })
    const engine = new WireEngine(workload, connections, pipeline)
    const opened = await Promise.allSettled(
      connections.map(async (connection) => {
        await connection.open()
        await connection.exchange(messageOf(hello))
      }),
    )
    const failed = opened.find((result) => result.status === 'rejected')
    if (failed === undefined) return engine
    await engine.close()
    throw failed.reason
  }

  prepare(plan: Plan): Prepared {
    const action = actionOf(this.#workload, plan)
    return { action, messages: messagesOf(this.#workload, action) }
  }

  async send(prepared: unknown, slot: number): Promise<OperationResult> {
    const { action, messages } = prepared as Prepared
    const connection = this.#connections[Math.floor(slot / this.#pipeline) % this.#connections.length]!
    try {
      if (!connection.isOpen) await connection.open()
      let found = -1
      let result = succeeded(-1)
      for (const message of messages) {
        const reply = readReply(await connection.exchange(message))
        result = await this.#resultOf(action, reply, connection)
        if (result.error !== null) return result
        // The read before the write found no record.
        if (result.found === 0) return result
        found = result.found
      }
      return found === result.found ? result : succeeded(found)
    } catch (error) {
      return failedWith((error as NodeJS.ErrnoException).code ?? (error as Error).message, true)
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close()
  }

  async #resultOf(action: Action, reply: Reply, connection: WireConnection): Promise<OperationResult> {
    if (!reply.ok) return failedWith(codeText(reply.code, reply.codeName), false)
    if (reply.writeErrors.length > 0) {
      const failed = new Set(reply.writeErrors.map(({ index }) => index))
      const written = action.kind === 'insert' ? action.documents.flatMap((_, i) => (failed.has(i) ? [] : [i])) : null
      return failedWith(codeText(reply.writeErrors[0]!.code, null), false, written)
    }
    if (reply.batchLength < 0)
      return succeeded((action.kind === 'update' && !action.upsert) || action.kind === 'count' ? reply.n : -1)
    let found = reply.batchLength
    for (let id = reply.cursorId; id !== 0n;) {
      const more = readReply(await connection.exchange(getMoreMessage(this.#workload, id)))
      if (!more.ok) return failedWith(codeText(more.code, more.codeName), false)
      found += more.batchLength
      id = more.cursorId
    }
    return succeeded(action.kind === 'aggregate' ? -1 : found)
  }
}
