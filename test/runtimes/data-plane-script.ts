/**
 * The part of the script with commands other than plain reads and writes. It changes documents, and
 * drops the collections and sessions that it creates.
 */
import { Long } from '@shardlab/bson'
import type { Say } from './say.js'

export async function playDataPlane(say: Say): Promise<void> {
  await findAndModify(say)
  await retry(say)
  await writeInBulk(say)
  await joinAndMerge(say)
  await define(say)
  await diagnose(say)
}

async function findAndModify(say: Say): Promise<void> {
  for (const ns of ['ranged', 'hashed', 'plain']) {
    const query = ns === 'plain' ? { _id: 20 } : { _id: 20, k: 20 }
    const change = { findAndModify: ns, query, $db: 'app' }
    await say(
      `findAndModify in ${ns}`,
      { ...change, update: { $inc: { n: 7 } }, new: true },
      { ok: 1, value: { _id: 20 } },
    )
    await say(
      `findAndModify by a pipeline in ${ns}`,
      { ...change, update: [{ $set: { twice: { $add: ['$n', '$n'] } } }] },
      { ok: 1 },
    )
    await say(
      `findAndModify of nothing in ${ns}`,
      { ...change, query: { _id: -1, k: -1 }, remove: true },
      { ok: 1, value: null },
    )
    await say(`distinct in ${ns}`, { distinct: ns, key: 'group', query: { _id: { $lt: 40 } }, $db: 'app' }, { ok: 1 })
  }
}

async function retry(say: Say): Promise<void> {
  // A member generates the session's id, so the normaliser can name it.
  const { id } = await say('startSession', { startSession: 1, $db: 'admin' }, { ok: 1 })
  const numbered = { lsid: id, $db: 'app' }
  const command = {
    findAndModify: 'hashed',
    query: { _id: 21 },
    update: { $inc: { n: 1 } },
    new: true,
    txnNumber: Long.fromNumber(1),
  }
  const first = await say('a retryable findAndModify', { ...command, ...numbered }, { ok: 1, value: { _id: 21 } })
  await say('the same again', { ...command, ...numbered }, { ok: 1, value: first['value'] })
  const many = {
    update: 'hashed',
    updates: [{ q: {}, u: { $set: { n: 0 } }, multi: true }],
    txnNumber: Long.fromNumber(2),
  }
  await say(
    'a retryable update of many documents',
    { ...many, ...numbered },
    { ok: 1, writeErrors: [{ index: 0, code: 72 }] },
  )
}

async function writeInBulk(say: Say): Promise<void> {
  const ops = [
    { insert: 0, document: { _id: 5000, k: 5000 } },
    { insert: 1, document: { _id: 5000, k: 5000 } },
    { update: 0, filter: { _id: 5000, k: 5000 }, updateMods: { $set: { bulk: true } } },
    { update: 1, filter: { group: 'g1' }, updateMods: { $inc: { n: 1 } }, multi: true },
    { delete: 0, filter: { _id: 5000, k: 5000 } },
    { insert: 1, document: { _id: 5000 } },
  ]
  const nsInfo = [{ ns: 'app.ranged' }, { ns: 'app.hashed' }]
  await say('bulkWrite', { bulkWrite: 1, ops, nsInfo, ordered: false, $db: 'admin' }, { ok: 1, nErrors: 1 })
  await say(
    'deletes what it left',
    { delete: 'hashed', deletes: [{ q: { _id: 5000 }, limit: 1 }], $db: 'app' },
    { ok: 1, n: 1 },
  )
}

async function joinAndMerge(say: Say): Promise<void> {
  const some = { $match: { _id: { $gte: 10, $lt: 16 } } }
  const aggregate = (ns: string, ...pipeline: object[]) => ({ aggregate: ns, pipeline, cursor: {}, $db: 'app' })
  const lookup = {
    from: 'ranged',
    localField: '_id',
    foreignField: 'k',
    as: 'other',
    pipeline: [{ $project: { n: 1 } }],
  }
  const sort = { $sort: { _id: 1 } }
  await say('$lookup', aggregate('hashed', some, { $lookup: lookup }, sort), { ok: 1, cursor: { id: 0 } })
  await say(
    '$unionWith',
    aggregate('plain', some, { $unionWith: { coll: 'hashed', pipeline: [some] } }, { $sort: { _id: 1, n: 1 } }),
    {
      ok: 1,
    },
  )
  await say('$facet', aggregate('ranged', some, sort, { $facet: { all: [{ $count: 'n' }], first: [{ $limit: 1 }] } }), {
    ok: 1,
  })
  await say('$out', aggregate('hashed', some, sort, { $out: 'copied' }), { ok: 1, cursor: { firstBatch: [] } })
  await say('$merge', aggregate('ranged', { $match: { _id: 30 } }, { $merge: { into: 'copied' } }), {
    ok: 1,
    cursor: { firstBatch: [] },
  })
  await say(
    'what was copied',
    { find: 'copied', filter: {}, sort: { _id: 1 }, $db: 'app' },
    { ok: 1, cursor: { id: 0 } },
  )
  await say('rename', { renameCollection: 'app.copied', to: 'app.moved', $db: 'admin' }, { ok: 1 })
  await say(
    'rename upon another',
    { renameCollection: 'app.moved', to: 'app.plain', $db: 'admin' },
    { ok: 0, codeName: 'NamespaceExists' },
  )
  await say('drop what was renamed', { drop: 'moved', $db: 'app' }, { ok: 1 })
}

async function define(say: Say): Promise<void> {
  const pipeline = [{ $match: { _id: { $lt: 12 } } }, { $project: { n: 1 } }]
  await say('create a view', { create: 'few', viewOn: 'hashed', pipeline, $db: 'app' }, { ok: 1 })
  await say('find in a view', { find: 'few', filter: {}, sort: { _id: -1 }, $db: 'app' }, { ok: 1, cursor: { id: 0 } })
  await say('count a view', { count: 'few', query: { _id: { $gte: 5 } }, $db: 'app' }, { ok: 1 })
  await say(
    'insert into a view',
    { insert: 'few', documents: [{ _id: 1 }], $db: 'app' },
    { ok: 1, n: 0, writeErrors: [{ code: 166 }] },
  )
  await say('create with a validator', { create: 'checked', validator: { n: { $type: 'int' } }, $db: 'app' }, { ok: 1 })
  await say(
    'insert what is not valid',
    { insert: 'checked', documents: [{ _id: 1, n: 'one' }], $db: 'app' },
    { ok: 1, n: 0, writeErrors: [{ code: 121 }] },
  )
  await say('collMod', { collMod: 'checked', validationLevel: 'off', $db: 'app' }, { ok: 1 })
  await say('insert it now', { insert: 'checked', documents: [{ _id: 1, n: 'one' }], $db: 'app' }, { ok: 1, n: 1 })
  await say('create a capped collection', { create: 'last', capped: true, size: 4096, max: 3, $db: 'app' }, { ok: 1 })
  const documents = [1, 2, 3, 4, 5].map((_id) => ({ _id }))
  await say('insert more than it holds', { insert: 'last', documents, $db: 'app' }, { ok: 1, n: 5 })
  await say(
    'the newest of them',
    { find: 'last', filter: {}, $db: 'app' },
    { ok: 1, cursor: { firstBatch: [{ _id: 3 }, { _id: 4 }, { _id: 5 }] } },
  )
  await say('drop an index', { dropIndexes: 'hashed', index: 'group_1_n_-1', $db: 'app' }, { ok: 1 })
  await say(
    'drop it again',
    { dropIndexes: 'hashed', index: 'group_1_n_-1', $db: 'app' },
    { ok: 0, codeName: 'IndexNotFound' },
  )
  for (const ns of ['few', 'checked', 'last']) await say(`drop ${ns}`, { drop: ns, $db: 'app' }, { ok: 1 })
}

async function diagnose(say: Say): Promise<void> {
  const find = { find: 'ranged', filter: { k: { $gte: 3, $lt: 9 } }, sort: { n: 1 } }
  await say('explain', { explain: find, verbosity: 'queryPlanner', $db: 'app' }, { ok: 1 })
  await say('dbStats', { dbStats: 1, $db: 'app' }, { ok: 1, db: 'app' })
  await say('collStats', { collStats: 'hashed', $db: 'app' }, { ok: 1, ns: 'app.hashed', sharded: true })
  await say('validate', { validate: 'plain', $db: 'app' }, { ok: 1 })
}
