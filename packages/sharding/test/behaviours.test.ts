import { readdirSync } from 'node:fs'
import t from 'tap'
import {
  behavioursOf,
  behaviourTable,
  defaultVersion,
  emulatedVersions,
  parseEmulatedVersion,
  type Behaviours,
  type EmulatedVersion,
} from '../src/index.js'

t.test('every behaviour has a value for every version', async (t) => {
  for (const [name, row] of Object.entries(behaviourTable)) {
    t.equal(row.values[0]?.[0], emulatedVersions[0], `${name} starts with the first version`)
    const positions = row.values.map(([from]) => emulatedVersions.indexOf(from))
    t.same(
      positions,
      [...new Set(positions)].sort((a, b) => a - b),
      `${name} ascends`,
    )
    t.ok(row.about.length > 10 && row.source.length > 5, `${name} has a meaning and a source`)
    row.values.slice(1).forEach(([from, value], i) => t.not(value, row.values[i]![1], `${name} changes with ${from}`))
  }
  for (const version of emulatedVersions) {
    const column = behavioursOf(version)
    t.same(Object.keys(column).sort(), ['profile', 'language', 'releases', ...Object.keys(behaviourTable)].sort())
    t.notOk(Object.values(column).includes(undefined as never))
    t.equal(column.profile, version)
  }
})

t.test('a column has the values of its version', async (t) => {
  const expected: [EmulatedVersion, Partial<Behaviours>][] = [
    [
      '2.6',
      {
        nativeWireVersion: 2,
        missingShardKeyFieldsAreNull: false,
        compoundHashedShardKeys: false,
        shardKeySizeLimitBytes: 512,
        initialHashedChunksPerShard: 2,
        updateOneWithoutShardKey: 'exact-id-or-61',
        shardKeyValuesAreImmutable: true,
        chunksAreKeyedByUuid: false,
      },
    ],
    [
      '4.0',
      {
        nativeWireVersion: 7,
        missingShardKeyFieldsAreNull: false,
        shardCollectionReplyHasUuid: true,
        shardKeyValuesAreImmutable: true,
      },
    ],
    [
      '4.4',
      {
        nativeWireVersion: 9,
        missingShardKeyFieldsAreNull: true,
        compoundHashedShardKeys: true,
        shardKeySizeLimitBytes: null,
        updateOneWithoutShardKey: 'one-shard-or-72',
        shardKeyValuesAreImmutable: false,
        droppedCollectionsLeaveEntries: true,
        defaultChunkSizeBytes: 64 << 20,
      },
    ],
    [
      '5.0',
      {
        nativeWireVersion: 13,
        chunksAreKeyedByUuid: true,
        databasesHavePartitioned: 'as enabled',
        droppedCollectionsLeaveEntries: false,
        databasesNeedEnableSharding: true,
      },
    ],
    [
      '6.0.2',
      {
        nativeWireVersion: 17,
        serverVersion: '6.0.2',
        databasesNeedEnableSharding: false,
        defaultChunkSizeBytes: 128 << 20,
        databasesHavePartitioned: 'false',
        chunksHaveOnCurrentShardSince: false,
      },
    ],
    ['6.0', { nativeWireVersion: 17, featureCompatibilityVersion: '6.0', initialChunksOnShuffledShards: false }],
    [
      '7.0',
      {
        nativeWireVersion: 21,
        updateOneWithoutShardKey: 'one-shard-or-72',
        chunksHaveOnCurrentShardSince: true,
        configVersionRange: null,
        initialHashedChunksPerShard: 2,
        droppingMissingCollection: 'succeeds',
      },
    ],
    [
      '8.0',
      {
        nativeWireVersion: 25,
        updateOneWithoutShardKey: 'any',
        initialHashedChunksPerShard: 1,
        numInitialChunksIsIgnored: true,
      },
    ],
  ]
  for (const [version, part] of expected) t.match(behavioursOf(version), part, version)
})

t.test('versions are parsed by their names', async (t) => {
  t.equal(parseEmulatedVersion('6.0.2'), '6.0.2')
  t.equal(parseEmulatedVersion('6.1'), undefined)
  t.equal(parseEmulatedVersion(''), undefined)
  t.ok(emulatedVersions.includes(defaultVersion))
})

t.test('no two topics define the same behaviour', async (t) => {
  const sources = readdirSync(new URL('../src/behaviours/topics', import.meta.url)).filter((name) =>
    name.endsWith('.js'),
  )
  const modules = await Promise.all(
    sources.map(async (name) => (await import(`../src/behaviours/topics/${name}`)) as object),
  )
  const names = modules.flatMap((module) => Object.values(module).flatMap((rows: object) => Object.keys(rows)))
  t.strictSame([...names].sort(), Object.keys(behaviourTable).sort())
})
