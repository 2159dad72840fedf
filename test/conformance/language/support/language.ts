/**
 * Runs examples of the query language through the driver, each twice: on an unsharded collection,
 * and on one sharded by a hashed _id over three shards. Results are compared with their types and
 * their order of fields. A number in a table has the type that the driver sends for it: an int if
 * it is whole.
 */
import { BSON, MongoClient, type Collection, type Document } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import type { Test } from 'tap'

const { deserialize, EJSON, serialize } = BSON

export interface Example {
  readonly name: string
  readonly documents: readonly Document[]
  /** Other collections, by the name that the pipeline uses. */
  readonly others?: { readonly [collection: string]: readonly Document[] }
  readonly find?: Document
  readonly aggregate?: readonly Document[]
  readonly options?: Document
  /** An element of the update command's `updates`; the result is all documents by `_id`. */
  readonly update?: Document
  /** The expected documents. */
  readonly gives: readonly Document[]
  /**
   * - `natural`: in this order from an unsharded collection, in any order from a sharded one; the
   *   default
   * - `sorted`: in this order from both
   * - `any`: in any order from both
   */
  readonly order?: 'natural' | 'sorted' | 'any'
  /** Fields with arrays whose order depends on the order of the documents: compared as sets. */
  readonly sets?: readonly string[]
}

/**
 * A command that must fail, over one document
 * `{ _id: 1, a: 1, s: 'text', list: [1, 2], d: <date> }`.
 */
export interface Mistake {
  readonly name: string
  readonly find?: Document
  readonly aggregate?: readonly Document[]
  readonly update?: Document
  readonly options?: Document
  readonly code: number
  /** A part of the expected message. */
  readonly message?: string
}

/** An expression, its expected value, and the document (`{}` if absent). */
export type ExpressionRow = readonly [expression: unknown, gives: unknown, document?: Document]

/** The expected value of a missing field. */
export const missing = Symbol('missing')

const layouts = ['unsharded', 'sharded'] as const
type Layout = (typeof layouts)[number]

/** Runs every example in both layouts, on one cluster. */
export async function runExamples(t: Test, examples: readonly Example[]): Promise<void> {
  const deployment = await Deployment.open(t)
  for (const example of examples)
    for (const layout of layouts) {
      const collection = await deployment.collection(layout, example.documents, example.others)
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

/**
 * The document without its `_id`, the update, the expected document, and further fields of the
 * `updates` element, such as another `q` than by `_id`.
 */
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

/** Runs commands that must fail, in both layouts, and compares the codes. */
export async function runMistakes(t: Test, mistakes: readonly Mistake[]): Promise<void> {
  const deployment = await Deployment.open(t)
  for (const layout of layouts) {
    const shared = await deployment.collection(
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
        if (mistake.message !== undefined) t.match(message, mistake.message, name)
      }
    }
  }
}

class Deployment {
  #next = 0
  readonly #client: MongoClient

  private constructor(client: MongoClient) {
    this.#client = client
  }

  static async open(t: Test): Promise<Deployment> {
    const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', emulate: '8.0' })
    cluster.on('log', ({ level, member, message, fields }) => {
      if (level === 'error') t.comment(`${member}: ${message}`, fields)
    })
    const client = await MongoClient.connect(cluster.uri, { promoteValues: false })
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    return new Deployment(client)
  }

  /**
   * A new collection with these documents, in a database of its own if the example has other
   * collections.
   */
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

/** The documents as texts that show the types; sorted if their order is not compared. */
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
