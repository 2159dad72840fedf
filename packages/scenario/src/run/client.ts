/** The client of a scenario: commands to its routers, each once more when the server says that it may help, as drivers do. */
import { RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'

/** Codes after which drivers repeat a read (specification Retryable Reads); writes are repeated by their label. */
const retryable: ReadonlySet<number> = new Set([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436])

/** What became of an operation. `code` 0: the router itself went away. */
export type Outcome = { readonly ok: true } | { readonly ok: false; readonly code: number; readonly message: string }

interface Session {
  readonly lsid: Document
  txnNumber: number
}

export class ScenarioClient {
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #idle: Session[] = []

  constructor(cluster: SimulatedCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  read(command: Document): Promise<Outcome> {
    return this.#twice(command, [], (_reply, code) => retryable.has(code))
  }

  /** @param documents of a write batch, encoded, and the name of the argument that takes them */
  async write(command: Document, field: string, documents: readonly Uint8Array[], canRetry = true): Promise<Outcome> {
    const session = this.#idle.pop() ?? { lsid: { id: new Binary(this.#random.bytes(16), 4) }, txnNumber: 0 }
    const numbered = canRetry ? { ...command, lsid: session.lsid, txnNumber: Long.fromNumber(++session.txnNumber) } : command
    const again = (reply: Document | null): boolean => canRetry && (reply === null || labelsOf(reply).includes('RetryableWriteError'))
    const outcome = await this.#twice(numbered, [[field, documents]], again)
    this.#idle.push(session)
    return outcome
  }

  async #twice(
    command: Document,
    sequences: readonly (readonly [string, readonly Uint8Array[]])[],
    again: (reply: Document | null, code: number) => boolean,
  ): Promise<Outcome> {
    const body = encode(command)
    const first = await this.#once(body, sequences)
    if (first.outcome.ok || !again(first.reply, first.outcome.code)) return first.outcome
    return (await this.#once(body, sequences)).outcome
  }

  async #once(
    body: Uint8Array,
    sequences: readonly (readonly [string, readonly Uint8Array[]])[],
  ): Promise<{ readonly reply: Document | null; readonly outcome: Outcome }> {
    const { mongos } = this.#cluster
    const to = mongos[mongos.length === 1 ? 0 : this.#random.below(mongos.length)]!
    try {
      const reply = decode(await this.#cluster.commandInBackground(body, { to, sequences }))
      return { reply, outcome: outcomeOf(reply) }
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      return { reply: null, outcome: { ok: false, code: 0, message: 'the router went away' } }
    }
  }
}

function outcomeOf(reply: Document): Outcome {
  const error = reply['ok'] === 1 ? (reply['writeErrors'] as Document[] | undefined)?.[0] : reply
  if (error === undefined) return { ok: true }
  return { ok: false, code: error['code'] as number, message: String(error['errmsg']) }
}

function labelsOf(reply: Document): readonly string[] {
  return (reply['errorLabels'] as string[] | undefined) ?? []
}
