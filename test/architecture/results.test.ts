import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { findRoot } from './model/repository.js'

interface Results {
  passed: number
  failed: number
  skipped: number
  line(line: string): void
  end(): void
}
interface Skipped {
  path: string[]
  reason: string
}
interface Failure {
  path: string[]
  diagnostics: string[]
}

// Plain JavaScript: it must run before anything is installed or built.
const { TapResults } = (await import(pathToFileURL(join(findRoot(), 'scripts/lib/tap-results.mjs')).href)) as {
  TapResults: new (listeners: { onFailure(failure: Failure): void; onSkip?(skipped: Skipped): void }) => Results
}

function count(
  tap: string,
): readonly [counts: readonly [passed: number, failed: number, skipped: number], failures: readonly Failure[]] {
  const failures: Failure[] = []
  const results = new TapResults({ onFailure: (failure) => failures.push(failure) })
  for (const line of tap.split('\n')) results.line(line)
  results.end()
  return [[results.passed, results.failed, results.skipped], failures]
}

t.test('CI counts assertions', (t) => {
  const [counts, failures] = count(`TAP version 14
1..2
# Subtest: a.test.js
    # Subtest: one
        ok 1 - should be equal
        not ok 2 - should match
          ---
          diff: |
            not ok 9 - this is no result
          ...
        ok 3 - later # TODO
        not ok 4 - elsewhere # SKIP
        1..4
    not ok 1 - one # time=1ms
    1..1
not ok 1 - a.test.js # time=2ms

# Subtest: b.test.js
    ok 1 - (unnamed test)
    1..1
ok 2 - b.test.js # time=3ms
# { total: 5 }`)
  t.strictSame(counts, [2, 1, 2])
  t.strictSame(failures, [
    { path: ['a.test.js', 'one', 'should match'], diagnostics: ['diff: |', '  not ok 9 - this is no result'] },
  ])
  t.end()
})

t.test('skipped tests are listed with their reasons', (t) => {
  const skipped: Skipped[] = []
  const results = new TapResults({ onFailure() {}, onSkip: (each) => skipped.push(each) })
  const tap = `# Subtest: a.test.js
    ok 1 - the shell # SKIP mongosh is not installed
    # Subtest: two
        ok 1 - fine
        ok 2 - skipped: no php # SKIP php is not installed # time=1ms
        1..2
    ok 2 - two # time=1ms
    1..2
ok 1 - a.test.js # time=2ms`
  for (const line of tap.split('\n')) results.line(line)
  results.end()
  t.strictSame(skipped, [
    { path: ['a.test.js', 'the shell'], reason: 'mongosh is not installed' },
    { path: ['a.test.js', 'two', 'skipped: no php'], reason: 'php is not installed' },
  ])
  t.strictSame([results.passed, results.skipped], [1, 2])
  t.end()
})

t.test('a file that fails although its assertions passed is a failure', (t) => {
  const [counts, failures] = count(`# Subtest: a.test.js
    ok 1 - fine
    1..1
not ok 1 - a.test.js # time=9ms
  ---
  signal: SIGTERM
  ...
# Subtest: b.test.js
    1..0 # no tests found
not ok 2 - b.test.js # time=9ms
`)
  t.strictSame(counts, [1, 2, 0])
  t.strictSame(
    failures.map((failure) => failure.path),
    [['a.test.js'], ['b.test.js']],
  )
  t.end()
})
