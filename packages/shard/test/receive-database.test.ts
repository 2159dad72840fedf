import { createDeferred, type PrimaryMove } from '@shardlab/actor'
import { NodeUnderTest } from '@shardlab/node/testing'
import t from 'tap'
import {
  holdDatabase,
  receiveDatabaseRecovery,
  releaseDatabase,
} from '../src/coordinators/databases/receive-database.js'
import { DdlCoordinators } from '../src/coordinators/ddl-coordinators.js'
import type { DdlHost } from '../src/coordinators/ddl-host.js'
import { DdlLocks } from '../src/coordinators/locks/ddl-locks.js'

const move: PrimaryMove = ['shard02', 5, 1]

const settle = async () => {
  for (let i = 0; i < 50; i++) await Promise.resolve()
}

/** Another coordinator of the database runs until `end`. */
function begin({ node, context } = new NodeUnderTest()) {
  context.holdSleeps = true
  const ddl = new DdlCoordinators(node, new DdlLocks({ context: node.context, behaviours: node.behaviours }))
  const host = { node, ddl } as unknown as DdlHost
  const other = createDeferred<void>()
  const ended = ddl.holdLock('dropDatabase', 'app', () => other.promise)
  const answers: string[] = []
  const hold = (name: string) => holdDatabase(host, { db: 'app', move }).then(() => answers.push(name))
  return { host, ddl, hold, answers, end: () => (other.resolve(), ended) }
}

t.test('requests to hold a database are answered when the shard has its lock, also repeated ones', async (t) => {
  const { host, ddl, hold, answers, end } = begin()
  const first = hold('first')
  await settle()
  const second = hold('second')
  await settle()
  t.same(answers, [], 'another coordinator has the lock')
  await end()
  await Promise.all([first, second])
  t.same(answers.toSorted(), ['first', 'second'])
  await hold('third')
  let isFree = false
  const next = ddl.holdLock('collMod', 'app', async () => void (isFree = true))
  await settle()
  t.notOk(isFree, 'the shard has the lock until the release')
  await releaseDatabase(host, { db: 'app', move, dropped: [] })
  await next
  t.equal(ddl.databaseHolds.size, 0)
  await t.rejects(hold('late'), { code: 117 })
  t.equal(ddl.databaseHolds.size, 0)
})

t.test('after a restart a repeated request waits for the lock, too', async (t) => {
  const node = new NodeUnderTest()
  const before = begin(node)
  void before.hold('first')
  await settle()
  const { host, ddl, hold, answers, end } = begin(node)
  ddl.recover(host, { receiveDatabase: receiveDatabaseRecovery } as never)
  void hold('repeated')
  await settle()
  t.same(answers, [])
  await end()
  await settle()
  t.same(answers, ['repeated'])
})

t.test('requests to hold a database end when the shard stops before it has the lock', async (t) => {
  const { host, hold } = begin()
  const requests = [hold('first'), hold('second')]
  await settle()
  host.node.stopping.abort()
  for (const request of requests) await t.rejects(request, { code: 11600 })
  await t.rejects(hold('late'), { code: 11600 })
})
