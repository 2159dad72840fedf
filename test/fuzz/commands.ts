/**
 * Commands that are nearly valid: one of every row of the command table and of every operator, with
 * random changes.
 */
import type { Random } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { replyRows } from '../wire/reply-table.js'
import { deeplyNested, once, operatorNames, pick, randomDocument, randomName, randomValue } from './values.js'

/** A command with its database. */
export interface FuzzedCommand {
  readonly db: string
  readonly command: Document
}

const pipelines: readonly Document[][] = [
  [
    { $match: { a: { $gt: 1 } } },
    { $group: { _id: '$a', n: { $sum: 1 }, all: { $push: '$$ROOT' } } },
    { $sort: { _id: 1 } },
  ],
  [
    { $project: { a: 1, b: { $add: ['$a', 1] }, c: { $cond: [{ $eq: ['$a', 1] }, 'x', 'y'] } } },
    { $limit: 3 },
    { $skip: 1 },
  ],
  [{ $unwind: { path: '$c', includeArrayIndex: 'i' } }, { $sortByCount: '$c' }],
  [
    { $lookup: { from: 'other', localField: 'a', foreignField: '_id', as: 'joined' } },
    { $addFields: { n: { $size: '$joined' } } },
  ],
  [
    {
      $lookup: {
        from: 'other',
        let: { x: '$a' },
        pipeline: [{ $match: { $expr: { $eq: ['$_id', '$$x'] } } }],
        as: 'joined',
      },
    },
  ],
  [
    {
      $graphLookup: {
        from: 'things',
        startWith: '$a',
        connectFromField: 'a',
        connectToField: '_id',
        as: 'way',
        maxDepth: 2,
      },
    },
  ],
  [
    {
      $facet: {
        one: [{ $count: 'n' }],
        two: [{ $bucket: { groupBy: '$a', boundaries: [0, 5, 10], default: 'rest' } }],
      },
    },
  ],
  [{ $bucketAuto: { groupBy: '$a', buckets: 3, granularity: 'R5' } }, { $replaceRoot: { newRoot: '$_id' } }],
  [
    {
      $setWindowFields: {
        partitionBy: '$b',
        sortBy: { a: 1 },
        output: { n: { $sum: '$a', window: { documents: [-1, 1] } } },
      },
    },
  ],
  [
    { $densify: { field: 'a', range: { step: 1, bounds: [0, 20] } } },
    { $fill: { sortBy: { a: 1 }, output: { b: { method: 'locf' } } } },
  ],
  [{ $unionWith: { coll: 'other', pipeline: [{ $set: { from: 'other' } }] } }, { $unset: ['a', 'b.c'] }],
  [{ $redact: { $cond: [{ $gt: ['$a', 1] }, '$$KEEP', '$$PRUNE'] } }, { $sample: { size: 2 } }],
  [
    {
      $set: {
        d: { $dateToString: { date: '$$NOW', format: '%Y' } },
        r: { $reduce: { input: '$c', initialValue: 0, in: { $add: ['$$value', '$$this'] } } },
      },
    },
  ],
  [
    {
      $set: {
        m: { $map: { input: { $range: [0, 5] }, as: 'i', in: { $multiply: ['$$i', 2] } } },
        s: { $switch: { branches: [{ case: true, then: 1 }], default: 2 } },
      },
    },
  ],
  [{ $merge: { into: 'merged', on: '_id', whenMatched: 'merge', whenNotMatched: 'insert' } }],
  [{ $out: 'written' }],
  [{ $collStats: { count: {}, storageStats: {} } }],
  [{ $indexStats: {} }],
]

const filters: readonly Document[] = [
  { a: { $gt: 1, $lte: 5 }, b: { $in: [1, 2, 'x'] } },
  { $or: [{ a: 1 }, { b: { $exists: true } }], $nor: [{ c: { $size: 2 } }] },
  { c: { $elemMatch: { $gte: 1, $ne: 3 } }, a: { $not: { $mod: [2, 1] } } },
  { $expr: { $gt: ['$a', { $add: ['$b', 1] }] }, s: { $regex: '^x', $options: 'i' } },
  { $jsonSchema: { required: ['a'], properties: { a: { bsonType: 'int', minimum: 0 } } } },
  { a: { $type: ['int', 'string'] }, b: { $bitsAllSet: [1] }, c: { $all: [1, 2] } },
]

const updates: readonly unknown[] = [
  { $set: { a: 1, 'b.c': 2 }, $inc: { n: 1 }, $unset: { x: '' } },
  { $push: { c: { $each: [1, 2], $sort: -1, $slice: 5, $position: 0 } }, $mul: { n: 2 }, $rename: { x: 'y' } },
  { $addToSet: { c: { $each: [1] } }, $min: { a: 0 }, $max: { b: 9 }, $currentDate: { d: true } },
  { $pull: { c: { $gt: 3 } }, $bit: { n: { xor: 5 } }, $setOnInsert: { z: 1 } },
  { $set: { 'c.$[x]': 1 } },
  { a: 1, b: { c: 2 } },
  [{ $set: { a: { $add: ['$a', 1] } } }, { $unset: 'b' }],
]

const seeds: readonly FuzzedCommand[] = [
  // `shutdown` rightly ends the member.
  ...replyRows
    .filter(({ command }) => !('shutdown' in command) && !('lock' in command))
    .map(({ command, db = 'fuzz' }) => ({ command, db: db === 'types' ? 'fuzz' : db })),
  ...pipelines.map((pipeline) => ({
    db: 'fuzz',
    command: { aggregate: 'things', pipeline, cursor: { batchSize: 2 }, let: { x: 1 } },
  })),
  ...pipelines.map((pipeline) => ({
    db: 'fuzz',
    command: { explain: { aggregate: 'sharded', pipeline, cursor: {} }, verbosity: 'executionStats' },
  })),
  ...filters.flatMap((filter) => [
    {
      db: 'fuzz',
      command: {
        find: 'things',
        filter,
        sort: { a: -1, b: 1 },
        projection: { a: 1, c: { $slice: 2 } },
        limit: 5,
        skip: 1,
        batchSize: 2,
      },
    },
    {
      db: 'fuzz',
      command: {
        find: 'sharded',
        filter,
        hint: { _id: 1 },
        collation: { locale: 'en', strength: 2 },
        singleBatch: true,
      },
    },
    {
      db: 'fuzz',
      command: { delete: 'things', deletes: [{ q: filter, limit: 1, collation: { locale: 'de' } }], ordered: false },
    },
    { db: 'fuzz', command: { count: 'sharded', query: filter, limit: 3, skip: 1 } },
    { db: 'fuzz', command: { distinct: 'things', key: 'c', query: filter } },
  ]),
  ...updates.flatMap((update) => [
    {
      db: 'fuzz',
      command: {
        update: 'things',
        updates: [{ q: { a: 1 }, u: update, multi: false, upsert: true, arrayFilters: [{ x: 1 }] }],
      },
    },
    {
      db: 'fuzz',
      command: { update: 'sharded', updates: [{ q: { _id: 1 }, u: update, hint: '_id_', c: { y: 1 } }], let: { y: 2 } },
    },
    {
      db: 'fuzz',
      command: {
        findAndModify: 'things',
        query: { a: 1 },
        update,
        new: true,
        upsert: true,
        fields: { a: 1 },
        sort: { a: 1 },
      },
    },
  ]),
  {
    db: 'fuzz',
    command: { create: 'made', validator: { a: { $gt: 0 } }, validationLevel: 'moderate', collation: { locale: 'fr' } },
  },
  { db: 'fuzz', command: { create: 'view', viewOn: 'things', pipeline: [{ $match: { a: 1 } }] } },
  {
    db: 'fuzz',
    command: { createIndexes: 'things', indexes: [{ key: { a: 1, b: -1 }, name: 'ab', unique: true, sparse: true }] },
  },
  {
    db: 'fuzz',
    command: {
      createIndexes: 'things',
      indexes: [
        { key: { 'w.$**': 1 }, name: 'w' },
        { key: { d: 1 }, name: 'd', expireAfterSeconds: 100 },
      ],
    },
  },
  {
    db: 'fuzz',
    command: {
      createIndexes: 'sharded',
      indexes: [{ key: { b: 1 }, name: 'b', partialFilterExpression: { b: { $gt: 1 } } }],
    },
  },
  {
    db: 'fuzz',
    command: {
      insert: 'things',
      documents: [{ a: 1, b: { c: [1, 2] }, c: [1, 2, 3], s: 'xyz' }],
      bypassDocumentValidation: true,
    },
  },
  { db: 'fuzz', command: { getParameter: '*' } },
  { db: 'admin', command: { shardCollection: 'fuzz.keyed', key: { a: 1, b: 1 }, unique: false } },
]

/** Fields that any command may have. */
const generic: readonly (readonly [string, unknown])[] = [
  ['maxTimeMS', 1000],
  ['comment', { a: 1 }],
  ['readConcern', { level: 'local' }],
  ['writeConcern', { w: 'majority', wtimeout: 10 }],
  ['$readPreference', { mode: 'secondaryPreferred', tags: [{}] }],
  ['lsid', { id: 'none' }],
  ['txnNumber', 1],
  ['apiVersion', '1'],
  ['apiStrict', true],
  ['startTransaction', true],
  ['autocommit', false],
  ['let', { v: 1 }],
  ['hint', '_id_'],
  ['$clusterTime', {}],
]

/** Only reads go to the catalog: a client's write could corrupt it. */
const readers = new Set([
  'find',
  'count',
  'distinct',
  'listCollections',
  'listIndexes',
  'collStats',
  'dbStats',
  'dataSize',
])

export function fuzzedCommand(random: Random): FuzzedCommand {
  const seed = pick(random, seeds)
  let command = copy(seed.command) as Document
  const changes = once(random, 8) ? 0 : once(random, 3) ? 1 + random.below(4) : 1
  for (let i = 0; i < changes; i++) command = changed(random, command)
  if (once(random, 5)) {
    const [name, value] = pick(random, generic)
    command[name] = once(random, 3) ? randomValue(random) : value
  }
  if (once(random, 60)) command = randomDocument(random, 4)
  const db = once(random, 12)
    ? pick(random, [
        'other',
        'admin',
        '',
        'a.b',
        '$x',
        'x'.repeat(70),
        ...(readers.has(Object.keys(command)[0] ?? '') ? ['config'] : []),
      ])
    : seed.db
  return { db, command }
}

/** The command with one random change. `others`: commands to take parts from. */
export function changed(random: Random, command: Document, others: readonly FuzzedCommand[] = seeds): Document {
  const places: (readonly [container: Document | unknown[], key: string])[] = []
  collect(command, places)
  if (places.length === 0) return randomDocument(random)
  const [container, key] = pick(random, places)
  const parent = container as Document
  switch (random.below(9)) {
    case 0:
      setField(parent, key, randomValue(random))
      break
    case 1:
      if (Array.isArray(container)) container.splice(Number(key), 1)
      else delete parent[key]
      break
    case 2:
      if (!Array.isArray(container)) renameField(parent, key, randomName(random))
      break
    case 3:
      if (!Array.isArray(container)) setField(parent, randomName(random), randomValue(random))
      else container.push(randomValue(random))
      break
    case 4:
      setField(parent, key, once(random, 2) ? [parent[key]] : { [randomName(random)]: parent[key] })
      break
    case 5:
      setField(parent, key, copy(pick(random, others).command))
      break
    case 6:
      if (key.startsWith('$') && !Array.isArray(container)) renameField(parent, key, pick(random, operatorNames))
      else setField(parent, key, { [pick(random, operatorNames)]: once(random, 2) ? parent[key] : randomValue(random) })
      break
    case 7:
      setField(parent, key, partOf(random, pick(random, others).command))
      break
    default:
      setField(parent, key, once(random, 4) ? deeplyNested(random) : randomValue(random))
  }
  return command
}

function partOf(random: Random, command: Document): unknown {
  const places: (readonly [Document | unknown[], string])[] = []
  collect(command, places)
  const [container, key] = pick(random, places)
  return copy((container as Document)[key])
}

function collect(value: unknown, places: (readonly [Document | unknown[], string])[]): void {
  if (!isContainer(value)) return
  for (const key of Object.keys(value)) {
    places.push([value, key])
    collect((value as Document)[key], places)
  }
}

const isContainer = (value: unknown): value is Document | unknown[] =>
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)

/** Defines a field of any name: an assignment to `__proto__` would not create a field. */
function setField(document: Document, name: string, value: unknown): void {
  Object.defineProperty(document, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Renames the field in place: the order of fields matters. */
function renameField(document: Document, from: string, to: string): void {
  const fields = Object.entries(document)
  for (const name of Object.keys(document)) delete document[name]
  for (const [name, value] of fields) setField(document, name === from ? to : name, value)
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (typeof value === 'symbol') return 1
  return isContainer(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each)]))
    : value
}
