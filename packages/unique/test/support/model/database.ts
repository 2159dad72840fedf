/**
 * The collections as values: a command maps one state of the database to the next, and to a reply.
 * States, commands and replies are interned, so that a search compares numbers.
 */
import { parseSpec, PortError, type Fields, type PortErrorKind } from '@shardlab/unique'
import { MemoryCollection, type UniqueKey } from '../memory.js'
import type { Layout } from '../story.js'

export type Method = 'insertOne' | 'findOne' | 'updateOne' | 'deleteOne' | 'findOneAndUpdate' | 'find'

export interface Command {
  /** `sleep` only takes time. */
  readonly method: Method | 'sleep'
  readonly collection: 'main' | 'proxy'
  readonly args: readonly unknown[]
}

export type Reply = { readonly value: unknown } | { readonly error: PortErrorKind }

export interface Documents {
  readonly main: readonly Fields[]
  readonly proxy: readonly Fields[]
}

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

export const spec = parseSpec('email')

const mainKeys: readonly UniqueKey[] = [{ fields: ['_id'], sparse: false }]
const proxyKeys: Readonly<Record<Layout, readonly UniqueKey[]>> = {
  sharded: [{ fields: ['email'], sparse: false }],
  unsharded: [
    { fields: ['_id'], sparse: false },
    { fields: ['email'], sparse: true },
  ],
}

export class Database {
  readonly states = new Interner<Documents>()
  readonly commands = new Interner<Command>()
  readonly replies = new Interner<Reply>()
  readonly layout: Layout
  /** By state and command. */
  readonly #effects = new Map<number, readonly [state: number, reply: number]>()

  constructor(layout: Layout) {
    this.layout = layout
  }

  stateOf({ main, proxy }: Documents): number {
    // Scans return the documents in one order, however they were written.
    return this.states.of({ main: sorted(main), proxy: sorted(proxy) })
  }

  apply(state: number, command: number): readonly [state: number, reply: number] {
    const key = state * 2 ** 26 + command
    let effect = this.#effects.get(key)
    if (effect === undefined) this.#effects.set(key, (effect = this.#apply(state, this.commands.values[command]!)))
    return effect
  }

  #apply(state: number, command: Command): readonly [state: number, reply: number] {
    if (command.method === 'sleep') return [state, this.replies.of({ value: null })]
    const documents = this.states.values[state]!
    const collection = collectionOf(this.layout, command.collection, documents[command.collection])
    const reply = run(collection, command)
    const next = this.stateOf({ ...documents, [command.collection]: collection.documents })
    return [next, this.replies.of(reply)]
  }
}

export function collectionOf(layout: Layout, name: 'main' | 'proxy', documents: readonly Fields[]): MemoryCollection {
  const collection = new MemoryCollection(name, name === 'main' ? mainKeys : proxyKeys[layout])
  collection.documents = [...documents]
  return collection
}

export function run(collection: MemoryCollection, { method, args }: Command): Reply {
  try {
    const call = collection[method as Method] as (...args: readonly unknown[]) => unknown
    return { value: call.apply(collection, args as unknown[]) ?? null }
  } catch (error) {
    if (error instanceof PortError) return { error: error.kind }
    throw error
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
