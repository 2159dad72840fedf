import { CommandError, emptyDocument, ObjectId } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import {
  configDocument,
  isVoter,
  reconfigFault,
  ReplicationCoordinator,
  type MemberConfig,
  type ReconfigOptions,
  type ReplicaSetConfig,
} from '@shardlab/replication'
import fc from 'fast-check'
import t from 'tap'
import { at, LoneMember, secondaryReply } from '../support/member.js'
import { bytes, read, rulesOf, versions } from '../support/documents.js'
import { memberConfig, replicaSetConfig } from '../support/random-run.js'

type Version = (typeof versions)[number]

const setId = new Uint8Array(12).fill(7)

const initiateWith = (version: Version, document: Uint8Array, isConfigServer = false) => {
  const coordinator = new ReplicationCoordinator({
    setName: 'rs',
    selfHost: 'm0:1',
    rules: rulesOf(version),
    random: () => 0,
    clusterTime: () => [1, 1],
  })
  return coordinator.commands.initiate(1000, document, { isConfigServer, replicaSetId: setId })
}

const textOf = (result: ReplicaSetConfig | CommandError): string =>
  result instanceof CommandError ? `${result.code} ${result.message}` : 'ok'

const one = { _id: 'rs', members: [{ _id: 0, host: 'm0:1' }] }

t.test('an empty document initiates a set of this member alone', async (t) => {
  for (const version of versions) {
    const config = initiateWith(version, emptyDocument) as ReplicaSetConfig
    const document = read(configDocument(config, rulesOf(version)))
    t.match(document, { _id: 'rs', version: 1, members: [{ _id: 0, host: 'm0:1' }] }, version)
    t.equal(document['term'], rulesOf(version).configTerm ? 0 : undefined, version)
    t.same(document['settings'].replicaSetId, new ObjectId(Buffer.from(setId)), version)
  }
})

t.test('a config server initiates a set of config servers', async (t) => {
  t.ok((initiateWith('7.0', bytes(one), true) as ReplicaSetConfig).configServer)
  t.equal(
    textOf(initiateWith('7.0', bytes({ ...one, configsvr: true }))),
    '93 Nodes being used for config servers must be started with the --configsvr flag',
  )
  t.equal(
    textOf(initiateWith('7.0', bytes({ ...one, configsvr: false }), true)),
    '93 Nodes started with the --configsvr flag must have configsvr:true in their config',
  )
})

t.test('initiation refuses with the words of each version', async (t) => {
  const member = (i: number, fields: object = {}) => ({ _id: i, host: `m${i}:1`, ...fields })
  const members = (count: number, fields: object = {}) => Array.from({ length: count }, (_, i) => member(i, fields))
  const rows: readonly (readonly [document: Record<string, unknown>, old: string, since44: string])[] = [
    [
      { ...one, _id: 'x' },
      'Attempting to initiate a replica set with name x, but command line reports rs; rejecting',
      'Rejecting initiate with a set name that differs from command line set name, initiate set name: x, command line set name: rs',
    ],
    [
      { ...one, members: [member(1)] },
      'No host described in new configuration 1 for replica set rs maps to this node',
      'No host described in new configuration with {version: 1, term: 0} for replica set rs maps to this node',
    ],
    [
      { ...one, members: [member(0, { priority: 0 }), member(1)] },
      'This node, m0:1, with _id 0 is not electable under the new configuration version 1 for replica set rs',
      'This node, m0:1, with _id MemberId(0) is not electable under the new configuration with {version: 1, term: 0} for replica set rs',
    ],
    [
      { ...one, members: [member(0), { ...member(1), _id: 0 }] },
      'Found two member configurations with same _id field, members.0._id == members.1._id == 0',
      'Found two member configurations with same _id field, members.0._id == members.1._id == MemberId(0)',
    ],
    [
      { ...one, version: 2 },
      'Configuration used to initiate a replica set must  have version 1, but found 2',
      'Configuration used to initiate a replica set must  have version 1, but found 2',
    ],
  ]
  for (const [document, old, since44] of rows) {
    for (const version of versions) {
      t.equal(
        textOf(initiateWith(version, bytes(document))),
        `93 ${rulesOf(version).configTerm ? since44 : old}`,
        version,
      )
    }
  }
  const same: readonly (readonly [document: Record<string, unknown>, text: string])[] = [
    [
      { ...one, members: members(51) },
      'Replica set configuration contains 51 members, but must have at least 1 and no more than  50',
    ],
    [
      { ...one, members: members(8) },
      'Replica set configuration contains 8 voting members, but must be at least 1 and no more than 7',
    ],
    [
      { ...one, members: members(2, { priority: 0 }) },
      'Replica set configuration must contain at least one non-arbiter member with priority > 0',
    ],
    [
      { ...one, members: [member(0), { _id: 1, host: 'localhost:1' }] },
      'Either all host names in a replica set configuration must be localhost references, or none must be; found 1 out of 2',
    ],
    [
      { ...one, members: [member(0), member(1, { arbiterOnly: true, priority: 2 })] },
      'Member m1:1 is an arbiter but has priority 2. Arbiter priority must be 0.',
    ],
  ]
  for (const [document, text] of same) {
    for (const version of versions) t.equal(textOf(initiateWith(version, bytes(document))), `93 ${text}`, version)
  }
})

/** A primary of three whose configuration is committed. */
function primary(version: Version, config = three(version)): LoneMember {
  const member = new LoneMember(config, 0, rulesOf(version))
  member.becomePrimary()
  const { coordinator } = member
  const { config: installed } = coordinator.state
  const reply = secondaryReply({
    term: 1,
    config: { version: installed!.version, term: installed!.term },
    applied: at(1, 1),
    durable: at(1, 1),
  })
  member.advanceTo(member.nowMs + 3000, () => reply)
  return member
}

const three = (version: Version) =>
  replicaSetConfig([memberConfig(0), memberConfig(1), memberConfig(2)], {
    term: rulesOf(version).configTerm ? 0 : -1,
    settings: { ...replicaSetConfig([]).settings, replicaSetId: setId },
  })

const options: ReconfigOptions = { force: false, isConfigServer: false, sharding: 'none', defaultWriteConcern: null }

const changed = (member: LoneMember, changes: Partial<ReplicaSetConfig>): Uint8Array => {
  const config = member.coordinator.state.config!
  return configDocument({ ...config, version: config.version + 1, ...changes }, member.coordinator.state.rules)
}

const reconfigure = (member: LoneMember, changes: Partial<ReplicaSetConfig>, given: Partial<ReconfigOptions> = {}) =>
  member.coordinator.commands.reconfigure(member.nowMs, changed(member, changes), { ...options, ...given })

t.test('a reconfiguration has the term of the primary, and new voters sync first since 5.0', async (t) => {
  for (const version of versions) {
    const member = primary(version)
    const { members } = member.coordinator.state.config!
    const next = reconfigure(member, { members: [...members, memberConfig(3)] }) as ReplicaSetConfig
    t.equal(next.version, 2, version)
    t.equal(next.term, rulesOf(version).configTerm ? 1 : -1, version)
    t.equal(next.members[3]!.newlyAdded, rulesOf(version).newVotersSyncFirst, version)
    t.same(next.settings.replicaSetId, setId, version)
  }
})

t.test('a reconfiguration refuses with the code and words of each version', async (t) => {
  for (const version of versions) {
    const rules = rulesOf(version)
    const member = primary(version)
    const { members } = member.coordinator.state.config!
    const refused = (changes: Partial<ReplicaSetConfig>, given?: Partial<ReconfigOptions>) =>
      textOf(reconfigure(member, changes, given))
    t.equal(
      refused({ version: 1 }),
      rules.configTerm
        ? '103 New replica set configuration version and term must be greater than old, but {version: 1, term: 1} is not greater than {version: 1, term: 1} for replica set rs'
        : '103 New replica set configuration version must be greater than old, but 1 is not greater than 1 for replica set rs',
      version,
    )
    t.equal(
      refused({ members: members.slice(0, 1) }),
      rules.safeReconfig ? '103 Non force replica set reconfig can only add or remove at most 1 voting member.' : 'ok',
      version,
    )
    t.equal(
      refused({ members: [...members, memberConfig(3), memberConfig(4)] }),
      rules.safeReconfig && !rules.newVotersSyncFirst
        ? '103 Non force replica set reconfig can only add or remove at most 1 voting member.'
        : 'ok',
      `${version}: newly added members have no vote yet`,
    )
    t.match(refused({ name: 'x' }), /^93 .*x/, version)
    t.equal(
      refused({ members: members.slice(1) }),
      rules.safeReconfig
        ? '74 No host described in new configuration with {version: 2, term: 1} for replica set rs maps to this node'
        : '103 No host described in new configuration 2 for replica set rs maps to this node',
      version,
    )
    t.match(
      refused({ members: [memberConfig(0, { priority: 0 }), ...members.slice(1)] }),
      rules.safeReconfig ? /^104 This node, m0:1/ : /^103 This node, m0:1/,
      version,
    )
    t.match(refused({ members: [...members.slice(0, 2), memberConfig(5, { host: 'm2:1' })] }), /^103 .* host of m2:1/)
    t.match(
      refused({ members: [...members.slice(0, 2), memberConfig(2, { arbiterOnly: true, priority: 0 })] }),
      rules.implicitMajorityWriteConcern ? /^103 .*implicit default write concern/ : /^103 .*arbiterOnly field/,
    )
    t.match(
      refused(
        { members: [...members.slice(0, 2), memberConfig(2, { arbiterOnly: true, priority: 0 })] },
        { defaultWriteConcern: { w: 1 } },
      ),
      /^103 .*arbiterOnly field/,
    )
    const custom = {
      ...member.coordinator.state.config!.settings,
      defaultWriteConcern: { w: 2, wtimeout: 0, sync: null },
    }
    t.match(refused({ settings: custom }), rules.getLastErrorDefaultsAreFixed ? /^5624102 Failed to reconfig/ : 'ok')
  }
})

t.test('a secondary refuses, unless forced; a forced configuration has no term and a large version', async (t) => {
  for (const version of versions) {
    const rules = rulesOf(version)
    const member = new LoneMember(three(version), 0, rules)
    t.equal(
      textOf(reconfigure(member, {})),
      rules.safeReconfig
        ? '10107 Safe reconfig is only allowed on a writable PRIMARY. Current state is SECONDARY'
        : '10107 replSetReconfig should only be run on PRIMARY, but my state is SECONDARY; use the "force" argument to override',
      version,
    )
    const forced = reconfigure(member, {}, { force: true }) as ReplicaSetConfig
    t.equal(forced.version, 10_002, version)
    t.equal(forced.term, -1, version)
  }
  const waiting = new LoneMember(three('7.0'), 0, rulesOf('7.0'))
  t.equal(
    waiting.coordinator.commands.reconfigWaitFault()?.message,
    'New config is rejected :: caused by :: replSetReconfig should only be run on a writable PRIMARY. Current state SECONDARY;',
  )
})

t.test('a configuration that is not on a majority may not be left', async (t) => {
  const member = new LoneMember(three('7.0'), 0, rulesOf('7.0'))
  member.becomePrimary()
  t.equal(
    textOf(reconfigure(member, {})),
    '308 Cannot run replSetReconfig because the current config: {version: 1, term: 1} is not majority committed.',
  )
  t.equal(
    member.coordinator.commands.commitmentTimeout('before').message,
    'New config is rejected :: caused by :: Current config with {version: 1, term: 1} has not yet propagated to a majority of nodes :: caused by :: operation exceeded time limit',
  )
})

t.test('from one writable voter, a secondary that can be elected is refused in a set with an arbiter', async (t) => {
  const arbiter = memberConfig(2, { arbiterOnly: true, priority: 0 })
  const from = replicaSetConfig([memberConfig(0), memberConfig(1, { votes: 0, priority: 0 }), arbiter])
  const to = (priority: number) =>
    replicaSetConfig([memberConfig(0), memberConfig(1, { priority }), arbiter], { version: 2 })
  for (const version of versions) {
    const checker = { rules: rulesOf(version), selfHost: 'm0:1', isConfigServer: false }
    const isChecked = checker.rules.psaReconfigIsChecked
    t.match(reconfigFault(from, to(1), false, checker) ?? 'ok', isChecked ? /PSA topology/ : 'ok', version)
    t.equal(reconfigFault(from, to(0), false, checker), null, version)
  }
})

/** Every majority of one configuration has a member in every majority of the other one. */
function overlaps(a: ReplicaSetConfig, b: ReplicaSetConfig): boolean {
  const voters = (config: ReplicaSetConfig) => config.members.filter(isVoter).map(({ id }) => id)
  const majorities = (ids: readonly number[]): ReadonlySet<number>[] =>
    Array.from({ length: 2 ** ids.length }, (_, mask) => new Set(ids.filter((_id, i) => (mask >> i) & 1))).filter(
      (set) => set.size > ids.length / 2,
    )
  const others = majorities(voters(b))
  return majorities(voters(a)).every((own) => others.every((other) => [...own].some((id) => other.has(id))))
}

t.test('quorums of two consecutive configurations overlap', async () => {
  const kinds = fc.array(fc.constantFrom('none', 'voter', 'plain', 'arbiter'), { minLength: 6, maxLength: 6 })
  const configOf = (list: readonly string[], version: number) => {
    const members = list.flatMap((kind, i): MemberConfig[] => {
      if (kind === 'arbiter') return [memberConfig(i + 1, { arbiterOnly: true, priority: 0 })]
      if (kind === 'none') return []
      return [memberConfig(i + 1, kind === 'voter' ? {} : { votes: 0, priority: 0 })]
    })
    return replicaSetConfig([memberConfig(0), ...members], { version })
  }
  let accepted = 0
  check(
    fc.property(kinds, kinds, fc.constantFrom(...versions.slice(1)), (from, to, version) => {
      const [current, next] = [configOf(from, 1), configOf(to, 2)]
      const checker = { rules: rulesOf(version), selfHost: 'm0:1', isConfigServer: false }
      if (reconfigFault(current, next, false, checker) !== null) return
      accepted++
      if (!overlaps(current, next)) throw new Error('two majorities have no common member')
    }),
  )
  t.ok(accepted > 0, `${accepted} changes were accepted`)
})

t.test('the implicit write concern of a shard in a cluster may not become w: 1', async (t) => {
  const arbiter = memberConfig(3, { arbiterOnly: true, priority: 0 })
  const four = { ...three('7.0'), members: [...three('7.0').members.slice(0, 2), arbiter] }
  for (const [sharding, expected] of [
    ['none', /^103 .*change the implicit default write concern\. /],
    ['shard', /^ok$/],
    ['in-cluster', /^103 .*write concern on the shard to \{w: 1\}/],
  ] as const) {
    const two = { ...three('7.0'), members: three('7.0').members.slice(0, 2) }
    t.match(textOf(reconfigure(primary('7.0', two), { members: [...two.members, arbiter] }, { sharding })), expected)
    // The other direction is safe for a cluster.
    const other = textOf(reconfigure(primary('7.0', four), { members: four.members.slice(0, 2) }, { sharding }))
    t.match(other, sharding === 'none' ? expected : /^ok$/)
  }
})

t.test('a mode that is the default write concern stays in the configuration', async (t) => {
  const tagged = three('7.0').members.map((member) => ({ ...member, tags: [['dc', 'east']] as const }))
  const settings = { ...three('7.0').settings, modes: [['east', [['dc', 1]]]] as const }
  const member = primary('7.0', { ...three('7.0'), members: tagged, settings })
  const given = { defaultWriteConcern: { w: 'east' } }
  t.equal(textOf(reconfigure(member, {}, given)), 'ok')
  t.match(
    textOf(reconfigure(member, { settings: { ...settings, modes: [] } }, given)),
    /^103 May not remove custom write/,
  )
})

t.test('a new voter counts after its initial sync, by a configuration of its own', async (t) => {
  const member = primary('7.0')
  const { coordinator } = member
  const { members } = coordinator.state.config!
  coordinator.changeConfig(
    member.nowMs,
    reconfigure(member, { members: [...members, memberConfig(3)] }) as ReplicaSetConfig,
  )
  coordinator.configStored(member.nowMs)
  const reply = (version: number) => (host: string) =>
    secondaryReply({
      state: host === 'm3:1' ? 'STARTUP2' : 'SECONDARY',
      term: 1,
      config: { version, term: 1 },
      applied: at(1, 1),
      durable: at(1, 1),
    })
  member.effects = []
  member.advanceTo(member.nowMs + 3000, reply(2))
  t.equal(member.of('count-new-member').length, 0)
  member.advanceTo(member.nowMs + 3000, () => reply(1)('m1:1'))
  t.equal(member.of('count-new-member')[0]!.memberId, 3)
  t.equal(coordinator.countedMember(member.nowMs, 3), null, 'the configuration before it is not on a majority')
  member.advanceTo(member.nowMs + 3000, () => reply(2)('m1:1'))
  const next = coordinator.countedMember(member.nowMs, 3)!
  t.equal(next.version, 3)
  t.notOk(next.members[3]!.newlyAdded)
  t.equal(coordinator.countedMember(member.nowMs, 1), null)
})

t.test('a configuration by command ends an election of this member', async (t) => {
  const member = new LoneMember(three('7.0'), 0, rulesOf('7.0'))
  const { coordinator } = member
  member.advanceTo(member.nowMs, () => secondaryReply())
  coordinator.stepUp(member.nowMs, 'stepUpRequestSkipDryRun')
  member.take()
  const [stored] = member.of('store-vote')
  coordinator.changeConfig(member.nowMs, reconfigure(member, {}, { force: true }) as ReplicaSetConfig)
  t.notOk(coordinator.isCandidate)
  coordinator.voteStored(member.nowMs, stored!.vote.term)
  coordinator.configStored(member.nowMs)
  member.take()
  t.equal(member.of('request-vote').length, 0)
  t.equal(coordinator.memberState, 'SECONDARY')
})

t.test('a new primary gives its term to a configuration, but not to a forced one', async (t) => {
  for (const term of [0, -1]) {
    const member = new LoneMember({ ...three('7.0'), term }, 0, rulesOf('7.0'))
    member.becomePrimary()
    t.equal(member.coordinator.state.config!.term, term === 0 ? 1 : -1)
    t.ok(member.coordinator.isWritablePrimary)
  }
})
