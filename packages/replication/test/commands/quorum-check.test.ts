import { defaultSettings, quorumFault, quorumVeto, type QuorumReply } from '@shardlab/replication'
import t from 'tap'
import { memberConfig, replicaSetConfig } from '../support/random-run.js'

const three = [memberConfig(0), memberConfig(1), memberConfig(2)]
const failed = [{ host: 'm2:1', reason: 'no route' }]

t.test('every member of a new set must respond', async (t) => {
  const config = replicaSetConfig(three)
  t.equal(quorumFault(config, 'm0:1', { responded: ['m1:1', 'm2:1'], failed: [] }), null)
  t.match(quorumFault(config, 'm0:1', { responded: ['m1:1'], failed }), {
    code: 74,
    message:
      'replSetInitiate quorum check failed because not all proposed set members responded affirmatively: m2:1 failed with no route',
  })
})

t.test('a change needs a majority of voters, and one of them electable', async (t) => {
  const config = replicaSetConfig(three, { version: 2 })
  t.equal(quorumFault(config, 'm0:1', { responded: ['m1:1'], failed }), null)
  t.match(quorumFault(config, 'm0:1', { responded: [], failed }), {
    code: 74,
    message:
      'Quorum check failed because not enough voting nodes responded; required 2 but only the following 1 voting nodes responded: m0:1; the following nodes did not respond affirmatively: m2:1 failed with no route',
  })
  const passive = replicaSetConfig([memberConfig(0, { priority: 0 }), memberConfig(1)], { version: 2 })
  t.match(quorumFault(passive, 'm0:1', { responded: [], failed }), {
    code: 74,
    message: /no electable nodes responded/,
  })
})

t.test('a member of another set or with a newer configuration prevents a change', async (t) => {
  const replicaSetId = new Uint8Array(12).fill(1)
  const config = replicaSetConfig(three, { version: 1, settings: { ...defaultSettings, replicaSetId } })
  const reply = { isOfSet: true, configVersion: -2, replicaSetId: null, hasData: false }
  const veto = (changes: Partial<QuorumReply>) => quorumVeto(config, 'm1:1', { ...reply, ...changes })
  t.equal(veto({}), null)
  t.match(veto({ isOfSet: false }), { code: 103, message: 'Our set name did not match that of m1:1' })
  t.match(veto({ configVersion: 1 }), {
    code: 103,
    message: 'Our config version of 1 is no larger than the version on m1:1, which is 1',
  })
  t.equal(veto({ replicaSetId }), null)
  t.match(veto({ hasData: true }), { code: 110, message: "'m1:1' has data already, cannot initiate set." })
  const later = replicaSetConfig(three, { version: 2 })
  t.equal(quorumVeto(later, 'm1:1', { ...reply, hasData: true }), null, 'a member that joins may have data')
  t.match(veto({ replicaSetId: new Uint8Array(12) }), {
    code: 103,
    message: /^Our replica set ID of 0101.* which is 0000/,
  })
})
