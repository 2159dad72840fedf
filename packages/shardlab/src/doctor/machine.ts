/** Node.js, ports, names and folders. */
import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fine, note, problem, type CheckResult } from './check.js'

const nodeMin = [20, 19] as const

export function checkNode(version = process.versions.node): CheckResult {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])
  return isNew
    ? fine('Node.js', `${version}.`)
    : problem('Node.js', `${version} is too old: install ${nodeMin.join('.')} or newer.`)
}

export async function checkPort(port: number): Promise<CheckResult> {
  const name = `Port ${port}`
  const code = await listenCode(port)
  if (code === null) return fine(name, 'It is free on 127.0.0.1.')
  if (code === 'EADDRINUSE')
    return note(name, 'Another program listens there: pass --port 0 for any free port, or another number.')
  return problem(name, `This user cannot listen there (${code}): pass a port above 1023.`)
}

/** Null: it is free. */
function listenCode(port: number): Promise<string | null> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(null)))
  })
}

/** Members of sets that a configuration calls localhost are found at 127.0.0.1. */
export async function checkLocalhost(): Promise<CheckResult> {
  try {
    const addresses = await lookup('localhost', { all: true })
    if (addresses.some(({ address }) => address === '127.0.0.1')) return fine('localhost', 'It is 127.0.0.1.')
    return problem('localhost', `It is ${addresses.map(({ address }) => address).join(', ')}: use 127.0.0.1 in URIs.`)
  } catch {
    return problem('localhost', 'This machine does not resolve it: use 127.0.0.1 in URIs.')
  }
}

/** Servers that are one cluster of processes find one another there. */
export function checkTemporaryFolder(folder = tmpdir()): CheckResult {
  try {
    rmSync(mkdtempSync(join(folder, 'shardlab-doctor-')), { recursive: true })
    return fine('Temporary files', `${folder} can be written.`)
  } catch (error) {
    return problem('Temporary files', `${(error as Error).message}: set TMPDIR to a folder that can be written.`)
  }
}
