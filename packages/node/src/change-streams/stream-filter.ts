/**
 * Decides which entries of the oplog concern a change stream, from the bytes of their first fields.
 * Server: change_stream_filter_helpers.cpp.
 */
import { findField, type RawValue } from '@shardlab/bson'
import { covers, coversDatabase, type ChangeStreamSpec, type StreamScope } from '@shardlab/member'
import type { OplogWindow } from '../log/oplog-window.js'
import { commandOf, fieldOf, operationOf, operationsOfTransaction, type Operation } from './operation.js'

const none: readonly Operation[] = []

export class StreamFilter {
  readonly #scope: StreamScope
  readonly #spec: ChangeStreamSpec
  /** Of a collection; null: the stream covers several. */
  readonly #ns: Buffer | null
  /** Decisions by namespace. There are few of them. */
  readonly #covered = new Map<string, boolean>()

  constructor(spec: ChangeStreamSpec) {
    this.#scope = spec.scope
    this.#spec = spec
    this.#ns = spec.scope.kind === 'collection' ? Buffer.from(spec.scope.ns, 'utf8') : null
  }

  /** @param window from which the entry is, for those of long transactions */
  operationsIn(entry: Uint8Array, window: OplogWindow): readonly Operation[] {
    const op = findField(entry, 'op')!
    const ns = findField(entry, 'ns')!
    if (entry[op.start + 4] !== letterC) return this.#concerns(entry, ns) ? [operationOf(entry)] : none
    const operation = operationOf(entry)
    const command = commandOf(operation)
    if (command !== 'applyOps' && command !== 'commitTransaction') return this.#concernsCommand(operation, command)
    return operationsOfTransaction(entry, window).filter((each) => this.#concernsInner(each))
  }

  /** Of an insert, update, delete or no-op. */
  #concerns(entry: Uint8Array, ns: RawValue): boolean {
    if (!this.#coversValue(ns)) return false
    if (this.#spec.showMigrationEvents) return true
    return findField(entry, 'fromMigrate')?.isTruthy() !== true
  }

  #concernsInner(operation: Operation): boolean {
    const command = fieldOf(operation, 'op')!.asString() === 'c' ? commandOf(operation) : null
    if (command !== null) return this.#concernsCommand(operation, command).length > 0
    return this.#coversValue(fieldOf(operation, 'ns')!)
  }

  #concernsCommand(operation: Operation, command: string): readonly Operation[] {
    const db = fieldOf(operation, 'ns')!.asName().slice(0, -'.$cmd'.length)
    if (!coversDatabase(this.#scope, db) || !this.#coversTarget(operation, command, db)) return none
    const isHidden = !this.#spec.showMigrationEvents && fieldOf(operation, 'fromMigrate')?.isTruthy() === true
    return isHidden ? none : [operation]
  }

  #coversTarget(operation: Operation, command: string, db: string): boolean {
    if (command === 'dropDatabase') return true
    const object = fieldOf(operation, 'o')!
    const named = findField(object.bytes, command, object.start)!.asString()
    if (command !== 'renameCollection') {
      if (!classicCommands.has(command) && !this.#spec.showExpandedEvents) return false
      return shownCommands.has(command) && this.#coversCollection(`${db}.${named}`)
    }
    const to = findField(object.bytes, 'to', object.start)!.asString()
    return this.#coversCollection(named) || this.#coversCollection(to)
  }

  #coversCollection(ns: string): boolean {
    return covers(this.#scope, ns, this.#spec.showSystemEvents)
  }

  #coversValue(ns: RawValue): boolean {
    if (this.#ns === null) return this.#coversNs(ns.asName())
    const length = ns.end - ns.start - 5
    return length === this.#ns.length && this.#ns.equals(ns.bytes.subarray(ns.start + 4, ns.end - 1))
  }

  #coversNs(ns: string): boolean {
    let answer = this.#covered.get(ns)
    if (answer === undefined) {
      answer = this.#coversCollection(ns) || this.#coversViews(ns)
      if (this.#covered.size >= namespacesMax) this.#covered.clear()
      this.#covered.set(ns, answer)
    }
    return answer
  }

  /** The definitions of views are documents of `system.views`. */
  #coversViews(ns: string): boolean {
    const { showExpandedEvents } = this.#spec
    if (this.#scope.kind === 'collection' || !showExpandedEvents || !ns.endsWith('.system.views')) return false
    return coversDatabase(this.#scope, ns.slice(0, -'.system.views'.length))
  }
}

const namespacesMax = 1000
const letterC = 'c'.charCodeAt(0)

const classicCommands: ReadonlySet<string> = new Set(['drop', 'renameCollection', 'dropDatabase'])
const shownCommands: ReadonlySet<string> = new Set([
  ...classicCommands,
  'create',
  'createIndexes',
  'commitIndexBuild',
  'dropIndexes',
  'collMod',
])
