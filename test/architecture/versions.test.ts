import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findVersionComparisons } from './rules/version-comparisons.js'
import { expectNoFindings, messagesOf } from './support.js'

const comparing = (source: string, folder = 'mongos'): string[] =>
  messagesOf(findVersionComparisons(new Repository({ [`packages/${folder}/src/a.ts`]: source })))

t.test('canary: comparisons of the emulated version', (t) => {
  const canaries = [
    "if (options.emulate === '4.4') a()",
    "if ('6.0.2' !== version) a()",
    "switch (version) { case '8.0': a() }",
    "const a = { '5.0': 1, '6.0': 2 }",
    "if (version.startsWith('4.')) a()\nif (version.startsWith('4.4')) a()",
    "if (['4.0'].includes(a)) b()\nif (old.includes('2.6')) b()",
    'if (serverVersion >= limit) a()',
    'if (limit < host.emulate) a()',
    'emulatedVersion.localeCompare(other)',
  ]
  for (const source of canaries)
    t.match(
      comparing(source),
      [/^compares the emulated version .*: ask @shardlab\/sharding for a behaviour by name$/],
      source,
    )
  t.strictSame(comparing("if (emulate === '4.4') a()", 'sharding'), [], 'the table itself is in sharding')
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
    'if (maxWireVersion < 13) a()',
    'emulatedVersions.includes(text)',
  ]
  for (const source of fine) t.strictSame(comparing(source), [], source)
  t.end()
})

t.test('only sharding compares emulated versions', (t) => {
  expectNoFindings(t, findVersionComparisons(readRepository()), 'no comparison outside sharding')
  t.end()
})
