/** A unique shard key whose ranges move: of those who want a name one gets it, and it is free again when he has given it back. */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { StoryClient } from '../sharding-client.js'

const names = 30
const duplicateKey = 11_000

export class UniqueKeys {
  /** By name: the document that has it; null: it is being given back. */
  readonly #owners = new Map<string, string | null>()
  readonly #violations: string[] = []

  get violations(): readonly string[] {
    return this.#violations
  }

  async step(client: StoryClient, random: Random, worker: number): Promise<void> {
    const name = `name ${random.below(names)}`
    const owner = this.#owners.get(name)
    if (typeof owner === 'string' && owner.startsWith(`${worker} `)) {
      this.#owners.set(name, null)
      const command = { delete: 'users', deletes: [{ q: { name }, limit: 1 }], $db: 'app' }
      const { reply } = await client.retryably(command, [], ({ n }) => n as number)
      if (reply['n'] !== 1) this.#violations.push(`${name} of ${owner} was given back with n: ${reply['n']}`)
      // Whoever has got it meanwhile may have heard of it before.
      if (this.#owners.get(name) === null) this.#owners.delete(name)
      return
    }
    const _id = `${worker} ${random.below(1_000_000)}`
    const command = { insert: 'users', documents: [{ _id, name }], $db: 'app' }
    const { code } = await client.retryably(command, [duplicateKey], ({ n }) => n as number)
    if (code !== null) return
    const before = this.#owners.get(name)
    if (typeof before === 'string') this.#violations.push(`${name} was given to ${before} and to ${_id}`)
    this.#owners.set(name, _id)
  }

  check(documents: readonly Document[], where: string): string[] {
    const wrong: string[] = []
    for (const { _id, name } of documents)
      if (this.#owners.get(name as string) !== _id)
        wrong.push(`${where}: ${name} is of ${_id}, ${this.#owners.get(name as string)} was told so`)
    if (documents.length !== this.#owners.size) wrong.push(`${where}: there are ${documents.length} names, ${this.#owners.size} were given`)
    return wrong
  }
}
