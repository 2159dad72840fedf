import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { ScriptError } from './processes.mjs'
import { root } from './workspace.mjs'

const orphanCheckMs = 500

/**
 * Ends the program with its parent. npm sends signals only to the shell that it starts: where that
 * shell is dash, ending `npm start` would leave the program running.
 */
function endWithParent() {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
  }, orphanCheckMs).unref()
}

/**
 * Installs and builds what is missing, then runs a built program of the workspace in this process,
 * so that the program itself handles signals, standard streams and the exit code.
 *
 * @param {string} entry path below the root, of a module that reads process.argv
 * @param {readonly string[]} args
 */
export async function runProgram(entry, args) {
  await ensureInstalled()
  await ensureBuilt()
  const path = join(root, entry)
  if (!existsSync(path)) throw new ScriptError(`${entry} does not exist after the build`)
  if (process.env.npm_lifecycle_event !== undefined) endWithParent()
  process.argv = [process.execPath, path, ...args]
  await import(pathToFileURL(path).href)
}
