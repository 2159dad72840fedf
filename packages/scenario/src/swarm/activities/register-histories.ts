/** Documents with one value each, and the histories of their writes and linearizable reads. */
import { firstContradiction, type RegisterOperation } from '../checkers/linearizability.js'
import { readTimeMs, type AnsweredCommand, type SwarmClient } from '../client/swarm-client.js'
import { finding } from '../finding.js'
import type { CheckerName } from '../types.js'
import type { SwarmWorld } from '../world.js'

export class RegisterHistories {
  readonly #world: SwarmWorld
  readonly #collection: string
  readonly #histories = new Map<number, RegisterOperation[]>()
  /** Orders beginnings and ends of operations. */
  #moment = 0
  #lastValue = 0

  constructor(world: SwarmWorld, collection: string) {
    this.#world = world
    this.#collection = collection
  }

  get ids(): readonly number[] {
    return [...this.#histories.keys()]
  }

  /** Before any fault. */
  async prepare(client: SwarmClient, count: number): Promise<void> {
    const [collection, $db] = [this.#collection, 'app']
    await client.untilDone({ shardCollection: `${$db}.${collection}`, key: { _id: 'hashed' }, $db: 'admin' })
    const documents = Array.from({ length: count }, (_, _id) => ({ _id, value: 0 }))
    await client.retryably({ insert: collection, documents, $db }, [], null)
    for (const { _id } of documents) this.#histories.set(_id, [])
  }

  /** Repeated until it is acknowledged; the repetitions have no effect. */
  write(client: SwarmClient, _id: number): Promise<boolean> {
    return this.#write(_id, (command) => client.retryably(command, [], null))
  }

  /** Once, through this router. @returns whether it was acknowledged */
  writeOnce(client: SwarmClient, _id: number, router: string): Promise<boolean> {
    return this.#write(_id, (command) => client.try(command, [], router))
  }

  async #write(_id: number, send: (command: object) => Promise<AnsweredCommand | null>): Promise<boolean> {
    const value = ++this.#lastValue
    const began = ++this.#moment
    const history = this.#histories.get(_id)!
    const at = history.push({ kind: 'write', value, began, ended: Infinity }) - 1
    const answer = await send({
      update: this.#collection,
      updates: [{ q: { _id }, u: { $set: { value } } }],
      $db: 'app',
    })
    if (answer === null) return false
    history[at] = { kind: 'write', value, began, ended: ++this.#moment }
    if (answer.reply['n'] !== 1)
      this.#violated('durability', `register ${_id} was not found for the write of ${value}`, _id)
    return true
  }

  /** @returns whether it was answered */
  async read(client: SwarmClient, _id: number, router?: string): Promise<boolean> {
    const began = ++this.#moment
    const command = {
      find: this.#collection,
      filter: { _id },
      readConcern: { level: 'linearizable' },
      maxTimeMS: readTimeMs,
      $db: 'app',
    }
    const found = await client.documentsOf(command, router)
    if (found === null) return false
    const ended = ++this.#moment
    if (found.length !== 1) {
      const sentence = `a linearizable read of register ${_id} found ${found.length} documents`
      this.#violated('linearizability', sentence, _id)
      return false
    }
    this.#histories.get(_id)!.push({ kind: 'read', value: found[0]!['value'] as number, began, ended })
    return true
  }

  /** When nothing is broken any more. */
  async check(client: SwarmClient): Promise<void> {
    for (const _id of this.ids) await this.read(client, _id)
    for (const [_id, history] of this.#histories) {
      const wrong = firstContradiction(0, history)
      if (wrong === null) continue
      const { kind, value, began, ended } = wrong
      const before = history.filter((operation) => operation.began < ended).map(textOf)
      this.#violated(
        'linearizability',
        `no order explains the ${kind} of ${value} at ${began} to ${ended} in register ${_id}: ${before.join(', ')}`,
        _id,
      )
    }
  }

  #violated(checker: CheckerName, sentence: string, _id: number): void {
    this.#world.verdicts.violated(checker, finding(sentence, `app.${this.#collection}`, _id))
  }
}

const textOf = ({ kind, value, began, ended }: RegisterOperation): string => `${kind} ${value} at ${began} to ${ended}`
