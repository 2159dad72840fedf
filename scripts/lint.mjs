/**
 * `npm run lint [-- --fix] [path …]`: oxlint with the rules that need types, then the format check
 * of oxfmt. `--fix` repairs what both can repair. Exit code 1 when something is left.
 */
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { main, run } from './lib/processes.mjs'
import { installedBin } from './lib/workspace.mjs'

const formatted = ['packages/**/*.ts', 'packages/*/bin/*.js', 'test/**/*.ts', 'scripts/**/*.mjs']

await main(async (args) => {
  const fix = args.includes('--fix')
  const paths = args.filter((arg) => !arg.startsWith('-'))

  await ensureInstalled()
  // The linter reads the types of other packages from their built declarations.
  await ensureBuilt()

  const lint = [
    '--type-aware',
    '--report-unused-disable-directives',
    ...(fix ? ['--fix'] : []),
    ...(paths.length > 0 ? paths : ['packages', 'test', 'scripts']),
  ]
  const lintCode = await run(process.execPath, [installedBin('oxlint'), ...lint])
  const format = [
    fix ? '--write' : '--list-different',
    '--no-error-on-unmatched-pattern',
    ...(paths.length > 0 ? paths : formatted),
  ]
  const formatCode = await run(process.execPath, [installedBin('oxfmt'), ...format])
  if (formatCode !== 0 && !fix) process.stderr.write('The files above are not formatted. Run npm run lint -- --fix\n')
  return lintCode === 0 && formatCode === 0 ? 0 : 1
})
