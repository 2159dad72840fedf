/**
 * `npm run release -- --dry-run`: builds the tarballs of the published packages, `shardlab`,
 * `@shardlab/unique` and `@shardlab/testing`, in `release/`; without `--dry-run`, publishes them,
 * too.
 *
 *   --out=FOLDER    instead of release/
 *   --only=NAME     one package: `shardlab`, `unique` or `testing`
 *
 * Prints the path of each tarball. docs/decisions/0025 explains the form of the packages.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { main, run, ScriptError } from './lib/processes.mjs'
import { root } from './lib/workspace.mjs'

await main(async (args) => {
  const unknown = args.find((arg) => !/^--(dry-run|out=.+|only=(shardlab|unique|testing))$/.test(arg))
  if (unknown !== undefined)
    throw new ScriptError(
      `unknown option ${unknown}: use --dry-run, --out=FOLDER, --only=shardlab, --only=unique or --only=testing`,
      2,
    )
  const valueOf = (option) => args.find((arg) => arg.startsWith(`${option}=`))?.slice(option.length + 1)
  const out = valueOf('--out')
  const only = valueOf('--only')
  const folder = out === undefined ? join(root, 'release') : resolve(out)
  await ensureInstalled()
  // It needs what has just been installed.
  const { packShardlab, packTesting, packUnique } = await import('./lib/release/packages.mjs')
  await ensureBuilt()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const tarballs = []
  const packers = { shardlab: packShardlab, unique: packUnique, testing: packTesting }
  for (const [name, packer] of Object.entries(packers))
    if (only === undefined || only === name) tarballs.push(await packer(folder))
  for (const tarball of tarballs) console.log(tarball)
  if (args.includes('--dry-run')) return 0
  for (const tarball of tarballs) {
    const code = await run('npm', ['publish', tarball, '--access', 'public'])
    if (code !== 0) return code
  }
  return 0
})
