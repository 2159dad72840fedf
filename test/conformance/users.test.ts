/**
 * The drivers' test files on clusters with access control, where all clients are logged in: the
 * results are those of clusters without. `npm run conformance -- --auth` runs all files.
 */
import t from 'tap'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { runProfile } from './profile-run.js'
import { readResults } from './results.js'
import { defaultSpecFolder, loadSpecFiles, type SpecFile } from './spec-files.js'

const dir = defaultSpecFolder()
const skip =
  dir === null ? { skip: `no test files in ${process.env['SHARDLAB_SPEC_DIR'] ?? '../shared/conformance/spec'}` } : {}
const isLong = process.env['SHARDLAB_LONG'] === '1'
const shares = 8

const requiresUsers = ({ runOnRequirements = [], tests }: SpecFile): boolean =>
  [...runOnRequirements, ...tests.flatMap((each) => each.runOnRequirements ?? [])].some(
    ({ auth, authMechanism }) => auth !== undefined || authMechanism !== undefined,
  )

/** Files that need users, or must not have them, run always; others one of eight. */
function isInShare(version: EmulatedVersion, position: number, always: boolean): boolean {
  return isLong || always || (position + emulatedVersions.indexOf(version)) % shares === 0
}

for (const version of isLong ? emulatedVersions : (['8.0'] as const))
  t.test(`under ${version} tests of clients with users have the results of those without`, skip, async (t) => {
    const recorded = readResults()
    const special = new Set(loadSpecFiles(dir!).flatMap(({ path, file }) => (requiresUsers(file) ? [path] : [])))
    const { files, failures } = await runProfile(version, {
      dir: dir!,
      auth: true,
      includes: (path, position) => isInShare(version, position, special.has(path)),
    })
    for (const { file, test, message } of failures) t.fail(`${file} > ${test}: ${message}`)
    for (const [path, result] of Object.entries(files))
      if (!special.has(path) && recorded[path] !== undefined) t.same(result, recorded[path].results[version], path)
    t.ok(
      Object.values(files).some(({ passed = 0 }) => passed > 0),
      'some tests passed',
    )
  })
