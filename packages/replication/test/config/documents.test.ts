import { CommandError, Double, EJSON, Long, ObjectId, encode } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { configDocument, parseConfig, type ReplicationRules } from '@shardlab/replication'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { memberConfig, replicaSetConfig } from '../support/random-run.js'
import { bytes, read, rulesOf, versions } from '../support/documents.js'

const id = '64b7f0aa0102030405060708'

/** As the server writes it; the order of fields and types of numbers matter. */
function serverDocument(version: (typeof versions)[number]): Uint8Array {
  const delay = version === '4.0' || version === '4.4' ? 'slaveDelay' : 'secondaryDelaySecs'
  const members = [
    {
      _id: 0,
      host: 'a.net:27017',
      arbiterOnly: false,
      buildIndexes: true,
      hidden: false,
      priority: new Double(1),
      tags: {},
      [delay]: Long.fromNumber(0),
      votes: 1,
    },
    {
      _id: 3,
      host: '[::1]:27018',
      arbiterOnly: false,
      buildIndexes: true,
      hidden: true,
      priority: new Double(0),
      tags: { 10: 'x', dc: 'east', 2: 'y' },
      [delay]: Long.fromNumber(3600),
      votes: 0,
    },
  ]
  const settings = {
    chainingAllowed: true,
    heartbeatIntervalMillis: 2000,
    heartbeatTimeoutSecs: 10,
    electionTimeoutMillis: 10_000,
    catchUpTimeoutMillis: -1,
    catchUpTakeoverDelayMillis: 30_000,
    getLastErrorModes: { east: { dc: 1 } },
    getLastErrorDefaults: { w: 1, wtimeout: 0 },
    replicaSetId: new ObjectId(id),
  }
  const protocol = { protocolVersion: Long.fromNumber(1), writeConcernMajorityJournalDefault: true }
  if (version === '4.0') return encode({ _id: 'rs', version: 7, ...protocol, members, settings })
  if (version === '4.4') return encode({ _id: 'rs', version: 7, term: 2, ...protocol, members, settings })
  return encode({ _id: 'rs', version: 7, term: 2, members, ...protocol, settings })
}

for (const version of versions) {
  t.test(`a configuration of ${version} is written as it was parsed, byte for byte`, async (t) => {
    const document = serverDocument(version)
    const { config, fault } = parseConfig(document, rulesOf(version))
    t.equal(fault, null)
    t.same(Buffer.from(configDocument(config, rulesOf(version))), Buffer.from(document))
  })

  t.test(`defaults of ${version} are written`, async (t) => {
    const rules = rulesOf(version)
    const short = bytes({
      _id: 'rs',
      version: 1,
      members: [
        { _id: 0, host: ' a ' },
        { _id: 1, host: 'b', arbiterOnly: true },
      ],
    })
    const written = configDocument(parseConfig(short, rules).config, rules)
    const document = read(written)
    t.match(document, { version: 1, protocolVersion: 1, writeConcernMajorityJournalDefault: true })
    t.match(document['members'], [
      { host: 'a:27017', priority: 1, votes: 1, hidden: false, buildIndexes: true, tags: {} },
      { host: 'b:27017', arbiterOnly: true, priority: 0 },
    ])
    t.notOk('term' in document)
    t.notOk('configsvr' in document)
    t.same(document['settings'], {
      chainingAllowed: true,
      heartbeatIntervalMillis: 2000,
      heartbeatTimeoutSecs: 10,
      electionTimeoutMillis: 10_000,
      catchUpTimeoutMillis: -1,
      catchUpTakeoverDelayMillis: 30_000,
      getLastErrorModes: {},
      getLastErrorDefaults: { w: 1, wtimeout: 0 },
    })
  })
}

/** Code and message of the error, or the late fault. */
function faultOf(rules: ReplicationRules, document: Record<string, unknown>): string | null {
  try {
    return parseConfig(bytes(document), rules).fault
  } catch (error) {
    if (error instanceof CommandError) return error.message
    throw error
  }
}

const base = { _id: 'rs', version: 1, members: [{ _id: 0, host: 'a:1' }] }
const withMember = (fields: object) => ({ ...base, members: [{ _id: 0, host: 'a:1', ...fields }] })

t.test('faults have the words of each version', async (t) => {
  const rows: readonly (readonly [document: Record<string, unknown>, until44: string, since50: string])[] = [
    [
      { ...base, x: 1 },
      'Unexpected field x in replica set configuration',
      "BSON field 'ReplSetConfig.x' is an unknown field.",
    ],
    [
      { _id: 'rs', members: [] },
      'Missing expected field "version"',
      "BSON field 'ReplSetConfig.version' is missing but a required field",
    ],
    [
      { ...base, _id: 1 },
      '"_id" had the wrong type. Expected string, found int',
      "BSON field 'ReplSetConfig._id' is the wrong type 'int', expected type 'string'",
    ],
    [
      { ...base, version: 'x' },
      'Expected field "version" to have numeric type, but found string',
      'Expected a number, got value of type string for field version',
    ],
    [
      { ...base, version: 1.5 },
      'Expected field "version" to have a value exactly representable as a 64-bit integer, but found version: 1.5',
      'Expected field "version" to have a value exactly representable as a 64-bit integer, but found version: 1.5',
    ],
    [
      { ...base, version: 0 },
      'version field value of 0 is out of range',
      "BSON field 'version' value must be > 0, actual value '0'",
    ],
    [
      withMember({ votes: 2 }),
      'votes field value is 2 but must be 0 or 1',
      `member: { _id: 0, host: "a:1", votes: 2 } :: caused by :: BSON field 'votes' value must be <= 1, actual value '2'`,
    ],
    [
      withMember({ hidden: true }),
      'priority must be 0 when hidden=true',
      'member: { _id: 0, host: "a:1", hidden: true } :: caused by :: priority must be 0 when hidden=true',
    ],
    [
      withMember({ x: 1 }),
      'BadValue: Unexpected field x in replica set member configuration for member:{ _id: 0, host: "a:1", x: 1 }',
      `member: { _id: 0, host: "a:1", x: 1 } :: caused by :: BSON field 'MemberConfig.x' is an unknown field.`,
    ],
    [
      withMember({ host: 'a:x:1' }),
      `FailedToParse: More than one ':' detected. If this is an ipv6 address, it needs to be surrounded by '[' and ']'; a:x:1 for member:{ _id: 0, host: "a:x:1" }`,
      `member: { _id: 0, host: "a:x:1" } :: caused by :: More than one ':' detected. If this is an ipv6 address, it needs to be surrounded by '[' and ']'; a:x:1`,
    ],
    [
      withMember({ tags: { dc: 1 } }),
      'TypeMismatch: tags.dc field has non-string value of type int for member:{ _id: 0, host: "a:1", tags: { dc: 1 } }',
      'member: { _id: 0, host: "a:1", tags: { dc: 1 } } :: caused by :: tags.dc field has non-string value of type int',
    ],
    [
      { ...base, settings: { electionTimeoutMillis: 0 } },
      'Invalid value in field "electionTimeoutMillis": 0: election timeout must be greater than 0',
      "BSON field 'electionTimeoutMillis' value must be > 0, actual value '0'",
    ],
    [
      { ...base, settings: { getLastErrorModes: { x: { dc: 1 } } } },
      'No replica set tag key dc in config',
      'No replica set tag key dc in config',
    ],
    [
      { ...base, settings: { getLastErrorModes: { x: 1 } } },
      'Expected settings.getLastErrorModes.x to be an Object, not int',
      'Expected getLastErrorModes.x to be an Object, not int',
    ],
  ]
  for (const [document, until44, since50] of rows) {
    for (const version of versions) {
      const expected = rulesOf(version).configIsStructure ? since50 : until44
      t.equal(faultOf(rulesOf(version), document), expected, `${version}: ${EJSON.stringify(document)}`)
    }
  }
})

t.test('the name of the delay is of the version', async (t) => {
  const delayed = { votes: 0, priority: 0 }
  for (const version of versions) {
    const rules = rulesOf(version)
    const isNew = rules.configIsStructure
    t.equal(faultOf(rules, withMember({ ...delayed, [isNew ? 'secondaryDelaySecs' : 'slaveDelay']: 5 })), null, version)
    t.match(
      faultOf(rules, withMember({ ...delayed, [isNew ? 'slaveDelay' : 'secondaryDelaySecs']: 5 })),
      /ield/,
      version,
    )
  }
})

t.test('a configuration of any content survives writing and parsing', async () => {
  const tag = fc.constantFrom('dc', 'rack', '0', '10', 'use')
  const member = fc.record({
    arbiterOnly: fc.boolean(),
    hidden: fc.boolean(),
    buildIndexes: fc.boolean(),
    priority: fc.constantFrom(0, 0.5, 1, 1000),
    delaySecs: fc.constantFrom(0, 0, 10, 31_622_400),
    votes: fc.constantFrom(0, 1),
    tags: fc.uniqueArray(
      fc.tuple(
        tag,
        fc.string({ unit: 'grapheme', maxLength: 3 }).map((s) => s.replaceAll('\0', '')),
      ),
      {
        selector: ([name]) => name,
      },
    ),
  })
  const configs = fc
    .tuple(fc.array(member, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 2_147_483_647 }), fc.boolean())
    .map(([members, version, flag]) =>
      replicaSetConfig(
        members.map(({ arbiterOnly, tags, ...fields }, i) => {
          const plain = fields.hidden || fields.delaySecs > 0 || !fields.buildIndexes || fields.votes === 0
          const priority = plain || arbiterOnly ? 0 : fields.priority
          const votes = arbiterOnly || fields.votes === 1 ? 1 : 0
          return memberConfig(i, { ...fields, arbiterOnly, tags: arbiterOnly ? [] : tags, priority, votes })
        }),
        { version, term: flag ? 3 : -1, majorityJournals: flag, configServer: !flag },
      ),
    )
  check(
    fc.property(configs, fc.constantFrom(...versions), (config, version) => {
      const rules = rulesOf(version)
      const given = rules.configTerm ? config : { ...config, term: -1 }
      const document = configDocument(given, rules)
      const parsed = parseConfig(document, rules)
      if (parsed.fault !== null) throw new Error(parsed.fault)
      const again = configDocument(parsed.config, rules)
      if (Buffer.compare(document, again) !== 0) throw new Error('the documents differ')
      if (!isDeepStrictEqual(parsed.config, given)) throw new Error('the configurations differ')
    }),
    300,
  )
})
