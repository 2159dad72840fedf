import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, progress, ScriptError } from './processes.mjs'
import { installedBin, root } from './workspace.mjs'

const lockPath = join(root, 'package-lock.json')
const hiddenLockPath = join(root, 'node_modules', '.package-lock.json')
const stampPath = join(root, 'node_modules', '.cache', 'shardlab', 'installed')

const lockHash = () =>
  existsSync(lockPath) ? createHash('sha256').update(readFileSync(lockPath)).digest('hex') : 'no lock'

function isInstalled() {
  if (!existsSync(hiddenLockPath)) return false
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === lockHash()) return true
  // Installed by hand: npm rewrites its hidden lock file at every install.
  return !existsSync(lockPath) || statSync(hiddenLockPath).mtimeMs >= statSync(lockPath).mtimeMs
}

/**
 * Installs the dependencies when node_modules is missing or older than package-lock.json. Uses
 * `npm ci`. Where a registry lacks packages that only other platforms need, `npm ci` fails because
 * it considers the lock file incomplete; then `npm install` is used, without changing the lock
 * file.
 */
export async function ensureInstalled() {
  if (isInstalled()) return
  progress('installing dependencies (first run, or package-lock.json changed)')
  const flags = ['--no-audit', '--no-fund', '--loglevel=error']
  const clean = await capture('npm', ['ci', ...flags])
  if (clean.code !== 0) {
    const install = await capture('npm', ['install', '--no-save', ...flags])
    if (install.code !== 0) {
      process.stderr.write(clean.output + install.output)
      throw new ScriptError('npm could not install the dependencies (its output is above)')
    }
  }
  mkdirSync(join(stampPath, '..'), { recursive: true })
  writeFileSync(stampPath, lockHash())
}

/**
 * Builds tap's plugin set if it still contains @tapjs/typescript, which .taprc excludes because it
 * does not run with TypeScript 7. Tap rebuilds the set itself, but only after loading the old one,
 * which fails.
 */
export async function ensureTapBuilt() {
  const built = join(root, 'node_modules', '@tapjs', 'test', 'test-built', 'dist', 'esm', 'index.js')
  if (existsSync(built) && !/^(export const signature = `)?@tapjs\/typescript$/m.test(readFileSync(built, 'utf8')))
    return
  const tap = installedBin('tap')
  if (tap === null) throw new ScriptError('tap is not installed: run npm install')
  progress("building tap's plugin set")
  const result = await capture(process.execPath, [tap, 'build'])
  if (result.code !== 0) {
    process.stderr.write(result.output)
    throw new ScriptError('tap build failed (its output is above)')
  }
}
