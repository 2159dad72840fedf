/**
 * Snapshot isolation with the conflicts of the server: the first writer of a key wins, a rival
 * transaction fails, and a command outside waits.
 */
import type { Fields } from '@shardlab/unique'
import type { UniqueKey } from '../memory.js'
import type { Layout } from '../story.js'
import {
  collectionOf,
  mainKeys,
  proxyKeys,
  run,
  type Command,
  type Contents,
  type Documents,
  type OpenTransaction,
  type Reply,
} from './collections.js'

/** null: the command waits. */
export type Effect = { readonly documents: Documents; readonly reply: Reply } | null

export function runOutside(layout: Layout, documents: Documents, command: Command): Effect {
  const { reply, contents, keys } = ran(layout, documents, command)
  const rivals = Object.values(documents.open ?? {})
  if (rivals.some((rival) => keys.some((key) => rival.keys.includes(key)))) return null
  return { documents: { ...documents, ...contents }, reply }
}

export function runInTransaction(layout: Layout, documents: Documents, command: Command, client: number): Effect {
  const { open = {}, main, proxy } = documents
  const { [client]: mine = { snapshot: { main, proxy }, own: { main, proxy }, keys: [] }, ...others } = open
  const isOpen = open[client] !== undefined
  const rivals = Object.values(others)
  const live = { main, proxy }
  const ended = (contents: Contents, reply: Reply): Effect => ({ documents: { ...contents, open: others }, reply })
  if (command.method === 'abort') return ended(live, { value: null })
  if (command.method === 'commit') return ended(committed(live, mine), { value: null })
  if (!isOpen && command.isRetry === true && rivals.length > 0) return null
  const { reply, contents, keys } = ran(layout, mine.own, command)
  const isTaken = rivals.some((rival) => keys.some((key) => rival.keys.includes(key)))
  const hasChanged = keys.some(
    (key) => !mine.keys.includes(key) && holdersOf(layout, mine.snapshot, key) !== holdersOf(layout, live, key),
  )
  if (isTaken || hasChanged) return ended(live, { error: 'conflict' })
  if ('error' in reply) return ended(live, reply)
  const after = { snapshot: mine.snapshot, own: contents, keys: [...new Set([...mine.keys, ...keys])].toSorted() }
  return { documents: { main, proxy, open: { ...others, [client]: after } }, reply }
}

interface Ran {
  readonly reply: Reply
  readonly contents: Contents
  /** Of the documents that the command has changed, before and after. */
  readonly keys: readonly string[]
}

function ran(layout: Layout, { main, proxy }: Contents, command: Command): Ran {
  const contents = { main, proxy }
  const collection = collectionOf(layout, command.collection, contents[command.collection])
  const reply = run(collection, command)
  const after = collection.documents
  const changed = [...without(contents[command.collection], after), ...without(after, contents[command.collection])]
  // An insert waits also for a key that it does not get.
  if (command.method === 'insertOne') changed.push(command.args[0] as Fields)
  return {
    reply,
    contents: { ...contents, [command.collection]: after },
    keys: [...new Set(changed.flatMap((document) => keysOf(layout, command.collection, document)))],
  }
}

const uniqueKeys = (layout: Layout, name: keyof Contents): readonly UniqueKey[] =>
  name === 'main' ? mainKeys : proxyKeys[layout]

const keysOf = (layout: Layout, name: keyof Contents, document: Fields): string[] =>
  uniqueKeys(layout, name).map(({ fields }) => JSON.stringify([name, fields, fields.map((field) => document[field])]))

function holdersOf(layout: Layout, contents: Contents, key: string): string {
  const [name] = JSON.parse(key) as [keyof Contents]
  return JSON.stringify(contents[name].filter((document) => keysOf(layout, name, document).includes(key)))
}

function committed(live: Contents, { snapshot, own }: OpenTransaction): Contents {
  const merged = (name: keyof Contents): Fields[] => [
    ...without(live[name], without(snapshot[name], own[name])),
    ...without(own[name], snapshot[name]),
  ]
  return { main: merged('main'), proxy: merged('proxy') }
}

function without(documents: readonly Fields[], others: readonly Fields[]): Fields[] {
  const texts = new Set(others.map((each) => JSON.stringify(each)))
  return documents.filter((each) => !texts.has(JSON.stringify(each)))
}
