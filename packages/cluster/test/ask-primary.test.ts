import t from 'tap'
import { RequestFailedError, type Address } from '@shardlab/actor'
import { askPrimary } from '../src/sets/ask-primary.js'

/** A set whose members answer as given; time passes by its alarms only. */
function runtimeOf(members: readonly Address[], answer: (member: Address, kind: string) => unknown) {
  let nowMs = 0
  const asked: Address[] = []
  const runtime = {
    request: async (member: Address, kind: string) => {
      if (kind !== 'replication.find-primary') asked.push(member)
      return (await answer(member, kind)) as never
    },
    resolve: () => members,
    member: () => ({ state: 'running' }) as never,
    now: () => nowMs,
    alarm: (delayMs: number, wake: () => void) => {
      nowMs += delayMs
      wake()
      return { cancel: () => {} }
    },
    during: <T>(work: Promise<T>) => work,
  }
  return { runtime, asked, now: () => nowMs }
}

const request = { clusterId: new Uint8Array(12), shardName: 's', configHost: 'config/h:1' }
const steppedDown = () => new RequestFailedError('unreachable', 's-1', 's-1 stepped down before it answered')

t.test('after an election the request goes to the new primary', async (t) => {
  const { runtime, asked } = runtimeOf(['s-1', 's-2'], (member, kind) => {
    if (kind === 'replication.find-primary') return { isWritable: member === 's-2', term: 2 }
    if (member === 's-1') throw steppedDown()
    return { error: null }
  })
  t.same(await askPrimary(runtime, 's', 's-1', 'shard.initialise', request), { error: null })
  t.same(asked, ['s-1', 's-2'])
})

t.test('a set without a primary is asked for a minute, and a set of one only once', async (t) => {
  const refuses = (_: Address, kind: string) => {
    if (kind === 'replication.find-primary') return { isWritable: false, term: 2 }
    throw steppedDown()
  }
  const several = runtimeOf(['s-1', 's-2'], refuses)
  await t.rejects(askPrimary(several.runtime, 's', 's-1', 'shard.initialise', request), { name: 'RequestFailedError' })
  t.equal(several.now(), 60_000)
  const one = runtimeOf(['s'], refuses)
  await t.rejects(askPrimary(one.runtime, 's', 's', 'shard.initialise', request), { name: 'RequestFailedError' })
  t.same(one.asked, ['s'])
})

t.test('a defect of a member is not retried', async (t) => {
  const { runtime, asked } = runtimeOf(['s-1', 's-2'], () => {
    throw new TypeError('defect')
  })
  await t.rejects(askPrimary(runtime, 's', 's-1', 'shard.initialise', request), TypeError)
  t.same(asked, ['s-1'])
})
