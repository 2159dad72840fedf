/**
 * Examples of the language run through the driver, each twice: on an unsharded collection, and on one sharded by a hashed _id over three shards.
 * What comes back is compared with its types and its order of fields; a number of a table is what the driver sends for it (an int where it is whole).
 */
import { BSON, MongoClient, type Collection, type Document } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import type { Test } from 'tap'

const { deserialize, EJSON, serialize } = BSON

export interface Example {
  readonly name: string
  readonly documents: readonly Document[]
  /** Other collections by name; the pipeline names them so. */
  readonly others?: { readonly [collection: string]: readonly Document[] }
  readonly find?: Document
  readonly aggregate?: readonly Document[]
  readonly options?: Document
  /** An element of the update command's `updates`; the result is all documents by `_id`. */
  readonly update?: Document
  /** The documents that come back. */
  readonly gives: readonly Document[]
  /**
   * - `natural`: in this order from an unsharded collection, in any order from a sharded one; the default
   * - `sorted`: in this order from both
   * - `any`: no order is promised
   */
  readonly order?: 'natural' | 'sorted' | 'any'
  /** Fields that hold arrays whose order follows the order of the documents: compared as sets. */
  readonly sets?: readonly string[]
}

/** What must fail, over one document `{ _id: 1, a: 1, s: 'text', list: [1, 2], d: <date> }`. */
export interface Mistake {
  readonly name: string
  readonly find?: Document
  readonly aggregate?: readonly Document[]
  readonly update?: Document
  readonly options?: Document
  readonly code: number
  /** What the message must contain. */
  readonly says?: string
}

/** An expression, what it gives for the document, and the document (`{}` without one). */
export type ExpressionRow = readonly [expression: unknown, gives: unknown, document?: Document]

/** Stands in a table for a field that is not there. */
export const missing = Symbol('missing')

const layouts = ['unsharded', 'sharded'] as const
type Layout = (typeof layouts)[number]

/** Runs every example under both layouts, on one cluster. */
export async function runExamples(t: Test, examples: readonly Example[]): Promise<void> {
  const place = await Place.open(t)
  for (const example of examples)
    for (const layout of layouts) {
      const collection = await place.collection(layout, example.documents, example.others)
      const name = `${example.name}, ${layout}`
      try {
        const found = await run(collection, example)
        const expected = example.gives
        const exact =
          example.order === 'sorted' ||
          (example.order !== 'any' && layout === 'unsharded') ||
          example.update !== undefined
        t.same(texts(found, exact, example.sets), texts(expected, exact, example.sets), name)
      } catch (error) {
        t.fail(`${name}: ${String(error)}`)
      }
    }
}

/** The document without its `_id`, the update, what it becomes, and more of the `updates` element: `q` where it is not by `_id`. */
export type UpdateRow = readonly [before: Document, u: Document | readonly Document[], after: Document, more?: Document]

export function updateExamples(rows: readonly UpdateRow[]): readonly Example[] {
  return rows.map(([before, u, after, more]) => ({
    name: `${EJSON.stringify(u as Document)} of ${EJSON.stringify(before)}`,
    documents: [{ _id: 1, ...before }],
    update: { q: { _id: 1 }, u, ...more },
    gives: [{ _id: 1, ...after }],
  }))
}

/** Evaluates every expression in a projection over one document. */
export async function runExpressions(t: Test, rows: readonly ExpressionRow[]): Promise<void> {
  await runExamples(
    t,
    rows.map(([expression, gives, document]) => ({
      name: EJSON.stringify(expression as Document),
      documents: [document ?? {}],
      aggregate: [{ $project: { _id: 0, v: expression } }],
      gives: [gives === missing ? {} : { v: gives }],
    })),
  )
}

/** Runs what must fail, and compares the code, under both layouts. */
export async function runMistakes(t: Test, mistakes: readonly Mistake[]): Promise<void> {
  const place = await Place.open(t)
  for (const layout of layouts) {
    const shared = await place.collection(
      layout,
      [{ _id: 1, a: 1, s: 'text', list: [1, 2], d: new Date(0) }],
      undefined,
    )
    for (const mistake of mistakes) {
      const name = `${mistake.name}, ${layout}`
      try {
        const found = await run(shared, { ...mistake, documents: [], gives: [] })
        t.fail(`${name}: no error but ${EJSON.stringify(found)}`)
      } catch (error) {
        const { code, message } = error as { code?: unknown; message: string }
        t.equal(Number(code), mistake.code, `${name}: ${message}`)
        if (mistake.says !== undefined) t.match(message, mistake.says, name)
      }
    }
  }
}

class Place {
  #next = 0
  readonly #client: MongoClient

  private constructor(client: MongoClient) {
    this.#client = client
  }

  static async open(t: Test): Promise<Place> {
    const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', emulate: '8.0' })
    cluster.on('log', ({ level, member, message, fields }) => {
      if (level === 'error') t.comment(`${member}: ${message}`, fields)
    })
    const client = await MongoClient.connect(cluster.uri, { promoteValues: false })
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    return new Place(client)
  }

  /** A new collection with these documents, in a database of its own when there are others beside it. */
  async collection(layout: Layout, documents: readonly Document[], others: Example['others']): Promise<Collection> {
    const number = this.#next++
    const db = this.#client.db(others === undefined ? `language-${layout}` : `language-${layout}-${number}`)
    const made = db.collection(`c${number}`)
    await this.#fill(layout, made, documents)
    for (const [name, content] of Object.entries(others ?? {})) await this.#fill(layout, db.collection(name), content)
    return made
  }

  async #fill(layout: Layout, collection: Collection, documents: readonly Document[]): Promise<void> {
    if (layout === 'sharded')
      await this.#client.db('admin').command({ shardCollection: collection.namespace, key: { _id: 'hashed' } })
    if (documents.length > 0)
      await collection.insertMany(
        documents.map((document, i) => ('_id' in document ? document : { _id: i + 1, ...document })) as never,
      )
  }
}

async function run(collection: Collection, example: Example): Promise<Document[]> {
  if (example.find !== undefined) {
    const { filter, ...options } = example.find
    return collection.find(filter, options as never).toArray()
  }
  if (example.aggregate !== undefined)
    return collection.aggregate([...example.aggregate] as Document[], (example.options ?? {}) as never).toArray()
  if (example.update === undefined) throw new Error(`${example.name} does nothing`)
  const { q, u, multi, ...options } = example.update
  if (multi === true) await collection.updateMany(q, u, options as never)
  else await collection.updateOne(q, u, options as never)
  return collection.find({}, { sort: { _id: 1 } }).toArray()
}

/** The documents as texts that tell types apart; sorted where their order is not to be compared. */
function texts(documents: readonly Document[], exact: boolean, sets: readonly string[] = []): string[] {
  const all = documents.map((document) => {
    const typed = deserialize(serialize(document), { promoteValues: false })
    for (const field of sets)
      if (Array.isArray(typed[field]))
        typed[field] = typed[field].map((each: unknown) => EJSON.stringify({ each }, { relaxed: false })).sort()
    return EJSON.stringify(typed, { relaxed: false })
  })
  return exact ? all : all.sort()
}
