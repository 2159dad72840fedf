import type { AbstractCursor, ChangeStream, Document, MongoClient } from 'mongodb'
import { optionsOf, type Method } from './arguments.js'

export const clientMethods: Readonly<Record<string, Method<MongoClient>>> = {
  listDatabases: async (client, args, context) =>
    (await client.db().admin().listDatabases(optionsOf(args, context))).databases,
  listDatabaseNames: async (client, args, context) => {
    const { databases } = await client
      .db()
      .admin()
      .listDatabases({ ...optionsOf(args, context), nameOnly: true })
    return databases.map(({ name }) => name)
  },
  createChangeStream: (client, args, context) =>
    openStream(client.watch(args['pipeline'], optionsOf(args, context, 'pipeline'))),
  clientBulkWrite: async (client, args, context) => {
    const models = (args['models'] as Document[]).map((each) => {
      const [name, model] = Object.entries(each)[0] as [string, Document]
      return { name, ...model }
    })
    return plainBulkResult(await client.bulkWrite(models as never, optionsOf(args, context, 'models')))
  },
  dropDatabase: (client, args, context) =>
    client.db(args['database']).dropDatabase(optionsOf(args, context, 'database')),
  close: (client) => client.close(),
}

const counts = ['insertedCount', 'upsertedCount', 'matchedCount', 'modifiedCount', 'deletedCount']

/**
 * The fields that the format defines for each kind of result; the driver's results have others too.
 */
const resultFields: Readonly<Record<string, readonly string[]>> = {
  insertResults: ['insertedId'],
  updateResults: ['matchedCount', 'modifiedCount', 'upsertedId'],
  deleteResults: ['deletedCount'],
}

/**
 * A result of a client's `bulkWrite` in the format: documents keyed by the operation's index
 * instead of maps.
 */
export function plainBulkResult(result: Document): Document {
  const plain: Document = pick(result, ['acknowledged', ...counts])
  for (const [name, fields] of Object.entries(resultFields)) {
    const results = result[name] as Map<number, Document> | undefined
    if (results !== undefined)
      plain[name] = Object.fromEntries([...results].map(([index, each]) => [String(index), pick(each, fields)]))
  }
  return plain
}

/**
 * The partial result of a failed client `bulkWrite`. If nothing was written, the driver has a
 * result of zeros and the format none.
 */
export function partialBulkResult(result: Document | undefined): Document | undefined {
  return result === undefined || counts.every((name) => result[name] === 0) ? undefined : plainBulkResult(result)
}

const pick = (document: Document, names: readonly string[]): Document =>
  Object.fromEntries(names.filter((name) => document[name] !== undefined).map((name) => [name, document[name]]))

/**
 * Runs a cursor's command now: the driver would send it at the first read, the format at creation.
 */
export async function openCursor(cursor: AbstractCursor): Promise<void> {
  await (cursor as unknown as { cursorInit(): Promise<void> }).cursorInit()
}

/** Opens a change stream on the server now: the driver would wait for the first event. */
export async function openStream<T extends ChangeStream>(stream: T): Promise<T> {
  await openCursor((stream as unknown as { cursor: AbstractCursor }).cursor)
  return stream
}
