/**
 * `node scripts/ci-summary.mjs FILE.tap … [--failed=N]`: counts the assertions of TAP files and
 * lists failures and skipped tests; the last line it prints is `N passed, N failed`. A file that is
 * missing or has no results counts as one failure; --failed adds failures of steps that are not tap
 * tests. Exit code 1 when anything failed.
 */
import { existsSync, readFileSync } from 'node:fs'
import { TapResults } from './lib/tap-results.mjs'

const args = process.argv.slice(2)
let passed = 0
let failed = Number(args.find((arg) => arg.startsWith('--failed='))?.slice('--failed='.length) ?? 0)

for (const path of args.filter((arg) => !arg.startsWith('--'))) {
  const results = new TapResults({
    onFailure: (failure) => console.log(`failed: ${failure.path.join(' > ')}`),
    onSkip: ({ path: titles, reason }) => console.log(`skipped: ${titles.join(' > ')}: ${reason || 'no reason'}`),
  })
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split(/\r?\n/) : []) results.line(line)
  results.end()
  const silent = results.passed + results.failed === 0
  if (silent) console.log(`failed: no results in ${path}`)
  passed += results.passed
  failed += results.failed + (silent ? 1 : 0)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
