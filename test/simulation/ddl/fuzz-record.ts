/**
 * Random commands of the DDL fuzz with their outcomes, and the checks that follow them. The two
 * worlds differ in how they send commands and in their faults.
 */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { contradictions, documents, type Run } from './checks.js'
import { databases, destroyedBy, namespaces, randomCommand } from './commands.js'
import { Inserted } from './inserted.js'
import { isLeftOpen, unspeakable } from './rules.js'

export const fuzzedVersions: readonly EmulatedVersion[] = ['2.6', '4.0', '4.4', '5.0', '6.0', '7.0', '8.0']
const withConsistencyCheck: readonly EmulatedVersion[] = ['7.0', '8.0']

/** Sends once. Null: the outcome is unknown. */
export type SendOnce = (command: Document) => Promise<Document | null>

export class FuzzRecord {
  readonly problems: string[] = []
  readonly journal: string[] = []
  commands = 0
  succeeded = 0
  readonly #emulate: EmulatedVersion
  readonly #now: () => number
  readonly #inserted = new Inserted()
  #lastId = 0

  constructor(emulate: EmulatedVersion, now: () => number) {
    this.#emulate = emulate
    this.#now = now
    this.journal.push(emulate)
  }

  note(text: string): void {
    this.journal.push(`${Math.round(this.#now())} ${text}`)
  }

  async insert(random: Random, send: SendOnce): Promise<void> {
    const ns = namespaces[random.below(namespaces.length)]!
    const [db, name] = ns.split('.') as [string, string]
    const id = ++this.#lastId
    const insertion = this.#inserted.beginInsert(id, ns, this.#now())
    const k = random.below(100)
    const reply = await send({ insert: name, documents: [{ _id: id, k, m: k }], $db: db })
    this.#noteReply({ insert: ns, id }, reply)
    if (reply?.['n'] === 1) insertion.endedMs = this.#now()
  }

  async change(random: Random, send: SendOnce): Promise<void> {
    const command = randomCommand(random)
    const names = destroyedBy(command)
    const destruction =
      names.length === 0 ? null : this.#inserted.beginDestruction(names, 'renameCollection' in command, this.#now())
    const reply = await send(command)
    this.#noteReply(command, reply)
    if (destruction === null || reply === null) return
    destruction.succeeded = reply['ok'] === 1
    if (destruction.succeeded || !isLeftOpen(reply['code'])) destruction.endedMs = this.#now()
  }

  #noteReply(command: Document, reply: Document | null): void {
    this.commands++
    const [error] = [
      ...((reply?.['writeErrors'] ?? []) as Document[]),
      ...(reply?.['ok'] === 1 ? [] : [reply ?? { errmsg: 'no reply' }]),
    ]
    if (error === undefined) this.succeeded++
    this.note(`${JSON.stringify(command)}: ${error === undefined ? 'ok' : `${error['code']} ${error['errmsg']}`}`)
    if (unspeakable.has(error?.['code']))
      this.problems.push(`${JSON.stringify(command)}: ${error!['code']} ${error!['errmsg']}`)
  }

  /** The catalog is consistent, and every router finds the documents that must exist. */
  async check(run: Run, routers: readonly string[]): Promise<void> {
    this.problems.push(...(await contradictions(run, withConsistencyCheck.includes(this.#emulate))))
    for (const ns of namespaces) {
      for (const router of routers) {
        const [db, name] = ns.split('.') as [string, string]
        const ids = (await documents(run, { find: name, $db: db }, router)).map(({ _id }) => _id as number)
        this.problems.push(...this.#inserted.problems(ns, ids).map((each) => `${router}: ${each}`))
      }
    }
  }

  /** Every name can be used through every router, and a dropped database leaves nothing. */
  async checkAnew(run: Run, routers: readonly string[]): Promise<void> {
    for (const ns of namespaces) {
      const [db, name] = ns.split('.') as [string, string]
      for (const router of routers) {
        const id = ++this.#lastId
        const reply = await run({ insert: name, documents: [{ _id: id, k: id, m: id }], $db: db }, router)
        if (reply['n'] !== 1) this.problems.push(`${router}: insert into ${ns}: ${JSON.stringify(reply)}`)
        const found = await documents(run, { find: name, filter: { _id: id }, $db: db }, router)
        if (found.length !== 1) this.problems.push(`${router}: ${ns} does not have a new document`)
      }
    }
    for (const db of databases) {
      const reply = await run({ dropDatabase: 1, $db: db })
      if (reply['ok'] !== 1) this.problems.push(`dropDatabase ${db}: ${JSON.stringify(reply)}`)
    }
    this.problems.push(...(await contradictions(run, false)).map((each) => `after dropDatabase: ${each}`))
    for (const ns of namespaces) {
      const [db, name] = ns.split('.') as [string, string]
      await run({ enableSharding: db, $db: 'admin' })
      const reply = await run({ shardCollection: ns, key: { k: 1 }, $db: 'admin' }, routers.at(-1))
      if (reply['ok'] !== 1) this.problems.push(`shardCollection ${ns}: ${JSON.stringify(reply)}`)
      for (const router of routers) {
        const found = await documents(run, { find: name, $db: db }, router)
        if (found.length > 0) this.problems.push(`${router}: old documents are back in ${ns}`)
      }
    }
  }
}
