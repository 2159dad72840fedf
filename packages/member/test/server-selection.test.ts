import { encode, type Document } from '@shardlab/bson'
import { FakeContext } from '@shardlab/actor/testing'
import t from 'tap'
import { parseReadPreference } from '../src/concerns/read-preference.js'
import { MemberStates } from '../src/context/member-states.js'
import { suitableMembers, type KnownMember } from '../src/context/server-selection.js'

function member(address: string, state: KnownMember['state'], rest: Partial<KnownMember> = {}): KnownMember {
  return { address, state, tags: new Map(), lastWriteMs: 1_000_000, updatedAtMs: 1_000_000, pingMs: 1, ...rest }
}

function suitable(members: readonly KnownMember[], preference: Document): string {
  const found = suitableMembers(members, parseReadPreference(encode(preference)))
  return found.map(({ address }) => address).join('')
}

t.test('modes prefer or require members in a state', async (t) => {
  const whole = [member('p', 'primary'), member('s', 'secondary'), member('o', 'other'), member('d', null)]
  const headless = whole.slice(1)
  for (const [mode, withPrimary, withoutPrimary, alone] of [
    ['primary', 'p', '', 'p'],
    ['primaryPreferred', 'p', 's', 'p'],
    ['secondary', 's', 's', ''],
    ['secondaryPreferred', 's', 's', 'p'],
    ['nearest', 'ps', 's', 'p'],
  ] as const) {
    t.equal(suitable(whole, { mode }), withPrimary, mode)
    t.equal(suitable(headless, { mode }), withoutPrimary, `${mode} without a primary`)
    t.equal(suitable(whole.slice(0, 1), { mode }), alone, `${mode} without secondaries`)
  }
})

t.test('the first set of tags that any member has counts, and not for a preferred primary', async (t) => {
  const tags = (document: Record<string, string>) => ({ tags: new Map(Object.entries(document)) })
  const members = [
    member('p', 'primary', tags({ dc: 'east' })),
    member('a', 'secondary', tags({ dc: 'east', rack: '1' })),
    member('b', 'secondary', tags({ dc: 'west', rack: '1' })),
  ]
  t.equal(suitable(members, { mode: 'nearest', tags: [{ dc: 'east' }] }), 'pa')
  t.equal(suitable(members, { mode: 'secondary', tags: [{ dc: 'north' }, { rack: '1' }, { dc: 'west' }] }), 'ab')
  t.equal(suitable(members, { mode: 'secondary', tags: [{ dc: 'east', rack: '2' }] }), '')
  t.equal(suitable(members, { mode: 'secondary', tags: [{ dc: 'north' }, {}] }), 'ab')
  t.equal(suitable(members, { mode: 'secondary', tags: [] }), 'ab')
  t.equal(suitable(members, { mode: 'primaryPreferred', tags: [{ dc: 'north' }] }), 'p')
  t.equal(suitable(members, { mode: 'secondaryPreferred', tags: [{ dc: 'north' }] }), 'p')
})

t.test('staleness is measured from the primary, or from the freshest secondary', async (t) => {
  const written = (lastWriteMs: number, updatedAtMs = 1_000_000) => ({ lastWriteMs, updatedAtMs })
  const limit = (mode: string) => ({ mode, maxStalenessSeconds: 90 })
  const a = member('a', 'secondary', written(920_000))
  const b = member('b', 'secondary', written(919_999))
  // 80 s behind, and 10 s between two updates.
  t.equal(suitable([member('p', 'primary', written(1_000_000)), a, b], limit('secondary')), 'a')
  t.equal(suitable([member('p', 'primary', written(1_000_000)), a, b], limit('nearest')), 'pa')
  t.equal(suitable([member('p', 'primary', written(990_000)), a, b], limit('secondary')), 'ab', 'an idle primary')
  t.equal(suitable([a, b], limit('secondary')), 'ab', 'nothing is known to be newer')
  t.equal(suitable([member('c', 'secondary', written(1_000_000)), a, b], limit('secondary')), 'ca')
  t.equal(suitable([a, b], { mode: 'secondary', maxStalenessSeconds: 0 }), 'ab')
})

t.test('members within 15 ms of the nearest suitable one are equal', async (t) => {
  const far = (pingMs: number) => ({ pingMs })
  const members = [
    member('p', 'primary', far(2)),
    member('a', 'secondary', far(10)),
    member('b', 'secondary', far(25)),
    member('c', 'secondary', far(25.5)),
  ]
  t.equal(suitable(members, { mode: 'secondary' }), 'ab')
  t.equal(suitable(members, { mode: 'nearest' }), 'pa')
})

t.test('states are shared, refreshed in the background, and dropped when they are too old', async (t) => {
  let [asked, state] = [0, 'secondary']
  const context = new FakeContext('a', {
    peers: (to) => {
      asked++
      context.nowMs += to === 's-1' ? 0 : 10
      return to === 's-3' ? undefined : { state, tags: encode({ dc: 'x', n: 1 }), lastWriteMs: 5 }
    },
  })
  const members = ['s-1', 's-2', 's-3']
  const states = new MemberStates(context)
  const [first] = await Promise.all([states.of('s', members), states.of('s', members)])
  t.equal(asked, 3)
  t.same(
    first.map(({ address, state, tags, lastWriteMs }) => [address, state, [...tags], lastWriteMs]),
    [
      ['s-1', 'secondary', [['dc', 'x']], 5],
      ['s-2', 'secondary', [['dc', 'x']], 5],
      ['s-3', null, [], 0],
    ],
  )
  await states.of('s', members)
  t.equal(asked, 3)
  state = 'primary'
  context.nowMs += 5000
  t.equal((await states.of('s', members))[0]!.state, 'secondary', 'a caller does not wait for newer states')
  t.equal((await states.of('s', members))[0]!.state, 'secondary')
  t.equal(asked, 6)
  await states.refresh('s', members)
  t.equal((await states.of('s', members))[0]!.state, 'primary')
  state = 'other'
  context.nowMs += 10_000
  t.equal((await states.of('s', members))[0]!.state, 'other')
  state = 'secondary'
  states.drop('s')
  t.equal((await states.of('s', members))[0]!.state, 'secondary')
})
