/** Programs of MongoDB on this machine, which harnesses would take. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fine, note, problem, type CheckResult } from './check.js'

const names = ['mongod', 'mongos', 'mongosh', 'mongodump', 'mongorestore'] as const

export function checkPrograms(path = process.env['PATH'] ?? ''): CheckResult[] {
  return names.map((name) => {
    const found = path
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find((each) => existsSync(each))
    if (found === undefined) return fine(name, 'It is not on the PATH. Shardlab does not need it.')
    const version = versionOf(found)
    return version === null
      ? note(name, `${found} does not answer --version.`)
      : fine(name, `${found} is version ${version}.`)
  })
}

/** What mongodb-memory-server starts. */
export function checkSystemBinary(path = process.env['MONGOMS_SYSTEM_BINARY']): CheckResult {
  const name = 'MONGOMS_SYSTEM_BINARY'
  if (path === undefined)
    return fine(name, 'It is not set: mongodb-memory-server downloads a server. `shardlab which mongod` replaces it.')
  try {
    accessSync(path, constants.X_OK)
  } catch {
    return problem(
      name,
      `${path} is no program that this user may run: set it to the output of \`shardlab which mongod\`.`,
    )
  }
  const version = versionOf(path)
  return version === null
    ? problem(name, `${path} does not answer --version as mongod does.`)
    : fine(name, `${path} is version ${version}.`)
}

function versionOf(program: string): string | null {
  const { stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 })
  return error === undefined ? (/\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? null) : null
}
