import { decode, type Document } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import fc from 'fast-check'
import t from 'tap'
import { long, NodeUnderTest, session } from './support/harness.js'

t.test('a batch of inserts has the effect of single inserts', async () => {
  const documents = fc.array(
    fc.record(
      {
        _id: fc.oneof({ weight: 9, arbitrary: fc.nat(60) }, { weight: 1, arbitrary: fc.constant([1]) }),
        a: fc.nat(40),
        h: fc.oneof({ weight: 9, arbitrary: fc.nat(9) }, { weight: 1, arbitrary: fc.constant([1]) }),
      },
      { requiredKeys: ['_id', 'a'] },
    ),
    { minLength: 1, maxLength: 30 },
  )
  await check(
    fc.asyncProperty(
      documents,
      documents,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      async (before, batch, ordered, isRetryable, isWatched) => {
        const [whole, single] = [new NodeUnderTest(), new NodeUnderTest()]
        const logs: string[][] = [[], []]
        for (const [i, { node }] of [whole, single].entries()) {
          const log = logs[i]!
          if (isWatched)
            node.observe(
              ({ op, object, session }) =>
                void log.push(`${op} ${JSON.stringify(decode(object))} ${session?.stmtIds.join()}`),
            )
        }
        for (const node of [whole, single]) {
          await node.ok({
            createIndexes: 'c',
            indexes: [
              { key: { a: 1 }, name: 'a', unique: true },
              { key: { h: 'hashed' }, name: 'h' },
            ],
          })
          await node.ok({ insert: 'c', documents: before, ordered: false })
        }
        const retryable = isRetryable ? { lsid: session(1), txnNumber: long(1) } : {}
        const together = await whole.ok({ insert: 'c', documents: batch, ordered, ...retryable })
        const writeErrors: Document[] = []
        let n = 0
        for (const [index, document] of batch.entries()) {
          const reply = await single.ok({ insert: 'c', documents: [document] })
          n += reply['n'] as number
          const [error] = (reply['writeErrors'] as Document[] | undefined) ?? []
          if (error === undefined) continue
          writeErrors.push({ ...error, index })
          if (ordered) break
        }
        const expected = { n, ...(writeErrors.length === 0 ? {} : { writeErrors }), ok: 1 }
        const statements = isRetryable ? await whole.ok({ insert: 'c', documents: batch, ordered, ...retryable }) : null
        const isRepeated =
          statements === null || (statements['n'] === n && (statements['retriedStmtIds']?.length ?? 0) === n)
        const states = await Promise.all(
          [whole, single, whole.restarted()].map(async (node) =>
            JSON.stringify([await node.all('c'), await node.ok({ validate: 'c' })]),
          ),
        )
        const inserted = await Promise.all(
          [whole, single].map(async (node) => (await node.ok({ serverStatus: 1 }))['metrics'].document.inserted),
        )
        const outcomes = logs.map((log) => log.map((line) => (isRetryable ? line.replace(/ \S*$/, '') : line)).join())
        return (
          JSON.stringify(together) === JSON.stringify(expected) &&
          isRepeated &&
          states[0] === states[1] &&
          states[0] === states[2] &&
          String(inserted[0]) === String(inserted[1]) &&
          outcomes[0] === outcomes[1]
        )
      },
    ),
    25,
  )
})

t.test('a repeated batch gets the results of its inserts, even if the client repeats them as updates', async (t) => {
  const node = new NodeUnderTest()
  const statement = { lsid: session(1), txnNumber: long(1) }
  const ids = [7, 'a string', { of: ['a', 'document'] }, true, 2.5]
  await node.ok({ insert: 'c', documents: ids.map((_id) => ({ _id })), ...statement })
  const repeated = {
    update: 'c',
    updates: ids.map((_id) => ({ q: { _id }, u: { $set: { x: 1 } }, upsert: true })),
    ...statement,
  }
  const expected = {
    n: ids.length,
    nModified: 0,
    upserted: ids.map((_id, index) => ({ index, _id })),
    retriedStmtIds: ids.map((_, index) => index),
    ok: 1,
  }
  t.same(await node.ok(repeated), expected)
  t.same(await node.restarted().ok(repeated), expected, 'after a restart')
  t.equal((await node.all('c')).filter(({ x }) => x === 1).length, 0)
})
