/**
 * Commands of a client of replica sets: its writes are acknowledged by majorities, and its reads
 * see them on every member. Commands that name a concern keep it.
 */
import type { Document, Timestamp } from '@shardlab/bson'

const reads: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct'])
const writes: ReadonlySet<string> = new Set([
  ...['insert', 'update', 'delete', 'findAndModify'],
  ...['create', 'createIndexes', 'drop', 'dropDatabase', 'dropIndexes', 'renameCollection', 'collMod'],
])
/** Reads of the catalog have its own rules. */
const catalogs: ReadonlySet<string> = new Set(['admin', 'config', 'local'])

const majority = { w: 'majority' } as const

export class MajoritySession {
  #operationTime: Timestamp | null = null

  withConcerns(command: Document): Document {
    // Commands of a transaction have the concerns of the whole.
    if (command['autocommit'] !== undefined) return command
    const [name] = Object.keys(command) as [string]
    if (writes.has(name))
      return command['writeConcern'] === undefined ? { ...command, writeConcern: majority } : command
    if (!reads.has(name) || catalogs.has(command['$db'] as string) || command['readConcern'] !== undefined)
      return command
    const after = this.#operationTime === null ? {} : { afterClusterTime: this.#operationTime }
    return { ...command, readConcern: { level: 'majority', ...after } }
  }

  learn(reply: Document): void {
    const time = reply['operationTime'] as Timestamp | undefined
    if (time !== undefined && (this.#operationTime === null || time.greaterThan(this.#operationTime)))
      this.#operationTime = time
  }
}
