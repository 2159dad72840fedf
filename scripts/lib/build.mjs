import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { capture, progress, ScriptError } from './processes.mjs'
import { installedBin, root, workspaceFolders } from './workspace.mjs'

const stampPath = join(root, 'node_modules', '.cache', 'shardlab', 'built')
const rootInputs = ['package.json', 'package-lock.json', 'tsconfig.base.json', 'tsconfig.json', 'turbo.json']

const quietTurbo = { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }

/** The newest modification below a folder. Folders count too, so that a deleted file is noticed. */
function newestMtimeMs(folder) {
  let newest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'dist' || entry.name === 'node_modules' || entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    newest = Math.max(newest, statSync(path).mtimeMs, entry.isDirectory() ? newestMtimeMs(path) : 0)
  }
  return newest
}

function isBuilt(folders) {
  if (!existsSync(stampPath)) return false
  const builtMs = statSync(stampPath).mtimeMs
  if (rootInputs.some((file) => existsSync(join(root, file)) && statSync(join(root, file)).mtimeMs > builtMs))
    return false
  return folders.every(
    (folder) => existsSync(join(root, folder, 'dist', '.tsbuildinfo')) && newestMtimeMs(join(root, folder)) <= builtMs,
  )
}

/**
 * Builds every workspace with turbo, or with `tsc -b` where turbo cannot run; does nothing when no
 * source is newer than the last build that succeeded.
 */
export async function ensureBuilt() {
  const folders = workspaceFolders()
  if (isBuilt(folders)) return
  progress('building')
  const startedAt = new Date()
  const turbo = installedBin('turbo')
  const build =
    turbo === null
      ? null
      : await capture(process.execPath, [turbo, 'run', 'build', '--output-logs=errors-only'], quietTurbo)
  if (build?.code !== 0) {
    // Either turbo does not run on this machine or the sources do not compile; tsc finds out which.
    const tsc = installedBin('typescript', 'tsc')
    if (tsc === null) throw new ScriptError('TypeScript is not installed: run npm install')
    const compile = await capture(process.execPath, [tsc, '-b', ...folders])
    if (compile.code !== 0) {
      process.stderr.write(compile.output)
      throw new ScriptError('the build failed (the compiler output is above)')
    }
    for (const name of ['cluster', 'shardlab']) {
      const folder = join(root, 'packages', name)
      const bundle = await capture(process.execPath, [join(folder, 'scripts', 'bundle.mjs')], {}, folder)
      if (bundle.code === 0) continue
      process.stderr.write(bundle.output)
      throw new ScriptError(`bundling the program of ${name} failed (the output is above)`)
    }
    progress('turbo did not run here; built with tsc -b')
  }
  mkdirSync(join(stampPath, '..'), { recursive: true })
  // A copy of the folder may share the file by a hard link: make a new one.
  rmSync(stampPath, { force: true })
  writeFileSync(stampPath, '')
  // The start of the build, so that a source that changed during the build counts as newer.
  utimesSync(stampPath, startedAt, startedAt)
}
