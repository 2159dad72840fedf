import t from 'tap'
import { LiveState, type Delta, type LiveMember } from '../src/index.js'
import { lossesOf, problemsOf } from '../src/page/problems.js'

const member = (address: string, role: string, state: LiveMember['state'], set = address): Delta => ({
  type: 'member',
  member: { address, set, role, state, setState: null, endpoint: `127.0.0.1:1`, machine: null },
})

function stateWith(...deltas: Delta[]): LiveState {
  const state = new LiveState()
  const cluster = { id: 'a', uri: 'mongodb://h/', topology: 'sharded', emulate: '7.0', clock: 'real' } as const
  for (const delta of [
    { type: 'snapshot', cluster, recordedSinceMs: 0 } as const,
    ...deltas,
    { type: 'ready' } as const,
  ])
    state.apply(delta)
  return state
}

const fault = (verb: string, target: string): Delta => ({
  type: 'faults',
  faults: [
    { id: 'f1', fault: `${verb} ${target}`, verb, state: 'active', members: [target], beginsAtMs: 0, healsAtMs: null },
  ],
})

t.test('a broken member is one problem, with what follows from it', async (t) => {
  const lost: Delta = { type: 'catalog', catalog: { readAtMs: 1, error: 'the config server is down' } }
  t.same(problemsOf(stateWith(member('config', 'config-server', 'crashed'), fault('destroy', 'config'), lost)), [
    'config has crashed, and its disk is lost.',
  ])
  t.same(problemsOf(stateWith(member('config', 'config-server', 'crashed'), fault('crash', 'config'), lost)), [
    'config has crashed.',
  ])
  t.same(problemsOf(stateWith(member('config', 'config-server', 'running'), lost)), [
    'The catalog cannot be read: the config server is down.',
  ])
  t.same(problemsOf(stateWith(member('shard01', 'shard', 'running'), fault('pause', 'shard01'))), [
    'Fault: pause shard01.',
  ])
})

t.test('the loss of a destroyed disk remains after the heal, unless other members have the data', async (t) => {
  const event = (given: object): Delta => ({
    type: 'event',
    event: given as Extract<Delta, { type: 'event' }>['event'],
  })
  const destroyed = (address: string): Delta[] => [
    event({ type: 'fault-applied', atMs: 1, id: 'f1', fault: `destroy ${address}`, members: [address] }),
    event({ type: 'member', atMs: 2, member: address, state: 'crashed' }),
    event({ type: 'member', atMs: 1000, member: address, state: 'started' }),
  ]
  const sentence = 'shard01 started at 00:00:01.000 with an empty disk: its data are gone.'
  t.same(lossesOf(stateWith(member('shard01', 'shard', 'running'), ...destroyed('shard01'))), [sentence])
  t.same(lossesOf(stateWith(member('shard01-1', 'shard', 'running', 'shard01'), ...destroyed('shard01-1'))), [])
  t.same(lossesOf(stateWith(member('mongos01', 'mongos', 'running'), ...destroyed('mongos01'))), [])
  t.same(lossesOf(stateWith(member('shard01', 'shard', 'crashed'), ...destroyed('shard01').slice(0, 2))), [])
})
