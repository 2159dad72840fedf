/**
 * The drivers' test files under each emulated version: a share of them, with SHARDLAB_LONG=1 all.
 * SHARDLAB_SPEC_DIR names their folder; without it, the tests are skipped.
 */
import t from 'tap'
import { defaultVersion, emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { exceptions } from './exceptions.js'
import { runProfile } from './profile-run.js'
import { digestOf, readResults, resultsPath } from './results.js'
import { defaultSpecFolder, loadSpecFiles } from './spec-files.js'

const dir = defaultSpecFolder()
const skip =
  dir === null ? { skip: `no test files in ${process.env['SHARDLAB_SPEC_DIR'] ?? '../shared/conformance/spec'}` } : {}
const isLong = process.env['SHARDLAB_LONG'] === '1'
const renew = `run npm run conformance -- --all-versions --write, then npm run generate`

/**
 * The default version runs all files, each other one every 24th, each beginning at another file.
 */
const shares = 24

function isInShare(version: EmulatedVersion, position: number): boolean {
  return isLong || version === defaultVersion || (position + emulatedVersions.indexOf(version)) % shares === 0
}

for (const version of emulatedVersions) {
  t.test(`under ${version} no test fails, and the results are the recorded ones`, skip, async (t) => {
    const recorded = readResults()
    const { files, failures, totals } = await runProfile(version, {
      dir: dir!,
      includes: (_, position) => isInShare(version, position),
    })
    for (const { file, test, message } of failures) t.fail(`${file} > ${test}: ${message}`)
    for (const [path, result] of Object.entries(files)) {
      if (recorded[path] !== undefined)
        t.same(result, recorded[path].results[version], `${path}: if intended, ${renew}`)
    }
    t.ok(totals.passed > 0, `${totals.passed} passed, ${totals.skipped} skipped`)
  })
}

t.test('the recorded results are those of the present test files', skip, (t) => {
  const digests = Object.fromEntries(loadSpecFiles(dir!).map(({ path, text }) => [path, digestOf(text)]))
  const recorded = Object.fromEntries(Object.entries(readResults()).map(([path, { digest }]) => [path, digest]))
  t.strictSame(recorded, digests, `${resultsPath} fits the files; else ${renew}`)
  t.end()
})

t.test('every exception names an existing test', skip, (t) => {
  const files = new Map(
    loadSpecFiles(dir!).map(({ path, file }) => [path, file.tests.map(({ description }) => description)]),
  )
  for (const { path, tests = [] } of exceptions) {
    // The folder may hold a part of the files.
    const there = files.get(path)
    if (there === undefined) continue
    t.same(
      tests.filter((each) => !there.includes(each)),
      [],
      path,
    )
  }
  t.end()
})
