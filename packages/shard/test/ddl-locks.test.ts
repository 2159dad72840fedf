import { createDeferred, type Deferred } from '@shardlab/actor'
import { FakeContext } from '@shardlab/actor/testing'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { DdlLocks } from '../src/coordinators/locks/ddl-locks.js'

/** Locks, and the operations that have them, in the order in which they got them. */
function begin(emulate: EmulatedVersion = '8.0') {
  const context = new FakeContext('shard01')
  context.holdSleeps = true
  const locks = new DdlLocks({ context, behaviours: behavioursOf(emulate) })
  const got: string[] = []
  const work = (operation: string, done: Deferred<void>) => async () => {
    got.push(operation)
    await done.promise
  }
  const hold = (operation: string, ...names: string[]) => {
    const done = createDeferred<void>()
    return { held: locks.hold({ operation, names }, work(operation, done)), release: () => done.resolve() }
  }
  const recover = (operation: string, ...names: string[]) => {
    const done = createDeferred<void>()
    return { held: locks.recover({ operation, names }, work(operation, done)), release: () => done.resolve() }
  }
  return { context, hold, recover, got }
}

const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

t.test('coordinators of one collection run one after the other, in the order of their requests', async (t) => {
  const { hold, got } = begin()
  const runs = ['first', 'second', 'third'].map((name) => hold(name, 'db.c'))
  await settle()
  t.same(got, ['first'])
  runs[0]!.release()
  await runs[0]!.held
  await settle()
  t.same(got, ['first', 'second'])
  runs[1]!.release()
  runs[2]!.release()
  await runs[2]!.held
  t.same(got, ['first', 'second', 'third'])
})

t.test('8.0: coordinators of two collections share the lock of their database', async (t) => {
  const { hold, got } = begin('8.0')
  const runs = [hold('one', 'db.a'), hold('two', 'db.b')]
  await settle()
  t.same(got, ['one', 'two'])
  for (const { release } of runs) release()
})

t.test('7.0: coordinators of two collections lock their database', async (t) => {
  const { hold, got } = begin('7.0')
  const [one, two, other] = [hold('one', 'db.a'), hold('two', 'db.b'), hold('other', 'dbx.a')] as const
  await settle()
  t.same(got, ['one', 'other'])
  one.release()
  await one.held
  await settle()
  t.same(got, ['one', 'other', 'two'])
  for (const { release } of [two, other]) release()
})

t.test('a waiting dropDatabase precedes later coordinators of collections', async (t) => {
  const { hold, got } = begin()
  const [one, drop, two] = [hold('one', 'db.a'), hold('dropDatabase', 'db'), hold('two', 'db.b')] as const
  await settle()
  t.same(got, ['one'])
  one.release()
  await settle()
  t.same(got, ['one', 'dropDatabase'])
  drop.release()
  await settle()
  t.same(got, ['one', 'dropDatabase', 'two'])
  two.release()
})

t.test('renames in opposite directions, also across databases, do not wait for each other for ever', async (t) => {
  for (const emulate of ['7.0', '8.0'] as const) {
    const { hold, got } = begin(emulate)
    const runs = [hold('there', 'a.x', 'b.y'), hold('back', 'b.y', 'a.x'), hold('within', 'a.z', 'a.x')]
    for (const { release, held } of runs) {
      release()
      await held
    }
    t.equal(got.length, 3, emulate)
  }
})

t.test('a wait ends with LockBusy after the limit of the version, and the next in line proceeds', async (t) => {
  for (const [emulate, limitMs, errmsg] of [
    ['4.4', 20_000, 'timed out waiting for db'],
    ['6.0.2', 300_000, 'Failed to acquire dist lock db locally'],
    [
      '7.0',
      300_000,
      "Failed to acquire DDL lock for namespace 'db' after 300000ms that is currently locked with reason 'refine'",
    ],
    [
      '8.0',
      300_000,
      `Failed to acquire DDL lock for 'db' in mode X after 300000ms that is currently locked by '{"{ operation: "refine", lock mode: "IX" }"}'`,
    ],
  ] as const) {
    const { context, hold, got } = begin(emulate)
    // Each wait reaches its limit.
    context.holdSleeps = false
    const refine = hold('refine', 'db.c')
    const drop = hold('dropDatabase', 'db')
    await settle()
    t.same(context.sleeps[0], limitMs, emulate)
    await t.rejects(drop.held, { codeName: 'LockBusy', message: errmsg }, emulate)
    refine.release()
    await refine.held
    const later = hold('later', 'db.d')
    later.release()
    await later.held
    t.same(got, ['refine', 'later'], 'the request that has failed gets no lock')
  }
})

t.test('an operation that resumes has free locks at once, and waits without limit for others', async (t) => {
  const { context, hold, recover, got } = begin('7.0')
  const first = recover('first', 'db.c')
  t.same(got, ['first'])
  const second = recover('second', 'db.c')
  await settle()
  t.same(context.sleeps, [])
  first.release()
  await first.held
  await settle()
  t.same(got, ['first', 'second'])
  second.release()
  await second.held
  const third = hold('third', 'db')
  await settle()
  t.same(got, ['first', 'second', 'third'], 'all are released')
  third.release()
})
