import { RequestFailedError } from '@shardlab/actor'
import { FakeContext } from '@shardlab/actor/testing'
import { PlacementState } from '@shardlab/shard'
import t from 'tap'
import { ScriptedConfig } from './support/scripted-config.js'

const ns = 'db.c'

function start(confirm?: ConstructorParameters<typeof PlacementState>[2]) {
  const config = new ScriptedConfig(['shard01'])
  config.shard(ns, { a: 1 }, [0], ['shard01', 'shard01'])
  const asked: string[] = []
  /** null: the next request succeeds. */
  let failure: (() => never) | null = null
  const context = new FakeContext('shard01')
  // Not async: an error may be thrown before there is a promise.
  context.request = (_to, kind, request) => {
    asked.push(kind)
    const fail = failure
    failure = null
    if (fail !== null) return fail()
    const answer = kind === 'config.get-database' ? { database: null } : config.answer(kind, request)
    return Promise.resolve(answer as never)
  }
  const state = new PlacementState(context, () => {}, confirm)
  return { asked, state, failWith: (next: () => never) => (failure = next) }
}

const attempt = async (refresh: () => Promise<unknown>) => {
  try {
    return (await refresh()) === null ? 'unsharded' : 'known'
  } catch (error) {
    return (error as Error).message
  }
}

const atOnce = () => {
  throw new Error('at once')
}
const later = () => Promise.reject(new RequestFailedError('unreachable', 'config', 'no answer', true)) as never

t.test('after a failed refresh the next one is sent, whether the placement was known or not', async (t) => {
  for (const isKnown of [false, true]) {
    for (const [failure, message] of [
      [atOnce, /^at once$/],
      [later, /^Could not find host matching read preference/],
    ] as const) {
      const { state, failWith } = start()
      const collection = () => attempt(() => state.refreshCollection(ns))
      const databaseOf = () => attempt(() => state.refreshDatabase('db'))
      if (isKnown) t.equal(await collection(), 'known')
      failWith(failure)
      t.match(await collection(), message)
      t.equal(state.collection(ns) === undefined, !isKnown)
      t.equal([...state.collections()].length, isKnown ? 1 : 0)
      t.equal(await collection(), 'known')
      failWith(failure)
      t.match(await databaseOf(), message)
      t.equal(await databaseOf(), 'unsharded')
    }
  }
})

t.test('a concurrent refresh joins the running one, also when the collection is forgotten meanwhile', async (t) => {
  const { asked, state } = start()
  const both = [state.refreshCollection(ns), state.refreshCollection(ns)]
  state.forgetCollection(ns)
  t.same([...state.collections()], [], 'nothing is known yet')
  both.push(state.refreshCollection(ns))
  const [first, ...others] = await Promise.all(both)
  t.ok(others.every((other) => other === first))
  t.equal(state.collection(ns), first)
  t.same(asked, ['config.get-collection', 'config.get-collection'], 'the first reply may be too old')
  await state.refreshCollection(ns)
  state.forgetDatabase('db')
  t.same([state.collection(ns), asked.length], [undefined, 3])
})

t.test('a refresh that was under way when its placement was forgotten asks again', async (t) => {
  const confirmed: string[] = []
  const { state, asked } = start(async (name) => void confirmed.push(name))
  for (const [refresh, forget, kind] of [
    [() => state.refreshCollection(ns), () => state.forgetCollection(ns), 'config.get-collection'],
    [() => state.refreshDatabase('db'), () => state.forgetDatabase('db'), 'config.get-database'],
  ] as const) {
    asked.length = 0
    confirmed.length = 0
    const refreshing = refresh()
    forget()
    await refreshing
    t.same(asked, [kind, kind])
    t.equal(confirmed.length, 1, 'the first reply may be too old, so it is not confirmed')
    await refresh()
    t.equal(asked.length, 3, 'the next one asks once')
  }
})

t.test('a reply is used after it was confirmed, and known placements are named', async (t) => {
  const confirmed: [name: string, isKnown: boolean][] = []
  let refusal: Error | null = null
  const { state } = start(async (name, isKnown) => {
    confirmed.push([name, isKnown])
    if (refusal !== null) throw refusal
  })
  refusal = new Error('not primary')
  t.equal(await attempt(() => state.refreshCollection(ns)), 'not primary')
  t.equal(await attempt(() => state.refreshDatabase('db')), 'not primary')
  t.same([state.collection(ns), state.database('db')], [undefined, undefined])
  refusal = null
  t.equal(await attempt(() => state.refreshCollection(ns)), 'known')
  t.equal(await attempt(() => state.refreshCollection(ns)), 'known')
  t.equal(await attempt(() => state.refreshDatabase('db')), 'unsharded')
  t.same(confirmed, [
    [ns, false],
    ['db', false],
    [ns, false],
    [ns, true],
    ['db', false],
  ])
})

t.test('a placement that is forgotten while it is confirmed is asked for again', async (t) => {
  let forgetOnce: (() => void) | null = null
  const { state, asked } = start(async () => {
    forgetOnce?.()
    forgetOnce = null
  })
  for (const [refresh, forget, kind] of [
    [() => state.refreshCollection(ns), () => state.forgetCollection(ns), 'config.get-collection'],
    [() => state.refreshDatabase('db'), () => state.forgetDatabase('db'), 'config.get-database'],
  ] as const) {
    asked.length = 0
    forgetOnce = forget
    await refresh()
    t.same(asked, [kind, kind])
  }
})
