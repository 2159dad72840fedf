/**
 * The collections as values: a command maps one state of the database to the next, and to a reply.
 * States, commands and replies are interned, so that a search compares numbers.
 */
import type { Fields } from '@shardlab/unique'
import type { Layout } from '../story.js'
import type { Command, Documents, Reply } from './collections.js'
import { runInTransaction, runOutside } from './transactions.js'

/** Gives equal values the same number. Dates are distinguished from texts by their field. */
export class Interner<T> {
  readonly values: T[] = []
  readonly #numbers = new Map<string, number>()

  of(value: T, key = JSON.stringify(value)): number {
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.values.length
      this.#numbers.set(key, number)
      this.values.push(frozen(value))
    }
    return number
  }
}

/** null: the command waits for a transaction of the other client. */
type Effect = readonly [state: number, reply: number] | null

export class Database {
  readonly states = new Interner<Documents>()
  readonly commands = new Interner<Command>()
  readonly replies = new Interner<Reply>()
  readonly layout: Layout
  /** By state and command. */
  readonly #effects = new Map<number, Effect>()

  constructor(layout: Layout) {
    this.layout = layout
  }

  stateOf({ main, proxy, open }: Documents): number {
    // Scans return the documents in one order, however they were written.
    const contents = { main: sorted(main), proxy: sorted(proxy) }
    return this.states.of(open === undefined || Object.keys(open).length === 0 ? contents : { ...contents, open })
  }

  apply(state: number, command: number): Effect {
    const key = state * 2 ** 26 + command
    let effect = this.#effects.get(key)
    if (effect === undefined) this.#effects.set(key, (effect = this.#apply(state, this.commands.values[command]!)))
    return effect
  }

  /** The server aborts the transaction of a client that has stopped. */
  stopped(state: number, client: number): number {
    const { open = {}, ...contents } = this.states.values[state]!
    if (open[client] === undefined) return state
    const { [client]: _, ...others } = open
    return this.stateOf({ ...contents, open: others })
  }

  #apply(state: number, command: Command): Effect {
    if (command.method === 'sleep') return [state, this.replies.of({ value: null })]
    const documents = this.states.values[state]!
    const effect =
      command.txn === undefined
        ? runOutside(this.layout, documents, command)
        : runInTransaction(this.layout, documents, command, command.txn)
    return effect === null ? null : [this.stateOf(effect.documents), this.replies.of(effect.reply)]
  }
}

function sorted(documents: readonly Fields[]): Fields[] {
  return documents
    .map((document) => [JSON.stringify(document), document] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, document]) => document)
}

/** The library must not change what it gets, because other histories share it. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const each of Object.values(value)) frozen(each)
  return Object.freeze(value)
}
