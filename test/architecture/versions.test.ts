import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findVersionComparisons } from './rules/version-comparisons.js'
import { expectNoFindings, messagesOf } from './support.js'

const comparing = (source: string, path = 'packages/mongos/src/a.ts'): string[] =>
  messagesOf(findVersionComparisons(new Repository({ [path]: source })))

t.test('canary: comparisons of the emulated version', (t) => {
  const canaries = [
    "if (options.emulate === '4.4') a()",
    "if ('6.0.2' !== version) a()",
    "switch (version) { case '8.0': a() }",
    "const a = { '5.0': 1, '6.0': 2 }",
    "if (version === '9.0') a()",
    "const a = { '10.0': 1 }",
    "if (version.startsWith('4.')) a()\nif (version.startsWith('4.4')) a()",
    "if (['4.0'].includes(a)) b()\nif (old.includes('2.6')) b()",
    'if (serverVersion >= limit) a()',
    'if (limit < host.emulate) a()',
    'emulatedVersion.localeCompare(other)',
    'if (maxWireVersion >= 9) a()',
    'const a = Math.max(oldest, host.behaviours.nativeWireVersion)',
    'return nativeWire ? native : Math.max(native, oldestWireVersionOfDrivers)',
    'const a = Math.max(host.behaviours.nativeWireVersion, b(c))',
    'if (behaviours.featureCompatibilityVersions.length === 3) a()',
    'const versions = behaviours.featureCompatibilityVersions\nif (version === versions[1]) a()',
    'const { featureCompatibilityVersions: versions } = behaviours\nconst own = versions.at(-1)',
    'if (emulatedVersions.indexOf(a) > emulatedVersions.indexOf(b)) c()',
  ]
  for (const source of canaries)
    t.match(
      comparing(source),
      [/^compares the emulated version .*: ask @shardlab\/sharding for a behaviour by name$/],
      source,
    )
  const comparison = "if (emulate === '4.4') a()"
  t.strictSame(comparing(comparison, 'packages/sharding/src/behaviours/table.ts'), [], 'the table itself')
  t.strictSame(comparing(comparison, 'packages/query/src/language/language.ts'), [], 'the table of the language')
  t.strictSame(comparing(comparison, 'packages/unique/src/driver/a.ts'), [], 'a client of any server')
  t.equal(comparing(comparison, 'packages/sharding/src/targeting/a.ts').length, 1, 'the rest of sharding')
  t.end()
})

t.test('canary: naming a version is fine', (t) => {
  const fine = [
    "const options = { emulate: '8.0' }",
    "start(port, '6.0')",
    'const a: Map<EmulatedVersion, string> = new Map()',
    'behavioursOf(options.emulate)',
    "const parts = version.split('.')",
    "if (a === '1.5' || b === '127.0.0.1') c()",
    'return nativeWire ? behaviours.nativeWireVersion : behaviours.announcedWireVersion',
    "writer.int32('maxWireVersion', maxWireVersion)",
    'emulatedVersions.includes(text)',
    'if (!behaviours.featureCompatibilityVersions.includes(text)) a()',
    'const [oldest, ...newer] = behaviours.featureCompatibilityVersions',
  ]
  for (const source of fine) t.strictSame(comparing(source), [], source)
  t.end()
})

t.test('only the table of behaviours compares emulated versions', (t) => {
  expectNoFindings(t, findVersionComparisons(readRepository()), 'no comparison outside the table')
  t.end()
})
