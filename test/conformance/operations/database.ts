import { MongoServerError, type Db, type DropCollectionOptions } from 'mongodb'
import { optionsOf, type Method } from './arguments.js'
import { openCursor, openStream } from './client.js'

export const databaseMethods: Readonly<Record<string, Method<Db>>> = {
  aggregate: (db, args, context) => db.aggregate(args['pipeline'], optionsOf(args, context, 'pipeline')).toArray(),
  createChangeStream: (db, args, context) =>
    openStream(db.watch(args['pipeline'], optionsOf(args, context, 'pipeline'))),
  createCollection: (db, args, context) =>
    db.createCollection(args['collection'], optionsOf(args, context, 'collection')),
  createCommandCursor: async (db, args, context) => {
    const cursor = cursorOf(db, args, context)
    await openCursor(cursor)
    return cursor
  },
  dropCollection: (db, args, context) => dropIfPresent(db, args['collection'], optionsOf(args, context, 'collection')),
  listCollections: (db, args, context) =>
    db.listCollections(args['filter'], { ...optionsOf(args, context, 'filter'), nameOnly: false }).toArray(),
  listCollectionNames: async (db, args, context) => {
    const found = await db
      .listCollections(args['filter'], { ...optionsOf(args, context, 'filter'), nameOnly: true })
      .toArray()
    return found.map(({ name }) => name)
  },
  modifyCollection: (db, args, context) =>
    db.command(
      { collMod: args['collection'], ...rest(args, 'collection', 'session') },
      optionsOf(pick(args, 'session'), context),
    ),
  runCommand: (db, args, context) => db.command(args['command'], optionsOf(args, context, 'command', 'commandName')),
  runCursorCommand: (db, args, context) => cursorOf(db, args, context).toArray(),
}

/** 2.6 has no code for a collection that does not exist, by which the driver could know it. */
export async function dropIfPresent(db: Db, name: string, options: DropCollectionOptions): Promise<boolean> {
  try {
    return await db.dropCollection(name, options)
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.errmsg !== 'ns not found') throw error
    return false
  }
}

function cursorOf(db: Db, args: Parameters<Method<Db>>[1], context: Parameters<Method<Db>>[2]) {
  const cursor = db.runCursorCommand(args['command'], {
    ...optionsOf(args, context, 'command', 'commandName', 'batchSize', 'maxTimeMS', 'comment', 'cursorType'),
    ...(args['cursorType'] === 'tailable' || args['cursorType'] === 'tailableAwait' ? { tailable: true } : {}),
    ...(args['cursorType'] === 'tailableAwait' ? { awaitData: true } : {}),
  })
  if (args['batchSize'] !== undefined) cursor.setBatchSize(args['batchSize'])
  if (args['maxTimeMS'] !== undefined) cursor.setMaxTimeMS(args['maxTimeMS'])
  if (args['comment'] !== undefined) cursor.setComment(args['comment'])
  return cursor
}

const rest = (args: object, ...without: string[]) =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !without.includes(name)))
const pick = (args: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(args).filter(([name]) => names.includes(name)))
